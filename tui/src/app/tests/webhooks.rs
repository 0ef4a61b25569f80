//! The screen Webhooks: receivers, deliveries, and that nothing is sent without a confirmation.

use quorate_common::console::{RetriedDelivery, WebhookReceiver};

use super::*;

fn console(size: (u16, u16)) -> TestConsole {
    let (fixture, records) = two_proposals();
    let mut console = TestConsole::new(&fixture, &records, size);
    console.press(Key::Char('8'));
    console.webhooks();
    console
}

impl TestConsole {
    /// Delivers the webhook receivers, and the deliveries to the first one.
    pub(super) fn webhooks(&mut self) {
        self.link(Answer::Webhooks(Fixture::id(), Fixture::webhooks()));
        let first = Fixture::webhooks().receivers[0].endpoint_id;
        self.link(Answer::Deliveries((Fixture::id(), first), Fixture::deliveries()));
    }
}

fn orders(effects: &[Effect]) -> Vec<Order> {
    let order = |effect: &Effect| match effect {
        Effect::Order(order) => Some(order.clone()),
        _ => None,
    };
    effects.iter().filter_map(order).collect()
}

fn is_sent(effects: &[Effect]) -> bool {
    orders(effects).iter().any(|order| matches!(order, Order::RetryDelivery(..) | Order::TestWebhook(_)))
}

#[test]
fn deliveries_and_questions_are_drawn_at_every_size() {
    for size in SIZES {
        let mut console = console(size);
        let mut shown = Vec::new();
        console.press(Key::Tab);
        shown.push(console.shown());
        console.press(Key::Char('G'));
        shown.push(console.shown());
        console.press(Key::Char('g'));
        console.press(Key::Char('R'));
        shown.push(console.shown());
        console.press(Key::Esc);
        console.press(Key::Char('y'));
        shown.push(console.shown());
        snapshot(&format!("webhooks_deliveries_{}x{}", size.0, size.1), &shown.join("\n"));
    }
}

#[test]
fn nothing_is_sent_without_the_confirming_key() {
    for (key, title) in [(Key::Char('R'), "Send this delivery again?"), (Key::Char('T'), "Post a test event")]
    {
        let mut console = console((120, 36));
        console.press(Key::Tab);
        for other in [key, Key::Enter, key, Key::Char('a'), Key::Tab, Key::Char(' '), Key::Char('Y')] {
            assert!(!is_sent(&console.press(other)), "{other:?}");
            assert!(console.shown().contains(title), "{other:?}: {}", console.shown());
        }
        console.paste("y\n");
        assert!(!is_sent(&console.press(Key::Esc)));
        assert!(!is_sent(&console.press(Key::Char('y'))), "the question was closed");
        console.press(Key::Esc);
        console.press(key);
        let sent = console.press(Key::Char('y'));
        assert!(is_sent(&sent) && orders(&sent).len() == 1, "{sent:?}");
        assert!(!is_sent(&console.press(Key::Char('y'))), "once");
    }
}

#[test]
fn a_retry_names_the_selected_delivery() {
    let mut console = console((120, 36));
    assert!(!is_sent(&console.press(Key::Char('R'))));
    assert!(console.shown().contains("Tab goes to the deliveries"), "{}", console.shown());
    console.press(Key::Tab);
    console.press(Key::Down);
    console.press(Key::Char('R'));
    let expected = &Fixture::deliveries().attempts[0];
    let (organization, activity) = (expected.organization_id.unwrap(), expected.activity_id.unwrap());
    assert!(console.shown().contains(&activity.to_string()), "{}", console.shown());
    let receiver = (Fixture::id(), Fixture::webhooks().receivers[0].endpoint_id);
    let order = Order::RetryDelivery(receiver, organization, activity);
    assert_eq!(orders(&console.press(Key::Char('y'))), [order]);
    let read = console.link(Answer::Retried(Ok(RetriedDelivery { expedited: 2 })));
    assert!(console.shown().contains("2 waiting deliveries of the activity are due now"));
    assert!(orders(&read).contains(&Order::Deliveries(receiver)), "{read:?}");
    // A test event has no activity.
    console.press(Key::Char('G'));
    console.press(Key::Char('R'));
    assert!(console.shown().contains("select the delivery of an activity"), "{}", console.shown());
}

#[test]
fn endpoints_without_events_are_neither_called_nor_tested() {
    let mut console = console((80, 24));
    console.press(Key::Char('G'));
    console.press(Key::Char('T'));
    assert!(console.shown().contains("not active, or not subscribed"), "{}", console.shown());
}

#[test]
fn the_selection_follows_its_receiver_and_data_is_read_every_few_seconds() {
    let mut console = console((120, 36));
    console.press(Key::Down);
    let mut all = Fixture::webhooks();
    let feature = WebhookReceiver {
        url: "https://new.acme.example/".to_owned(),
        is_active: true,
        ..WebhookReceiver::default()
    };
    all.receivers.insert(1, feature);
    console.link(Answer::Webhooks(Fixture::id(), all));
    let shown = console.shown();
    let selected = shown.lines().find(|line| line.contains("> ") && line.contains("acme.example"));
    assert!(selected.unwrap().contains("payouts"), "{shown}");
    assert_eq!(orders(&console.wait(3000)).len(), 2);
    assert_eq!(orders(&console.wait(200)), []);
    console.press(Key::Char('1'));
    assert!((0..20).all(|_| console.wait(1000).is_empty()), "another screen is shown");
}
