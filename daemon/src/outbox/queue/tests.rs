//! Queued messages with a real store, and a channel whose outcomes are chosen.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::Mutex;
use std::sync::atomic::Ordering;

use quorate_common::bounded::Phone;
use quorate_common::ids::{ActivityId, OrganizationId, OtpId};
use quorate_core::message_events::{self, Message};
use quorate_core::model::layout::of_message;
use quorate_core::model::layout::outbox::{SMS, sms};
use quorate_core::model::message_event::{DeliveryStep, MessageOrigin};
use quorate_core::model::one_time_code::Contact;
use quorate_core::model::queued_message::{MessageSource, Purpose};
use quorate_core::model::write::Effect;
use quorate_core::sms::Sms;
use tempfile::TempDir;

use super::*;
use crate::executor::testing;
use crate::store::embedded::Embedded;
use crate::store::testing::FaultyStore;
use crate::store::{Batch, Change, Group, Store};

mod displacement;

/// Returns chosen outcomes, and records the texts that were sent. A text with "hang" is never answered.
#[derive(Clone)]
struct Chosen {
    outcome: Arc<Mutex<Outcome>>,
    sent: Arc<Mutex<Vec<String>>>,
}

impl Channel for Chosen {
    type Message = Sms;
    const NAME: &'static str = "test";
    const ATTEMPTS: u32 = 3;

    fn described(&self, key: &[u8], sms: &Sms) -> Option<Message> {
        let (activity, number) = of_message(key)?;
        Some(Message {
            origin: sms.origin?,
            activity,
            number,
            to: Contact::Phone(sms.to.clone()),
            from: None,
        })
    }

    async fn send(&self, _: &[u8], sms: &Sms) -> Reply {
        self.sent.lock().unwrap().push(sms.text.clone());
        if sms.text.contains("hang") {
            std::future::pending::<()>().await;
        }
        Reply { outcome: *self.outcome.lock().unwrap(), answer: ServerAnswer::new(Some(1), "a  b", &[]) }
    }

    fn reach(_: Step) {}
}

/// Organization that keeps the events.
const KEEPER: OrganizationId = OrganizationId::from_bytes([9; 16]);

struct Fixture {
    store: Arc<FaultyStore>,
    executor: Arc<Executor>,
    channel: Chosen,
    metrics: Metrics,
    _folder: TempDir,
}

impl Fixture {
    fn new(outcome: Outcome) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Embedded::open(&folder.path().join("store"), 0).unwrap();
        let store = Arc::new(FaultyStore::new(store));
        let (shared, _) = testing::shared(folder.path(), Arc::clone(&store) as Arc<dyn Store>);
        shared.compare_all();
        let executor = Arc::new(Executor::start(shared));
        let channel = Chosen { outcome: Arc::new(Mutex::new(outcome)), sent: Arc::default() };
        Self { store, executor, channel, metrics: Metrics::new(), _folder: folder }
    }

    fn queue(&self) -> Queue<Chosen> {
        Queue::new(Arc::clone(&self.executor), self.channel.clone(), self.metrics.clone())
    }

    /// Queues a message that is due at a time.
    async fn put(&self, number: u32, text: &str, due: Millis) {
        let mut sms = Sms::new(phone(number), text.to_owned(), due);
        sms.origin = Some(MessageOrigin { organization: KEEPER, keeper: KEEPER, group: None, queued: 0 });
        self.commit(number, &sms).await;
    }

    /// Queues a message of another tenant to the number that ends with `to`.
    async fn put_of(&self, tenant: u8, number: u32, to: u32, text: &str) {
        let mut sms = Sms::new(phone(to), text.to_owned(), 0);
        let keeper = OrganizationId::from_bytes([tenant; 16]);
        sms.origin = Some(MessageOrigin { organization: keeper, keeper, group: None, queued: 0 });
        self.commit(number, &sms).await;
    }

    /// Queues a message that expires at a time.
    async fn put_until(&self, number: u32, text: &str, end: Millis) {
        let mut sms = Sms::new(phone(number), text.to_owned(), 0);
        sms.origin = Some(MessageOrigin { organization: KEEPER, keeper: KEEPER, group: None, queued: 0 });
        sms.expires = Some(end);
        self.commit(number, &sms).await;
    }

    async fn commit(&self, number: u32, sms: &Sms) {
        let write = Write::put(key(number), sms).unwrap();
        let length = write.value.as_ref().unwrap().len();
        let index = self.executor.world().index();
        let message = QueuedMessage::of(MessageId::of_key(&key(number)).unwrap(), sms, length, index);
        let writes = vec![write.with(Effect::Message(message))];
        self.executor.commit(Commit { writes, ..Commit::default() }).await.unwrap();
    }

    fn usage(&self) -> usize {
        let source = MessageSource { tenant: KEEPER, organization: KEEPER, group: None };
        let [tenant, ..] = self.executor.world().messages(Sms::CHANNEL).usage(&source);
        tenant.all.messages
    }

    /// Returns the queued messages that can be read.
    fn queued(&self) -> Vec<Sms> {
        let records = self.executor.world().records();
        let keys = records.keys(Page::first(SMS, 100)).unwrap();
        keys.iter().filter_map(|key| readable(records.read(key)).unwrap()).collect()
    }

    /// Returns the recorded events, newest first.
    fn steps(&self) -> Vec<DeliveryStep> {
        let records = self.executor.world().records();
        let (events, _) = message_events::of_organization(records, KEEPER, None, 100).unwrap();
        events.into_iter().map(|(_, event)| event.step).collect()
    }

    fn sent(&self) -> Vec<String> {
        self.channel.sent.lock().unwrap().clone()
    }

    fn counts(&self, outcome: &str) -> bool {
        self.count(outcome) == 1
    }

    /// Returns how many messages the metrics count with an outcome. None of them is a webhook.
    fn count(&self, outcome: &str) -> u64 {
        let text = self.metrics.text();
        assert!(!text.contains("webhook_deliveries_total{"), "{text}");
        let name = format!("quorate_messages_total{{channel=\"sms\",outcome=\"{outcome}\"}} ");
        let line = text.lines().find_map(|line| line.strip_prefix(name.as_str()));
        line.map_or(0, |count| count.parse().unwrap())
    }
}

impl Queue<Chosen> {
    /// Works until nothing is due and nothing is being sent. Messages without an answer are not waited for.
    async fn finish(&mut self, hanging: usize) {
        loop {
            self.work().await.unwrap();
            if self.running.len() <= hanging {
                if self.ended.is_empty() && matches!(self.scan, Scan::Done) {
                    return;
                }
                continue;
            }
            let joined = self.running.join_next_with_id().await.unwrap();
            self.join(joined);
        }
    }
}

fn phone(number: u32) -> Phone {
    Phone::parse(format!("+49151{:08}", 12_345_678 + number)).unwrap()
}

fn key(number: u32) -> Key {
    sms(ActivityId::timed(1, [3; 10]), number)
}

#[tokio::test]
async fn accepted_and_rejected_messages_are_removed() {
    for (outcome, name) in [(Outcome::Accepted, "sent"), (Outcome::Rejected, "bounced")] {
        let fixture = Fixture::new(outcome);
        fixture.put(0, "a", 0).await;
        let mut queue = fixture.queue();
        queue.finish(0).await;
        queue.finish(0).await;
        assert_eq!((fixture.sent(), fixture.queued().len()), (vec!["a".to_owned()], 0), "{name}");
        assert!(fixture.counts(name) && fixture.counts("queued"), "{}", fixture.metrics.text());
        let steps = fixture.steps();
        assert_eq!(steps.len(), 1, "{name}: {steps:?}");
        let step = steps.first().unwrap();
        assert_eq!(step.answer().unwrap().line(), "1 a b");
        let is_delivered = matches!(step, DeliveryStep::Delivered(..));
        assert!(is_delivered || matches!(step, DeliveryStep::Rejected(_)), "{name}: {step:?}");
        assert_eq!(fixture.usage(), 0);
    }
}

#[test]
fn the_log_names_the_activity_and_the_domain_of_a_message_only() {
    let activity = ActivityId::timed(1, [3; 10]).to_string();
    let SentMessage { activity: named, domain } = SentMessage::of(&key(4), "ann@mail.example.org");
    assert_eq!((named.as_ref(), domain.as_deref()), (Some(&activity), Some("mail.example.org")));
    let SentMessage { activity: named, domain } = SentMessage::of(&key(4), phone(1).as_str());
    assert_eq!((named.as_ref(), domain), (Some(&activity), None));
}

#[tokio::test]
async fn failed_messages_are_sent_again_until_the_last_attempt() {
    let fixture = Fixture::new(Outcome::Failed);
    fixture.put(0, "a", 0).await;
    // The queue of a restarted daemon continues with the recorded schedule.
    for attempts in 1..3 {
        fixture.queue().finish(0).await;
        let later = fixture.queued().pop().unwrap();
        assert_eq!((later.attempts, fixture.sent().len()), (attempts, usize::try_from(attempts).unwrap()));
        let mut now = later.clone();
        now.due = 0;
        let writes = vec![Write::put(key(0), &now).unwrap()];
        fixture.executor.commit(Commit { writes, ..Commit::default() }).await.unwrap();
        fixture.executor.world().messages(Sms::CHANNEL).turns().clear();
    }
    fixture.queue().finish(0).await;
    assert_eq!((fixture.queued().len(), fixture.sent().len()), (0, 3));
    let answer = || ServerAnswer { code: Some(1), text: "a b".to_owned() };
    let delayed = || DeliveryStep::Delayed(answer());
    assert_eq!(fixture.steps(), [DeliveryStep::GivenUp(answer()), delayed(), delayed()]);
    let counts = ["queued", "delayed", "bounced", "sent"].map(|outcome| fixture.count(outcome));
    assert_eq!(counts, [1, 2, 1, 0]);
}

#[tokio::test]
async fn messages_wait_until_they_are_due() {
    let fixture = Fixture::new(Outcome::Accepted);
    let due = now().saturating_add(10_000);
    fixture.put(0, "later", due).await;
    fixture.put(1, "now", 0).await;
    let mut queue = fixture.queue();
    queue.finish(0).await;
    assert_eq!((fixture.sent(), fixture.queued().len()), (vec!["now".to_owned()], 1));
    assert_eq!(queue.wait_time(due.saturating_sub(700)), Duration::from_millis(700));
}

#[tokio::test]
async fn messages_that_cannot_be_read_delay_no_others() {
    let fixture = Fixture::new(Outcome::Accepted);
    fixture.put(0, "a", 0).await;
    fixture.put(1, "b", 0).await;
    let writes = vec![Change::put(key(0), vec![7; 64])];
    fixture.store.commit(&Group::of(Batch { writes, ..Batch::default() })).unwrap();
    let mut queue = fixture.queue();
    queue.finish(0).await;
    queue.finish(0).await;
    assert_eq!(fixture.sent(), ["b"]);
    assert!(fixture.counts("unreadable"), "{}", fixture.metrics.text());
    assert_eq!(fixture.executor.world().records().keys(Page::first(SMS, 9)).unwrap(), [key(0)]);
}

#[tokio::test]
async fn a_running_queue_sends_what_is_committed_and_stops() {
    let fixture = Fixture::new(Outcome::Accepted);
    let stop = CancellationToken::new();
    let running = tokio::spawn(fixture.queue().run(stop.clone()));
    fixture.put(0, "a", 0).await;
    let deadline = tokio::time::Instant::now() + Duration::from_mins(1);
    while fixture.sent().is_empty() {
        assert!(tokio::time::Instant::now() < deadline, "the message is not sent in time");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    stop.cancel();
    running.await.unwrap();
    assert_eq!(fixture.queued().len(), 0, "the outcome is recorded before the queue ends");
}

#[tokio::test]
async fn messages_without_an_answer_delay_no_other_tenant_and_no_other_receiver() {
    let fixture = Fixture::new(Outcome::Accepted);
    for number in 0..300 {
        fixture.put_of(1, number, number, "hang: one of many").await;
    }
    for number in 300..350 {
        // The same receiver, and then another one.
        fixture.put_of(2, number, 1000, "hang: the same receiver").await;
    }
    fixture.put_of(2, 350, 1001, "another receiver").await;
    fixture.put_of(3, 351, 1002, "another tenant").await;
    let mut queue = fixture.queue();
    // One organization gets at most an eighth of all connections while its receivers are unknown.
    queue.finish(5).await;
    let sent = fixture.sent();
    let count = |text: &str| sent.iter().filter(|sent| sent.as_str() == text).count();
    assert_eq!((count("hang: one of many"), count("hang: the same receiver")), (4, 1), "{sent:?}");
    assert_eq!((count("another receiver"), count("another tenant")), (1, 1), "{sent:?}");
}

#[tokio::test]
async fn nothing_is_lost_or_repeated() {
    let fixture = Fixture::new(Outcome::Accepted);
    let texts: Vec<String> = (0..500).map(|number| format!("{number}")).collect();
    for (number, text) in (0..).zip(&texts) {
        fixture.put_of(u8::try_from(number % 7).unwrap() + 1, number, number % 50, text).await;
    }
    let mut queue = fixture.queue();
    queue.finish(0).await;
    let mut sent = fixture.sent();
    sent.sort_by_key(|text| text.parse::<u32>().unwrap());
    assert_eq!(sent, texts);
    assert_eq!(fixture.queued().len(), 0);
}

#[tokio::test]
async fn expired_messages_are_not_sent() {
    let fixture = Fixture::new(Outcome::Accepted);
    let count = u32::try_from(BATCH).unwrap() + 6;
    for number in 0..count {
        fixture.put_until(number, "dead", now()).await;
    }
    fixture.put_until(count, "alive", now().saturating_add(600_000)).await;
    fixture.queue().finish(0).await;
    assert_eq!((fixture.sent(), fixture.queued().len(), fixture.usage()), (vec!["alive".to_owned()], 0, 0));
    let steps = fixture.steps();
    let expired = steps.iter().filter(|step| matches!(step, DeliveryStep::Expired(_))).count();
    assert_eq!((expired, steps.len()), (BATCH + 6, BATCH + 7));
    let expired = steps.iter().find(|step| matches!(step, DeliveryStep::Expired(_))).unwrap();
    assert_eq!(expired.answer().unwrap().line(), "expired before the server took it");
    assert_eq!((fixture.count("expired"), fixture.count("sent")), (u64::from(count), 1));
}

#[tokio::test]
async fn messages_are_not_sent_once_what_they_are_for_has_ended() {
    let fixture = Fixture::new(Outcome::Accepted);
    let count = u32::try_from(BATCH).unwrap() + 6;
    for number in 0..count {
        let mut sms = Sms::new(phone(number), "useless".to_owned(), 0);
        sms.origin = Some(MessageOrigin { organization: KEEPER, keeper: KEEPER, group: None, queued: 0 });
        // There is no such code.
        sms.purpose = Some(Purpose::Code(OtpId::from_bytes([1; 16])));
        fixture.commit(number, &sms).await;
    }
    fixture.put(count, "of use", 0).await;
    fixture.queue().finish(0).await;
    assert_eq!((fixture.sent(), fixture.queued().len(), fixture.usage()), (vec!["of use".to_owned()], 0, 0));
    let steps = fixture.steps();
    let expired = steps.iter().find(|step| matches!(step, DeliveryStep::Expired(_))).unwrap();
    assert_eq!(expired.answer().unwrap().line(), "what it was for ended before the server took it");
    assert_eq!((fixture.count("expired"), fixture.count("sent")), (u64::from(count), 1));
}

#[tokio::test]
async fn an_unavailable_server_leaves_waiting_messages_untouched() {
    let fixture = Fixture::new(Outcome::Unavailable);
    for number in 0..100 {
        fixture.put(number, &number.to_string(), 0).await;
    }
    fixture.put_until(100, "expires", now()).await;
    let mut queue = fixture.queue();
    queue.finish(0).await;
    let first = fixture.sent().len();
    assert!((1..=32).contains(&first), "{first}");
    // One message is sent after each pause.
    for probes in 1..=3 {
        queue.outage.end_pause();
        queue.finish(0).await;
        assert_eq!(fixture.sent().len(), first + probes);
        queue.finish(0).await;
        assert_eq!(fixture.sent().len(), first + probes, "nothing is sent during a pause");
    }
    let untouched = fixture.queued().iter().filter(|sms| sms.attempts == 0).count();
    assert!(untouched >= 100 - first - 3, "{untouched}");
    assert!(fixture.queued().iter().all(|sms| sms.text != "expires"), "messages expire during an outage");
    *fixture.channel.outcome.lock().unwrap() = Outcome::Accepted;
    queue.outage.end_pause();
    queue.finish(0).await;
    queue.finish(0).await;
    assert!(
        fixture.queued().len() <= first + 3,
        "only those that were attempted wait for their next attempt"
    );
}

#[tokio::test]
async fn an_outcome_that_cannot_be_recorded_stops_sending_and_is_not_lost() {
    let fixture = Fixture::new(Outcome::Accepted);
    for number in 0..30 {
        fixture.put_of(u8::try_from(number).unwrap(), number, number, &number.to_string()).await;
    }
    let mut queue = fixture.queue();
    queue.work().await.unwrap();
    fixture.store.is_full.store(true, Ordering::Relaxed);
    while let Some(joined) = queue.running.join_next_with_id().await {
        queue.join(joined);
    }
    let sent = fixture.sent().len();
    assert!(sent > 1, "several are sent at once: {sent}");
    assert!(queue.work().await.is_err());
    assert_eq!((fixture.sent().len(), queue.ended.len()), (sent, sent), "nothing else is sent");
    fixture.store.is_full.store(false, Ordering::Relaxed);
    while queue.work().await.is_err() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    queue.finish(0).await;
    let mut all = fixture.sent();
    all.sort_by_key(|text| text.parse::<u32>().unwrap());
    assert_eq!(all, (0..30).map(|number| number.to_string()).collect::<Vec<_>>(), "each is sent once");
    assert_eq!(fixture.queued().len(), 0);
}
