//! Events in the delivery of messages: how they are listed, how many are kept and for how long.

use std::sync::Arc;

use quorate_common::bounded::{Email, Phone};
use quorate_common::ids::{ActivityId, OrganizationId};
use quorate_core::budget::{Budget, Cancellation};
use quorate_core::cleanup;
use quorate_core::limits::Limits;
use quorate_core::message_events::{self, Message, records_delay};
use quorate_core::model::Millis;
use quorate_core::model::layout::sign_in;
use quorate_core::model::message_event::{DeliveryStep, EVENT_LIFE_MILLIS, MessageOrigin, ServerAnswer};
use quorate_core::model::one_time_code::Contact;
use quorate_core::model::write::Write;
use quorate_core::operator;
use quorate_core::pipeline::Commit;
use quorate_core::world::World;
use serde_json::{Value, json};

use crate::changes::{each, query_as_root};
use crate::fixture::{Fixture, NOW};

const ANN: &str = "Ann@mail.example";

fn answer(code: Option<u16>, text: &str) -> ServerAnswer {
    ServerAnswer::new(code, text, &[])
}

/// Returns a message of an activity with this number, which the organization of the fixture sends.
fn message(fixture: &Fixture, number: u64, to: &str) -> Message {
    let to = if to.contains('@') {
        Contact::Email(Email::parse(to.to_owned()).expect("an address"))
    } else {
        Contact::Phone(Phone::parse(to.to_owned()).expect("a number"))
    };
    let mut salt = [0; 10];
    salt[2..].copy_from_slice(&number.to_be_bytes());
    Message {
        origin: MessageOrigin { organization: fixture.id, keeper: fixture.id, group: None, queued: NOW },
        activity: ActivityId::timed(NOW, salt),
        number: 0,
        to,
        from: Email::parse("quorate@house.example".to_owned()).ok(),
    }
}

fn commit(fixture: &mut Fixture, writes: Vec<Write>) {
    fixture.memory.commit(Commit { writes, ..Commit::default() });
}

/// Records an event, and removes those that are too many, as the daemon does.
fn record(fixture: &mut Fixture, message: &Message, step: DeliveryStep, attempts: u32, at: Millis) {
    let (memory, index) = (&fixture.memory, fixture.memory.index());
    let mut writes = message.excess(memory, index).expect("the store is readable");
    writes.extend(message.record(step, attempts, at, index).expect("the event is encoded"));
    commit(fixture, writes);
}

fn list(fixture: &Fixture, members: &Value) -> Vec<Value> {
    let listed = query_as_root(fixture, "list_email_events", members);
    listed["emailEvents"].as_array().expect("a list").clone()
}

fn rows(fixture: &Fixture) -> usize {
    fixture.memory.rows(b'k').count()
}

#[test]
fn events_are_listed_newest_first_with_all_members() {
    let mut fixture = Fixture::new(1);
    let ann = message(&fixture, 1, ANN);
    record(&mut fixture, &ann, DeliveryStep::Queued, 0, NOW);
    // In the same millisecond, events of a message are in the order of its attempts.
    record(&mut fixture, &ann, DeliveryStep::Delayed(answer(Some(451), "4.7.1 later")), 1, NOW);
    record(&mut fixture, &ann, DeliveryStep::Delayed(answer(None, "no answer in time")), 2, NOW + 5);
    record(&mut fixture, &ann, DeliveryStep::Delivered(answer(Some(250), "OK"), 70), 3, NOW + 70);
    let second = message(&fixture, 2, ANN);
    record(&mut fixture, &second, DeliveryStep::Rejected(answer(Some(550), "5.1.1 no")), 1, NOW + 80);
    record(&mut fixture, &second, DeliveryStep::GivenUp(answer(Some(451), "no")), 200, NOW + 90);
    let third = message(&fixture, 5, "eve@mail.example");
    for (step, name, at) in [
        (DeliveryStep::Expired(answer(None, "why")), "Expired", NOW + 95),
        (DeliveryStep::Displaced(answer(None, "why")), "Displaced", NOW + 96),
    ] {
        record(&mut fixture, &third, step, 1, at);
        let listed = list(&fixture, &json!({"email": "eve@mail.example"}));
        assert_eq!(
            (&listed[0]["eventType"], &listed[0]["details"]["bounceType"]),
            (&json!("Bounce"), &json!("Transient"))
        );
        assert_eq!(listed[0]["details"]["diagnosticCode"], "x-quorate; why");
        let page = operator::messages(&fixture.memory, fixture.id, None, 1).expect("the store is readable");
        assert_eq!(
            (page.events[0].event_type.as_str(), page.events[0].answer.as_deref()),
            (name, Some("why"))
        );
    }
    let other = message(&fixture, 3, "bob@mail.example");
    record(&mut fixture, &other, DeliveryStep::Queued, 0, NOW + 100);
    let sms = message(&fixture, 4, "+4915112345678");
    record(&mut fixture, &sms, DeliveryStep::Queued, 0, NOW + 100);

    let listed = list(&fixture, &json!({"email": "ann@MAIL.example"}));
    let types = ["Bounce", "Bounce", "Delivery", "DeliveryDelay", "DeliveryDelay", "Send"];
    assert_eq!(listed.iter().map(|one| one["eventType"].clone()).collect::<Vec<_>>(), types);
    let expected = json!({
        "id": listed[2]["id"],
        "organizationId": fixture.id,
        "messageId": format!("{}.0", ann.activity),
        "eventType": "Delivery",
        "fromAddress": "quorate@house.example",
        "toAddress": ANN,
        "senderTenant": "",
        "timestamp": (NOW + 70).to_string(),
        "createdAt": (NOW + 70).to_string(),
        "details": {"bounceType": "", "bounceSubType": "", "diagnosticCode": "", "deliverySmtpResponse": "250 OK",
            "deliveryProcessingTimeMillis": "70", "deliveryDelayType": "", "complaintFeedbackType": ""},
    });
    assert_eq!(listed[2], expected);
    let details =
        |index: usize, name: &str| listed[index]["details"][name].as_str().expect("a text").to_owned();
    for (index, kind, diagnostic) in
        [(0, "Transient", "smtp; 451 no"), (1, "Permanent", "smtp; 550 5.1.1 no")]
    {
        assert_eq!(
            (details(index, "bounceType"), details(index, "bounceSubType")),
            (kind.into(), "General".into())
        );
        assert_eq!(details(index, "diagnosticCode"), diagnostic);
    }
    for (index, kind, diagnostic) in [
        (3, "TransientCommunicationFailure", "smtp; no answer in time"),
        (4, "General", "smtp; 451 4.7.1 later"),
    ] {
        assert_eq!(
            (details(index, "deliveryDelayType"), details(index, "diagnosticCode")),
            (kind.into(), diagnostic.into())
        );
    }
    let delays = list(&fixture, &json!({"email": ANN, "eventType": "DeliveryDelay"}));
    assert_eq!(delays, listed[3..5]);
    assert_eq!(list(&fixture, &json!({"email": ANN, "eventType": "Complaint"})), Vec::<Value>::new());

    // Operators see the messages to all receivers, SMS included.
    let page = operator::messages(&fixture.memory, fixture.id, None, 100).expect("the store is readable");
    let newest: Vec<&str> = page.events.iter().map(|event| event.to_address.as_str()).take(3).collect();
    assert_eq!((newest[2], page.next), ("eve@mail.example", None));
    assert!(
        newest[..2].contains(&"+4915112345678") && newest[..2].contains(&"bob@mail.example"),
        "{newest:?}"
    );
    assert_eq!(page.events[4].answer.as_deref(), Some("451 no"));
}

#[test]
fn pages_are_gapless_in_both_directions() {
    let mut fixture = Fixture::new(1);
    for number in 0..25 {
        let message = message(&fixture, number, ANN);
        record(&mut fixture, &message, DeliveryStep::Queued, 0, NOW + number / 5);
        record(
            &mut fixture,
            &message,
            DeliveryStep::Delivered(answer(Some(250), ""), 1),
            1,
            NOW + number / 5,
        );
    }
    for filter in ["", "Send"] {
        let page = |more: Value| {
            let mut options = json!({"limit": "7"});
            options.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
            list(&fixture, &json!({"email": ANN, "eventType": filter, "paginationOptions": options}))
        };
        let whole = list(
            &fixture,
            &json!({"email": ANN, "eventType": filter, "paginationOptions": {"limit": "100"}}),
        );
        assert_eq!(whole.len(), if filter.is_empty() { 50 } else { 25 });
        let (mut down, mut next) = (Vec::new(), page(json!({})));
        while let Some(last) = next.last().map(|last| last["id"].clone()) {
            down.append(&mut next);
            next = page(json!({"after": last}));
        }
        assert_eq!(down, whole);
        let mut up = vec![whole.last().expect("an event").clone()];
        loop {
            let mut before = page(json!({"before": up[0]["id"]}));
            if before.is_empty() {
                break;
            }
            before.append(&mut up);
            up = before;
        }
        assert_eq!(up, whole);
    }
    let ids = each(&json!(list(&fixture, &json!({"email": ANN}))), "id");
    assert_eq!(ids.len(), 10, "the default page");
}

#[test]
fn the_parent_keeps_the_events_of_its_children() {
    let mut fixture = Fixture::new(1);
    let (child, id) = (fixture.child.clone(), fixture.child.home);
    let invitation = json!({"invitations": [{"receiverUserName": "guest", "receiverUserEmail": ANN,
        "receiverUserTags": [], "accessType": "ACCESS_TYPE_WEB", "senderUserId": child.user}]});
    fixture
        .submit(&child, id, "ACTIVITY_TYPE_CREATE_INVITATIONS", &invitation, NOW)
        .expect("a mail is queued");
    let listed = list(&fixture, &json!({"email": ANN}));
    assert_eq!((each(&json!(listed), "organizationId"), listed.len()), (vec![json!(id)], 1));
    assert_eq!(
        (&listed[0]["fromAddress"], &listed[0]["eventType"]),
        (&json!("quorate@house.example"), &json!("Send"))
    );
    let body = json!({"organizationId": id, "email": ANN}).to_string().into_bytes();
    let refused = fixture.memory.query("list_email_events", &child.stamps(&body), &body, NOW);
    assert_eq!(refused.expect_err("a child").message, "sub-organizations cannot list email events");
    let own = operator::messages(&fixture.memory, id, None, 100).expect("the store is readable").events;
    assert_eq!(own.len(), 1, "only its own");
    let sibling = operator::messages(&fixture.memory, fixture.sibling.home, None, 100);
    assert!(sibling.expect("the store is readable").events.is_empty());
}

#[test]
fn a_receiver_has_a_thousand_events_and_costs_nothing_to_others() {
    let mut fixture = Fixture::new(1);
    let bob = message(&fixture, 9_999, "bob@mail.example");
    record(&mut fixture, &bob, DeliveryStep::Queued, 0, NOW);
    let others = rows(&fixture);
    for number in 0..1005 {
        let message = message(&fixture, number, ANN);
        record(&mut fixture, &message, DeliveryStep::Queued, 0, NOW + number);
    }
    assert_eq!(rows(&fixture), others + 3 * 1000);
    let oldest = list(
        &fixture,
        &json!({"email": ANN, "paginationOptions":
        {"limit": "1", "before": "00000000-0000-7000-8000-000000000000"}}),
    );
    assert_eq!(oldest[0]["timestamp"], json!((NOW + 5).to_string()));
    let limits = Limits::default();
    for (address, most) in [("bob@mail.example", 3), (ANN, 12)] {
        let budget = Arc::new(Budget::of_query(&limits, Cancellation::default()));
        fixture.memory.budget = Arc::clone(&budget);
        list(&fixture, &json!({"email": address}));
        assert!(budget.rows_taken() <= most, "{address}: {} rows", budget.rows_taken());
    }
}

#[test]
fn an_organization_keeps_a_limited_number_of_events() {
    let mut fixture = Fixture::new(1);
    let keeper = OrganizationId::from_bytes([0x5a; 16]);
    let digest = [7; 16];
    let listed = |number: u64| {
        let mut salt = [0; 10];
        salt[2..].copy_from_slice(&number.to_be_bytes());
        sign_in::event_listed(keeper, quorate_common::ids::MessageEventId::timed(NOW + number, salt))
    };
    let fill = |fixture: &mut Fixture, numbers: std::ops::Range<u64>| {
        commit(fixture, numbers.map(|number| Write::mark(listed(number), &digest)).collect());
    };
    fill(&mut fixture, 0..50_000);
    assert!(message_events::excess(&fixture.memory, keeper).expect("the store is readable").is_empty());
    fill(&mut fixture, 50_000..50_300);
    let excess = message_events::excess(&fixture.memory, keeper).expect("the store is readable");
    // An event has three rows.
    assert_eq!(excess.len(), 3 * 300);
    commit(&mut fixture, excess);
    let left: Vec<_> =
        fixture.memory.rows(b'k').filter(|(key, _)| key[1] == b'l' && key[2] == 0x5a).collect();
    assert_eq!((left.len(), left[0].0), (50_000, listed(300).as_slice()));
}

#[test]
fn events_are_removed_after_thirty_days() {
    let mut fixture = Fixture::new(1);
    let clean = |fixture: &mut Fixture, now: u64| {
        while let Some(commit) = cleanup::step(&fixture.memory, now).expect("the store is readable") {
            fixture.memory.commit(commit);
        }
    };
    clean(&mut fixture, NOW + EVENT_LIFE_MILLIS);
    assert_eq!(rows(&fixture), 0);
    let message = message(&fixture, 1, ANN);
    record(&mut fixture, &message, DeliveryStep::Queued, 0, NOW);
    record(&mut fixture, &message, DeliveryStep::Delivered(answer(Some(250), ""), 5), 1, NOW + 5);
    assert_eq!(rows(&fixture), 6);
    clean(&mut fixture, NOW + EVENT_LIFE_MILLIS - 1);
    assert_eq!(rows(&fixture), 6);
    clean(&mut fixture, NOW + EVENT_LIFE_MILLIS);
    assert_eq!((rows(&fixture), list(&fixture, &json!({"email": ANN})).len()), (3, 1));
    clean(&mut fixture, NOW + EVENT_LIFE_MILLIS + 5);
    assert_eq!(rows(&fixture), 0);
}

#[test]
fn a_message_that_is_attempted_often_has_few_events() {
    let recorded: Vec<u32> = (1..=200).filter(|attempts| records_delay(*attempts)).collect();
    assert_eq!(recorded, [1, 2, 4, 8, 16, 32, 64, 128]);
}

#[test]
fn operators_see_what_became_of_the_mails_with_open_invitations() {
    let mut fixture = Fixture::new(1);
    let root = fixture.roots[0].clone();
    let invite = |email: &str| {
        json!({"invitations": [{"receiverUserName": "guest", "receiverUserEmail": email,
            "receiverUserTags": [], "accessType": "ACCESS_TYPE_WEB", "senderUserId": root.user}]})
    };
    let mails = |fixture: &Fixture| {
        let detail = operator::organization(&fixture.memory, fixture.id).expect("the organization");
        let state = |one: &quorate_common::wire::InvitationMail| {
            (one.invitation_id.to_string(), one.event_type.clone(), one.answer.clone())
        };
        detail.invitation_mails.iter().map(state).collect::<Vec<_>>()
    };
    // An earlier message to the same address is not that of the invitation.
    let earlier = message(&fixture, 1, ANN);
    record(&mut fixture, &earlier, DeliveryStep::Rejected(answer(Some(550), "5.1.1 earlier")), 1, NOW - 1);
    let created = fixture.execute("ACTIVITY_TYPE_CREATE_INVITATIONS", &invite(ANN));
    let id = created["result"]["createInvitationsResult"]["invitationIds"][0].clone();
    let id = id.as_str().expect("an id").to_owned();
    let own = |fixture: &Fixture| mails(fixture).into_iter().filter(|one| one.0 == id).collect::<Vec<_>>();
    assert_eq!(own(&fixture), [(id.clone(), "Send".to_owned(), None)]);
    let listed = list(&fixture, &json!({"email": ANN}));
    let send = listed.iter().find(|one| one["eventType"] == "Send").expect("the mail of the invitation");
    let activity = send["messageId"].as_str().expect("an id").split('.').next().expect("an activity");
    let mail = Message { activity: activity.parse().expect("an id"), ..message(&fixture, 0, ANN) };
    let bounce = DeliveryStep::Rejected(answer(Some(550), "5.1.1 no such user"));
    record(&mut fixture, &mail, bounce, 1, NOW + 5);
    // Nor are later ones, however many.
    for number in 2..40 {
        let later = message(&fixture, number, ANN);
        record(&mut fixture, &later, DeliveryStep::Queued, 0, NOW + 5 + number);
        let bounced = ("Bounce".to_owned(), Some("550 5.1.1 no such user".to_owned()));
        assert_eq!(own(&fixture), [(id.clone(), bounced.0, bounced.1)], "{number}");
    }
    // An invitation that is not open anymore is not looked up.
    fixture.execute("ACTIVITY_TYPE_DELETE_INVITATION", &json!({"invitationId": id}));
    assert_eq!(own(&fixture), []);
}
