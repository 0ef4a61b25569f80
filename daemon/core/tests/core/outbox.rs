//! The queue of webhook deliveries: its order, its storage, the cost of a look, and the treatment of rows
//! that are unreadable or stored by an earlier version.

use std::cell::Cell;

use quorate_common::ids::{ActivityId, EndpointId, OrganizationId};
use quorate_core::error::Corrupt;
use quorate_core::model::Millis;
use quorate_core::model::layout::outbox::{DeliveryId, Destination, LETTER, Lane, is_body};
use quorate_core::model::layout::{self, Key};
use quorate_core::model::record::Record;
use quorate_core::model::write::Write;
use quorate_core::outbox::StoredDelivery;
use quorate_core::outbox::{self, Delivery, EventBody, NextDelivery, Outcomes, Parked, ParkedFor, Usage};
use quorate_core::pipeline::Commit;
use quorate_core::world::{Page, Records};
use serde_json::value::RawValue;

use crate::memory::Memory;

const ORGANIZATION: OrganizationId = OrganizationId::from_bytes([0x11; 16]);
const CHILD: OrganizationId = OrganizationId::from_bytes([0x22; 16]);
const DUE: Millis = 1000;

fn endpoint(number: u8) -> Option<EndpointId> {
    (number > 0).then(|| EndpointId::from_bytes([number; 16]))
}

fn destination(number: u8) -> Destination {
    Destination { organization: ORGANIZATION, endpoint: endpoint(number) }
}

fn activity(number: u64) -> ActivityId {
    ActivityId::timed(number, [7; 10])
}

fn body(text: &str) -> EventBody {
    EventBody::from_json(format!("{{\"text\":\"{text}\"}}").into_bytes()).expect("valid JSON")
}

fn commit(memory: &mut Memory, writes: Vec<Write>) {
    memory.commit(Commit { writes, ..Commit::default() });
}

/// Queues a state of an activity for these endpoints.
fn queue(memory: &mut Memory, number: u64, votes: u32, endpoints: &[u8], due: Millis) {
    let receivers = endpoints.iter().map(|number| (endpoint(*number), format!("https://{number}.example")));
    let writes =
        outbox::queue(ORGANIZATION, receivers, (ORGANIZATION, activity(number), votes), &body("text"), due);
    commit(memory, writes.expect("encoding succeeds"));
}

fn next_delivery(memory: &Memory, number: u8, now: Millis, busy: &[Lane]) -> NextDelivery {
    outbox::next_delivery(memory, &destination(number), now, |lane| busy.contains(lane))
        .expect("the store is readable")
}

fn due(memory: &Memory, number: u8, now: Millis, busy: &[Lane]) -> Option<(DeliveryId, Delivery)> {
    let found = next_delivery(memory, number, now, busy);
    assert!(found.corrections.is_empty() && found.unreadable.is_empty());
    found.due
}

fn finish(memory: &mut Memory, outcomes: Outcomes) -> Option<Usage> {
    let batch = outcomes.finish(memory, 5).expect("the store is readable");
    commit(memory, batch.writes);
    batch.freed.get(&(ORGANIZATION, ORGANIZATION)).copied()
}

fn bodies(memory: &Memory) -> usize {
    memory.rows(LETTER).filter(|(key, _)| is_body(key)).count()
}

#[test]
fn bodies_are_stored_once_and_removed_with_the_last_delivery() {
    let mut memory = Memory::default();
    queue(&mut memory, 1, 1, &[0, 1, 2], DUE);
    let size = u64::from(body("text").size());
    assert_eq!(bodies(&memory), 1);
    let usage = outbox::usage(&memory, ORGANIZATION).expect("the store is readable");
    assert_eq!(usage, [(ORGANIZATION, Usage { deliveries: 3, bytes: size })].into());
    let ids: Vec<DeliveryId> = [0, 1, 2]
        .iter()
        .map(|number| due(&memory, *number, DUE, &[]).expect("a delivery is due").0)
        .collect();
    for id in &ids {
        let text = outbox::body(&memory, id).expect("the store is readable").expect("the body exists");
        assert_eq!(text, b"{\"text\":\"text\"}");
    }
    let mut outcomes = Outcomes::default();
    outcomes.end(ids[1], Some(DUE));
    assert_eq!(finish(&mut memory, outcomes), Some(Usage { deliveries: 1, bytes: 0 }));
    assert_eq!(bodies(&memory), 1);
    // The last two end together.
    let mut outcomes = Outcomes::default();
    outcomes.end(ids[0], Some(DUE));
    outcomes.end(ids[2], Some(DUE));
    assert_eq!(finish(&mut memory, outcomes), Some(Usage { deliveries: 2, bytes: size }));
    assert_eq!(memory.rows(LETTER).count(), 0);
}

#[test]
fn states_of_an_activity_are_delivered_in_order() {
    let mut memory = Memory::default();
    queue(&mut memory, 1, 1, &[0], DUE);
    queue(&mut memory, 1, 2, &[0], DUE + 1);
    queue(&mut memory, 2, 1, &[0], DUE + 2);
    let (first, delivery) = due(&memory, 0, DUE + 2, &[]).expect("a delivery is due");
    assert_eq!((first.activity, first.votes), (activity(1), 1));
    // While the first state is being delivered, the other activity does not wait for it.
    let (other, _) = due(&memory, 0, DUE + 2, &[first.lane()]).expect("a delivery is due");
    assert_eq!(other.activity, activity(2));
    // After it failed, the second state waits for it, and the other activity still does not.
    let mut outcomes = Outcomes::default();
    let later = Delivery { attempts: 1, due: 5000, ..delivery };
    outcomes.postpone(&first, DUE, &later).expect("encoding succeeds");
    assert_eq!(finish(&mut memory, outcomes), None);
    let found = next_delivery(&memory, 0, DUE + 2, &[]);
    assert_eq!(found.due.map(|(id, _)| id.activity), Some(activity(2)));
    commit(&mut memory, found.corrections);
    let found = next_delivery(&memory, 0, 4999, &[other.lane()]);
    assert!(found.due.is_none() && found.corrections.is_empty());
    assert_eq!(found.next_due, Some(5000));
    let (again, delivery) = due(&memory, 0, 5000, &[other.lane()]).expect("a delivery is due");
    assert_eq!((again, delivery.attempts), (first, 1));
    let mut outcomes = Outcomes::default();
    outcomes.end(first, Some(5000));
    finish(&mut memory, outcomes);
    let (second, _) = due(&memory, 0, 5000, &[other.lane()]).expect("a delivery is due");
    assert_eq!((second.activity, second.votes), (activity(1), 2));
}

#[test]
fn missing_or_stale_schedule_entries_are_corrected() {
    let mut memory = Memory::default();
    queue(&mut memory, 1, 1, &[0], DUE);
    queue(&mut memory, 1, 2, &[0], DUE);
    let (first, _) = due(&memory, 0, DUE, &[]).expect("a delivery is due");
    commit(&mut memory, vec![Write::remove(first.scheduled(DUE))]);
    let found = next_delivery(&memory, 0, DUE, &[]);
    assert!(found.due.is_none());
    commit(&mut memory, found.corrections);
    assert_eq!(due(&memory, 0, DUE, &[]).map(|(id, _)| id), Some(first));
    commit(&mut memory, vec![Write::remove(first.key())]);
    let found = next_delivery(&memory, 0, DUE, &[]);
    assert_eq!(found.due.map(|(id, _)| id.votes), Some(2));
    commit(&mut memory, found.corrections);
    assert_eq!(memory.rows(LETTER).filter(|(key, _)| key.starts_with(b"ps")).count(), 1);
}

#[test]
fn unreadable_rows_are_counted_and_block_nothing() {
    let mut memory = Memory::default();
    for number in 1..=3 {
        queue(&mut memory, number, 1, &[0], DUE);
    }
    queue(&mut memory, 1, 2, &[0], DUE);
    let (damaged, _) = due(&memory, 0, DUE, &[]).expect("a delivery is due");
    commit(&mut memory, vec![Write::mark(damaged.key(), b"\x09damaged")]);
    let found = next_delivery(&memory, 0, DUE, &[]);
    assert_eq!(found.due.map(|(id, _)| id.activity), Some(activity(2)));
    assert_eq!(found.unreadable, [(damaged, Some(DUE))]);
    let mut outcomes = Outcomes::default();
    outcomes.park(damaged, Some(DUE), ParkedFor::Unreadable);
    finish(&mut memory, outcomes);
    // The next state of that activity can now be delivered.
    assert_eq!(due(&memory, 0, DUE, &[]).map(|(id, _)| (id.activity, id.votes)), Some((activity(1), 2)));
    let id = due(&memory, 0, DUE, &[(destination(0), activity(1))]).expect("a delivery is due").0;
    commit(&mut memory, vec![Write::mark(id.body(), b"\x09damaged")]);
    assert_eq!(outbox::body(&memory, &id), Ok(None));
    let mut outcomes = Outcomes::default();
    outcomes.park(id, Some(DUE), ParkedFor::Unreadable);
    outcomes.park(due(&memory, 0, DUE, &[]).expect("a delivery is due").0, Some(DUE), ParkedFor::Limit);
    finish(&mut memory, outcomes);
    let count =
        memory.read(&destination(0).parked()).expect("the store is readable").expect("the record exists");
    let expected =
        Parked { parked: 1, unreadable: 2, first: 5, last: 5, oldest: activity(1), newest: activity(2) };
    assert_eq!(Parked::decode(&count), Ok(expected));
}

/// Counts the rows that are read.
struct Counted<'a> {
    memory: &'a Memory,
    rows: Cell<usize>,
}

impl Counted<'_> {
    fn counted<T>(&self, found: Vec<T>) -> Vec<T> {
        self.rows.set(self.rows.get() + found.len().max(1));
        found
    }
}

impl Records for Counted<'_> {
    fn read(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Corrupt> {
        self.rows.set(self.rows.get() + 1);
        self.memory.read(key)
    }

    fn page(&self, page: Page<'_>) -> Result<Vec<(Key, Vec<u8>)>, Corrupt> {
        self.memory.page(page).map(|found| self.counted(found))
    }

    fn keys(&self, page: Page<'_>) -> Result<Vec<Key>, Corrupt> {
        self.memory.keys(page).map(|found| self.counted(found))
    }
}

#[test]
fn looking_at_twenty_thousand_deliveries_reads_few_rows() {
    let mut memory = Memory::default();
    let mut writes = Vec::new();
    for number in 0..20_000 {
        let receivers = [(endpoint(u8::from(number % 100 == 0)), "https://example".to_owned())];
        let state = (if number % 2 == 0 { ORGANIZATION } else { CHILD }, activity(number), 1);
        writes.extend(
            outbox::queue(ORGANIZATION, receivers, state, &body("text"), DUE + number).expect("rows"),
        );
    }
    commit(&mut memory, writes);
    let records = Counted { memory: &memory, rows: Cell::new(0) };
    let mut after = None;
    let mut destinations = 0;
    while let Some(destination) =
        outbox::next_destination(&records, after.as_ref()).expect("the store is readable")
    {
        after = Some(destination);
        destinations += 1;
        let found = outbox::next_delivery(&records, &destination, u64::MAX, |_| false)
            .expect("the store is readable");
        let (id, _) = found.due.expect("a delivery is due");
        let mut outcomes = Outcomes::default();
        outcomes.end(id, Some(DUE));
        outcomes.finish(&records, 0).expect("the store is readable");
    }
    assert_eq!(destinations, 2);
    assert!(records.rows.get() < 100, "{} rows were read", records.rows.get());
    for (cause, first) in [(ORGANIZATION, 0), (CHILD, 1)] {
        let oldest = outbox::oldest(&memory, ORGANIZATION, cause, 3).expect("the store is readable");
        let expected = [first, first + 2, first + 4].map(activity);
        assert_eq!(oldest.iter().map(|id| id.activity).collect::<Vec<_>>(), expected);
        let due = outbox::due(&memory, &oldest[1]).expect("the store is readable");
        assert_eq!(due, Some(DUE + first + 2));
    }
    let usage = outbox::usage(&memory, ORGANIZATION).expect("the store is readable");
    assert_eq!([ORGANIZATION, CHILD].map(|cause| usage[&cause].deliveries), [10_000; 2]);
}

#[test]
fn deliveries_of_earlier_versions_are_converted() {
    let mut memory = Memory::default();
    let stored = |number: u64, votes, endpoint, text: &str| {
        let delivery = StoredDelivery {
            receiver: ORGANIZATION,
            endpoint,
            url: "https://example".to_owned(),
            activity: activity(number),
            body: RawValue::from_string(format!("{{\"text\":\"{text}\"}}")).expect("valid JSON"),
            attempts: 3,
            due: DUE,
        };
        let key = layout::event_key(ORGANIZATION, endpoint, activity(number), votes);
        Write::put_new(key, &delivery).expect("encoding succeeds")
    };
    let mut writes: Vec<Write> = (0..100).map(|number| stored(number, 1, None, "one")).collect();
    writes.extend([
        stored(5, 2, None, "two"),
        stored(5, 1, endpoint(1), "one"),
        stored(5, 1, endpoint(2), "one"),
    ]);
    let damaged = layout::event_key(ORGANIZATION, None, activity(7), 9);
    writes.push(Write::mark(damaged.clone(), b"\x01damaged"));
    commit(&mut memory, writes);
    let (mut after, mut steps, mut converted, mut unreadable) = (None::<Key>, 0, 0, 0);
    loop {
        let step = outbox::convert(&memory, after.as_deref()).expect("the store is readable");
        commit(&mut memory, step.writes);
        (steps, converted, unreadable) =
            (steps + 1, converted + step.converted, unreadable + step.unreadable);
        after = step.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!((steps, converted, unreadable), (2, 103, 1));
    // The damaged row stays; all others are as if this version had queued them.
    assert_eq!(memory.rows(b'x').map(|(key, _)| key.to_vec()).collect::<Vec<_>>(), [damaged]);
    assert_eq!(bodies(&memory), 101);
    let (id, delivery) = due(&memory, 2, DUE, &[]).expect("a delivery is due");
    assert_eq!((id.activity, id.votes, delivery.attempts, delivery.due), (activity(5), 1, 3, DUE));
    let text = outbox::body(&memory, &id).expect("the store is readable");
    assert_eq!(text.as_deref(), Some(b"{\"text\":\"one\"}".as_slice()));
    // An existing body is not written again.
    commit(&mut memory, vec![stored(5, 1, endpoint(3), "one")]);
    let step = outbox::convert(&memory, None).expect("the store is readable");
    assert!(step.writes.iter().all(|write| !is_body(&write.key)));
    // It is charged to the organization whose activity it is.
    let text = format!("{{\"organizationId\":\"{CHILD}\"}}");
    let caused = StoredDelivery {
        receiver: ORGANIZATION,
        endpoint: None,
        url: "https://example".to_owned(),
        activity: activity(200),
        body: RawValue::from_string(text).expect("valid JSON"),
        attempts: 0,
        due: DUE,
    };
    let key = layout::event_key(ORGANIZATION, None, activity(200), 1);
    commit(&mut memory, vec![Write::put_new(key, &caused).expect("encoding succeeds")]);
    let step = outbox::convert(&memory, None).expect("the store is readable");
    commit(&mut memory, step.writes);
    let usage = outbox::usage(&memory, ORGANIZATION).expect("the store is readable");
    assert_eq!(usage[&CHILD].deliveries, 1);
}

#[test]
fn waiting_states_of_an_activity_become_due_and_stay_in_order() {
    let mut memory = Memory::default();
    let late = 1_000_000;
    queue(&mut memory, 1, 1, &[1, 2], late);
    queue(&mut memory, 1, 2, &[1, 2], late + 1);
    queue(&mut memory, 2, 1, &[1], late);
    let first = due(&memory, 1, late, &[]).expect("due later").0;
    let (writes, count) = outbox::expedite(&memory, &first, DUE).expect("the store is readable");
    assert_eq!(count, 2);
    commit(&mut memory, writes);
    let (id, delivery) = due(&memory, 1, DUE, &[]).expect("due now");
    assert_eq!((id, delivery.due), (first, DUE), "the earliest state first");
    assert!(due(&memory, 2, DUE, &[]).is_none(), "another endpoint");
    let mut outcomes = Outcomes::default();
    outcomes.end(first, Some(DUE));
    finish(&mut memory, outcomes);
    assert_eq!(due(&memory, 1, DUE, &[]).expect("due now").0.votes, 2);
    // What is due already is counted and not written again.
    let (writes, count) = outbox::expedite(&memory, &first, DUE).expect("the store is readable");
    assert_eq!((writes.len(), count), (0, 1));
}

#[test]
fn a_state_that_ended_is_queued_again_with_one_body_for_all_endpoints() {
    let mut memory = Memory::default();
    queue(&mut memory, 1, 1, &[1, 2], DUE);
    let [first, second] = [1, 2].map(|number| due(&memory, number, DUE, &[]).expect("due").0);
    let mut outcomes = Outcomes::default();
    outcomes.end(first, Some(DUE));
    finish(&mut memory, outcomes);
    // The other endpoint still waits for the same state, whose body may have been written differently.
    let fresh = body("a longer text");
    let again = |memory: &Memory| {
        let url = "https://1.example".to_owned();
        outbox::queue_again(memory, &first, url, &fresh, DUE + 5).expect("the store is readable")
    };
    let writes = again(&memory);
    commit(&mut memory, writes);
    assert_eq!(bodies(&memory), 1);
    let (id, delivery) = due(&memory, 1, DUE + 5, &[]).expect("due");
    assert_eq!((id, delivery.attempts), (first, 0));
    let mut outcomes = Outcomes::default();
    outcomes.end(first, Some(DUE + 5));
    outcomes.end(second, Some(DUE));
    finish(&mut memory, outcomes);
    assert_eq!(memory.rows(LETTER).count(), 0);
    let writes = again(&memory);
    commit(&mut memory, writes);
    let (id, _) = due(&memory, 1, DUE + 5, &[]).expect("due");
    assert_eq!((id.size, bodies(&memory)), (fresh.size(), 1));
    assert_eq!(outbox::body(&memory, &id).expect("readable").expect("a body").len(), fresh.size() as usize);
}
