//! Shares of the messages that wait and of those that are sent: of the authentication proxy, of sub-organizations, and of
//! delayed messages.

use quorate_common::api_error::Code;
use quorate_core::model::message_event::SenderGroup;
use quorate_core::model::queued_message::StoredMessage as _;

use super::limits::{addresses, children, invitations};
use super::proxy::{enabled, submit_by_proxy};
use super::*;

fn code(number: usize) -> Value {
    json!({"otpType": "OTP_TYPE_EMAIL", "contact": format!("person{number}@house.example")})
}

/// Returns a fixture whose mails are sent, and whose proxy may send codes.
fn prepared() -> Fixture {
    let mut fixture = Fixture::new(1);
    let user = enabled(&mut fixture);
    let policy = json!({"policyName": "proxy", "effect": "EFFECT_ALLOW", "notes": "",
        "condition": "activity.kind == 'INIT_OTP'",
        "consensus": format!("approvers.any(user, user.id == '{user}')")});
    fixture.execute("ACTIVITY_TYPE_CREATE_POLICY_V3", &policy);
    let keys: Vec<_> = fixture.memory.rows(b'y').map(|(key, _)| key.to_vec()).collect();
    for key in &keys {
        fixture.memory.set_row(key, None);
    }
    fixture
}

fn mails(fixture: &Fixture) -> Vec<(Vec<u8>, Mail)> {
    let rows = fixture.memory.rows(b'y');
    rows.map(|(key, row)| (key.to_vec(), Mail::decode(row).expect("a mail"))).collect()
}

/// Records that all mails of the proxy are delayed, as their queue does.
fn delay(fixture: &mut Fixture) {
    for (key, mut mail) in mails(fixture) {
        if mail.origin.is_some_and(|origin| origin.group == Some(SenderGroup::Proxy)) {
            mail.delay(NOW);
            mail.reschedule(1, NOW + 1);
            fixture.memory.set_row(&key, Some(mail.encode().expect("a mail")));
        }
    }
}

fn is_full(answer: Result<Value, ApiError>, limit: &str) {
    let error = answer.expect_err("the share is used up");
    assert_eq!((error.code, error.code.http_status()), (Code::ResourceExhausted, 429));
    assert!(error.message.contains(limit), "{}", error.message);
}

#[test]
fn the_proxy_leaves_three_quarters_of_the_queue_to_others() {
    let mut fixture = prepared();
    let (root, child, sibling) = (fixture.roots[0].clone(), fixture.child.clone(), fixture.sibling.clone());
    fixture.memory.limits.waiting_messages = 8;
    let mut number = 0;
    let mut send = |fixture: &mut Fixture, person: Option<&Person>| {
        number += 1;
        match person {
            Some(person) => submit(fixture, person, person.home, "INIT_OTP", &code(number), NOW),
            None => submit_by_proxy(fixture, "INIT_OTP", &code(number)),
        }
    };
    for _ in 0..2 {
        send(&mut fixture, None).expect("a quarter is that of the proxy");
    }
    is_full(send(&mut fixture, None), "limit of 2 mails waiting to be sent (`waiting_messages`)");
    for person in [&child, &child, &sibling, &sibling] {
        send(&mut fixture, Some(person)).expect("half is that of sub-organizations");
    }
    for _ in 0..2 {
        send(&mut fixture, Some(&root)).expect("a quarter is left to the tenant itself");
    }
    is_full(send(&mut fixture, Some(&root)), "limit of 8 mails");
    // The records state whose messages they are.
    let groups = |group| {
        mails(&fixture).iter().filter(|(_, mail)| mail.origin.expect("an origin").group == group).count()
    };
    let [proxy, children] = [SenderGroup::Proxy, SenderGroup::Children].map(|group| groups(Some(group)));
    assert_eq!((proxy, children, groups(None)), (2, 4, 2));
    // The bytes are shared in the same way.
    let bytes: usize = fixture.memory.rows(b'y').map(|(_, row)| row.len()).sum();
    fixture.memory.limits.waiting_messages = 1000;
    fixture.memory.limits.waiting_message_bytes = bytes + 2000;
    let quarter = (bytes + 2000) / 4;
    let text = format!("limit of {quarter} bytes of mails waiting to be sent (`waiting_message_bytes`)");
    is_full(send(&mut fixture, None), &text);
    send(&mut fixture, Some(&root)).expect("the tenant has room");
}

#[test]
fn delayed_messages_do_not_count_when_new_ones_are_admitted() {
    let mut fixture = prepared();
    let root = fixture.roots[0].clone();
    fixture.memory.limits.waiting_messages = 8;
    let mut number = 0;
    let mut send = |fixture: &mut Fixture| {
        number += 1;
        submit_by_proxy(fixture, "INIT_OTP", &code(number))
    };
    for _ in 0..2 {
        send(&mut fixture).expect("a quarter");
    }
    is_full(send(&mut fixture), "limit of 2 mails");
    // An attempt during an outage of the mail server delays nothing.
    let (key, mut mail) = mails(&fixture).remove(0);
    mail.reschedule(1, NOW + 1);
    fixture.memory.set_row(&key, Some(mail.encode().expect("a mail")));
    is_full(send(&mut fixture), "limit of 2 mails");
    delay(&mut fixture);
    for _ in 0..2 {
        send(&mut fixture).expect("delayed messages do not count");
    }
    is_full(send(&mut fixture), "limit of 2 mails");
    // Nothing removes them here, so together they are never more than twice the share.
    delay(&mut fixture);
    is_full(send(&mut fixture), "limit of 2 mails");
    assert_eq!(mails(&fixture).len(), 4);
    for number in 100..106 {
        submit(&mut fixture, &root, root.home, "INIT_OTP", &code(number), NOW).expect("the tenant has room");
    }
    // The same in bytes.
    fixture.memory.limits.waiting_messages = 1000;
    let bytes: usize = fixture.memory.rows(b'y').take(2).map(|(_, row)| row.len()).sum();
    fixture.memory.limits.waiting_message_bytes = 4 * bytes;
    is_full(send(&mut fixture), &format!("limit of {bytes} bytes of mails"));
    let first = mails(&fixture).remove(0).0;
    fixture.memory.set_row(&first, None);
    send(&mut fixture).expect("one was removed");
}

#[test]
fn the_first_message_of_each_sub_organization_counts_apart() {
    let mut fixture = prepared();
    let many = children(&mut fixture, 10);
    fixture.memory.limits.sub_organization_messages = 8;
    let mut number = 0;
    let mut invite = |fixture: &mut Fixture, person: &Person, count: usize, now: u64| {
        number += 100;
        let parameters = invitations(person, &addresses(number, count));
        submit(fixture, person, person.home, "CREATE_INVITATIONS", &parameters, now)
    };
    invite(&mut fixture, &many[0], 9, NOW).expect("the first one, and eight more");
    let full =
        "parent get 8 codes, mails with a key and invitations within 3 minutes (`sub_organization_messages`)";
    let refused = |answer: Result<Value, ApiError>| {
        let error = answer.expect_err("too many");
        assert_eq!(error.turnkey_error_code.as_deref(), Some("MAX_OTP_INITIATED"));
        assert!(error.message.contains(full), "{}", error.message);
    };
    refused(invite(&mut fixture, &many[0], 1, NOW + 179_999));
    refused(invite(&mut fixture, &many[1], 2, NOW));
    for person in &many[1..8] {
        invite(&mut fixture, person, 1, NOW + 1).expect("each has a first message");
        refused(invite(&mut fixture, person, 1, NOW + 2));
    }
    refused(invite(&mut fixture, &many[8], 1, NOW + 2));
    // The first message and the eight further ones of the first sub-organization are no longer counted.
    for _ in 0..9 {
        invite(&mut fixture, &many[8], 1, NOW + 180_000).expect("one of nine");
    }
    refused(invite(&mut fixture, &many[8], 1, NOW + 180_000));
    refused(invite(&mut fixture, &many[9], 1, NOW + 180_000));
    invite(&mut fixture, &many[9], 1, NOW + 180_001).expect("the other first ones are no longer counted");
}
