//! The order of messages with chosen tenants, organizations and receivers.

#![allow(clippy::unwrap_used, reason = "tests")]

use quorate_common::ids::ActivityId;
use quorate_core::model::queued_message::Channel;

use super::*;

mod displacement;

/// Returns a message of an organization of a tenant, to a receiver, that is due at 0.
fn message(number: u32, tenant: u8, organization: u8, receiver: u8) -> QueuedMessage {
    QueuedMessage {
        channel: Channel::Mail,
        id: MessageId { activity: ActivityId::from_bytes([1; 16]), number },
        tenant: OrganizationId::from_bytes([tenant; 16]),
        organization: OrganizationId::from_bytes([organization; 16]),
        group: None,
        receiver: [receiver; 16],
        due: 0,
        expires: None,
        is_delayed: false,
        size: 10,
    }
}

fn turns(messages: impl IntoIterator<Item = QueuedMessage>) -> Turns {
    let mut turns = Turns::default();
    messages.into_iter().for_each(|message| turns.add(message));
    turns.tick(0);
    turns
}

/// Selects all messages that can be sent at once.
fn select_all(turns: &mut Turns) -> Vec<QueuedMessage> {
    std::iter::from_fn(|| turns.select()).collect()
}

/// Ends messages that were sent, and forgets them.
fn end_all(turns: &mut Turns, sent: Vec<QueuedMessage>, is_prompt: bool) {
    for message in sent {
        turns.end(message.id, Some(is_prompt));
        turns.forget(message.id);
    }
}

fn count(sent: &[QueuedMessage], is_counted: impl Fn(&QueuedMessage) -> bool) -> usize {
    sent.iter().filter(|message| is_counted(message)).count()
}

#[test]
fn unknown_receivers_share_half_of_each_share() {
    // Receivers are all different.
    let all = (0..100).map(|number| message(number, 1, 1, u8::try_from(number).unwrap()));
    assert_eq!(select_all(&mut turns(all)).len(), 4);
    let all = (0..100)
        .map(|number| message(number, 1, u8::try_from(number).unwrap(), u8::try_from(number).unwrap()));
    assert_eq!(select_all(&mut turns(all)).len(), 8);
    let all = (0..100).map(|number| {
        let one = u8::try_from(number).unwrap();
        message(number, one, one, one)
    });
    assert_eq!(select_all(&mut turns(all)).len(), 16);
}

#[test]
fn prompt_receivers_get_whole_shares_and_slow_ones_one_message_at_a_time() {
    let all = || (0..100).map(|number| message(number, 1, 1, 7));
    let mut turns = turns(all());
    let first = select_all(&mut turns);
    assert_eq!(first.len(), 1);
    end_all(&mut turns, first, true);
    let prompt = select_all(&mut turns);
    assert_eq!(prompt.len(), 8, "the share of the organization");
    let slow = prompt.first().unwrap().id;
    turns.end(slow, Some(false));
    turns.forget(slow);
    // Those that were begun before do not restore the trust.
    end_all(&mut turns, prompt, true);
    let next = select_all(&mut turns);
    assert_eq!(next.len(), 1);
    end_all(&mut turns, next, true);
    assert_eq!(select_all(&mut turns).len(), 8);
}

#[test]
fn slow_receivers_leave_room_for_others() {
    // A tenant with slow receivers in many organizations, and one whose receiver is prompt.
    let mut turns = turns((0..80).map(|number| {
        let one = u8::try_from(number).unwrap();
        message(number, 1, one, one)
    }));
    for _ in 0..10 {
        let sent = select_all(&mut turns);
        end_all(&mut turns, sent, false);
    }
    for number in 100..180 {
        let one = u8::try_from(number - 100).unwrap();
        turns.add(message(number, 1, one, one));
    }
    turns.add(message(200, 1, 1, 99));
    turns.add(message(201, 2, 2, 98));
    turns.tick(0);
    let sent = select_all(&mut turns);
    assert_eq!(count(&sent, |message| message.id.number < 200), 4, "{sent:?}");
    assert_eq!(count(&sent, |message| message.id.number >= 200), 2, "{sent:?}");
}

#[test]
fn tenants_organizations_and_receivers_take_turns() {
    // Tenant 1 has two organizations; the first one has many messages to one receiver, and one to another.
    let mut all: Vec<_> = (0..200).map(|number| message(number, 1, 1, 1)).collect();
    all.push(message(200, 1, 1, 2));
    all.push(message(201, 1, 3, 3));
    all.push(message(202, 2, 2, 4));
    let mut turns = turns(all);
    let mut order = Vec::new();
    while let Some(message) = turns.select() {
        order.push(message.id.number);
        end_all(&mut turns, vec![message], true);
    }
    assert_eq!(order.len(), 203);
    let position = |number: u32| order.iter().position(|other| *other == number).unwrap();
    assert!([200, 201, 202].iter().all(|number| position(*number) < 5), "{:?}", order.get(..8));
    let of_one: Vec<_> = order.iter().filter(|number| **number < 200).copied().collect();
    assert_eq!(of_one, (0..200).collect::<Vec<_>>(), "messages to one receiver keep their order");
}

#[test]
fn usage_counts_all_messages_that_are_queued() {
    let mut turns = turns([message(0, 1, 1, 1), message(1, 1, 2, 1), message(2, 3, 3, 1)]);
    // Adding a message again changes nothing.
    turns.add(message(0, 1, 1, 1));
    let usage = |turns: &Turns| {
        let id = |one: u8| OrganizationId::from_bytes([one; 16]);
        let [tenant, organization, _] =
            turns.usage(&MessageSource { tenant: id(1), organization: id(2), group: None });
        [tenant, organization].map(|usage| (usage.all.messages, usage.all.bytes))
    };
    assert_eq!(usage(&turns), [(2, 20), (1, 10)]);
    while let Some(message) = turns.select() {
        turns.end(message.id, Some(true));
        assert_eq!(usage(&turns), [(2, 20), (1, 10)], "an outcome that is not recorded");
    }
    turns.postpone(MessageId { number: 0, ..message(0, 1, 1, 1).id }, 50, false);
    turns.forget(message(1, 1, 2, 1).id);
    assert_eq!(usage(&turns), [(1, 10), (0, 0)]);
    assert_eq!((turns.next(), turns.select().is_none()), (Some(50), true));
    turns.tick(50);
    assert_eq!(turns.select().unwrap().id.number, 0);
    // What is being sent stays known when the queue is read again.
    turns.clear();
    assert_eq!(usage(&turns), [(1, 10), (0, 0)]);
    turns.add(message(0, 1, 1, 1));
    turns.tick(50);
    assert!(turns.select().is_none(), "it is being sent");
    end_all(&mut turns, vec![message(0, 1, 1, 1)], true);
    assert_eq!(usage(&turns), [(0, 0), (0, 0)]);
    assert!(turns.tenants.is_empty() || turns.tenants.len() == 1);
}

#[test]
fn messages_expire_unless_they_are_being_sent() {
    let until = |number: u32, end: Millis| QueuedMessage { expires: Some(end), ..message(number, 1, 1, 1) };
    let mut turns = turns([until(0, 10), until(1, 10), until(2, 20), message(3, 1, 1, 1)]);
    assert_eq!(turns.next_end(), Some(10));
    let running = turns.select().unwrap();
    assert_eq!(running.id.number, 0);
    assert_eq!(turns.take_expired(9, 10), []);
    let expired: Vec<u32> = turns.take_expired(30, 1).iter().map(|id| id.number).collect();
    assert_eq!(expired, [1]);
    let more: Vec<u32> = turns.take_expired(30, 10).iter().map(|id| id.number).collect();
    assert_eq!(more, [2]);
    // A message that could not be sent expires before its next attempt.
    turns.end(running.id, Some(true));
    turns.postpone(running.id, 1000, false);
    assert_eq!((turns.next(), turns.take_expired(30, 10).len()), (Some(10), 1));
    for number in 0..3 {
        turns.forget(message(number, 1, 1, 1).id);
    }
    assert_eq!(turns.select().unwrap().id.number, 3);
    assert_eq!(turns.next(), None);
}
