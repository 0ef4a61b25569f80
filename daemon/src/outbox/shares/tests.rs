//! Whose turn it is, with receivers that answer and others.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use quorate_common::ids::EndpointId;

use super::*;

fn organization(number: u8) -> OrganizationId {
    OrganizationId::from_bytes([number; 16])
}

fn destination(number: u8, endpoint: u16) -> Destination {
    let [high, low] = endpoint.to_be_bytes();
    let mut bytes = [1; 16];
    (bytes[0], bytes[1]) = (high, low);
    Destination { organization: organization(number), endpoint: Some(EndpointId::from_bytes(bytes)) }
}

/// Wakes the endpoints of a tenant.
fn wake(shares: &mut Shares, number: u8, endpoints: std::ops::Range<u16>) {
    for endpoint in endpoints {
        shares.wake(destination(number, endpoint), || organization(number));
    }
}

/// Starts all that can be started, with bodies of this size.
fn start_all(shares: &mut Shares, size: u32) -> Vec<Slot> {
    let mut slots = Vec::new();
    // A destination without room for a body has its turn again; that must end, too.
    for _ in 0..1000 {
        let Some(destination) = shares.turn() else { break };
        slots.extend(shares.start(destination, size));
    }
    assert!(shares.turn().is_none());
    slots
}

/// Starts deliveries to a receiver that answered before.
fn start_trusted(shares: &mut Shares) -> Vec<Slot> {
    wake(shares, 1, 0..1);
    let slots = start_all(shares, 10);
    shares.end(&slots[0], Conduct::Answered, 0);
    let slots = start_all(shares, 10);
    assert_eq!(slots.len(), 8);
    slots
}

fn of(slots: &[Slot], number: u8) -> usize {
    slots.iter().filter(|slot| slot.destination.organization == organization(number)).count()
}

#[test]
fn turns_go_round_the_tenants() {
    let mut shares = Shares::new(64);
    wake(&mut shares, 1, 0..1000);
    wake(&mut shares, 2, 0..1);
    wake(&mut shares, 3, 0..2);
    let order: Vec<u8> = (0..4)
        .map(|_| {
            let destination = shares.turn().unwrap();
            shares.start(destination, 10).unwrap();
            destination.organization.as_bytes()[0]
        })
        .collect();
    assert_eq!(order, [1, 2, 3, 1]);
}

#[test]
fn who_is_not_known_to_answer_gets_half_of_a_share_and_one_delivery_each() {
    let mut shares = Shares::new(64);
    wake(&mut shares, 1, 0..100);
    let slots = start_all(&mut shares, 10);
    assert_eq!(slots.len(), 8);
    // One that answers gets more at once, and the other half of the share is left to it.
    assert!(!shares.end(&slots[0], Conduct::Answered, 0));
    let more = start_all(&mut shares, 10);
    let first = |slots: &[Slot]| slots.iter().filter(|slot| slot.destination == destination(1, 0)).count();
    assert_eq!((more.len(), first(&more)), (9, 8));
    // No number of such tenants takes more than half of all.
    for number in 2..=20 {
        wake(&mut shares, number, 0..100);
    }
    let others = start_all(&mut shares, 10);
    assert_eq!(others.len(), DELIVERIES / 2 - 8);
    assert_eq!((of(&others, 2), of(&others, 20)), (7, 6));
}

/// Wakes endpoints of a sub-organization of the tenant 1.
fn wake_child(shares: &mut Shares, number: u8, endpoints: std::ops::Range<u16>) {
    for endpoint in endpoints {
        shares.wake(destination(number, endpoint), || organization(1));
    }
}

#[test]
fn slow_receivers_leave_room_for_prompt_and_unknown_ones() {
    let mut shares = Shares::new(64);
    // Those of one tenant, and of strangers.
    for number in 2..=9 {
        wake_child(&mut shares, number, 0..8);
    }
    for number in 20..=60 {
        wake(&mut shares, number, 0..8);
    }
    for _ in 0..100 {
        for slot in start_all(&mut shares, 10) {
            shares.end(&slot, Conduct::Slow, 0);
        }
    }
    assert!(shares.lines.values().all(|line| line.trust == Trust::Doubtful));
    let slow = start_all(&mut shares, 10);
    assert_eq!(slow.len(), DELIVERIES / 4);
    wake_child(&mut shares, 10, 0..1);
    let next = shares.turn();
    assert_eq!(next, Some(destination(10, 0)), "the first delivery to an unknown receiver");
}

#[test]
fn slow_receivers_get_one_delivery_at_a_time_until_a_later_one_is_prompt() {
    let mut shares = Shares::new(64);
    let slots = start_trusted(&mut shares);
    shares.end(&slots[0], Conduct::Slow, 0);
    assert!(start_all(&mut shares, 10).is_empty());
    // What began beside it does not restore it.
    for slot in &slots[1..] {
        shares.end(slot, Conduct::Answered, 0);
    }
    let trial = start_all(&mut shares, 10);
    assert_eq!(trial.len(), 1);
    // It is remembered while nothing waits.
    shares.end(&trial[0], Conduct::Slow, 0);
    let destination = shares.turn().unwrap();
    shares.idle(destination);
    wake(&mut shares, 1, 0..1);
    let trial = start_all(&mut shares, 10);
    assert_eq!((trial.len(), trial[0].trust), (1, Trust::Doubtful));
    shares.end(&trial[0], Conduct::Answered, 0);
    assert_eq!(start_all(&mut shares, 10).len(), 8);
}

#[test]
fn no_organization_takes_all_of_the_share_of_its_tenant() {
    let mut shares = Shares::new(64);
    wake_child(&mut shares, 2, 0..10);
    for slot in start_all(&mut shares, 10) {
        shares.end(&slot, Conduct::Answered, 0);
    }
    // All of these may turn slow now.
    let slots = start_all(&mut shares, 10);
    assert_eq!(slots.len(), 16);
    wake_child(&mut shares, 3, 0..1);
    assert_eq!(start_all(&mut shares, 10).len(), 1);
    // Bodies as well.
    let mut shares = Shares::new(64);
    wake_child(&mut shares, 2, 0..10);
    let size = u32::try_from(TENANT_BYTES / 4).unwrap();
    assert_eq!(start_all(&mut shares, size).len(), 1);
    wake_child(&mut shares, 3, 0..1);
    assert_eq!(start_all(&mut shares, size).len(), 1);
}

#[test]
fn who_is_silent_rests_and_is_tried_once() {
    let mut shares = Shares::new(64);
    let slots = start_trusted(&mut shares);
    assert!(shares.end(&slots[0], Conduct::Silent, 1000));
    let rest = shares.next().unwrap();
    assert!((1500..=2000).contains(&rest), "{rest}");
    // What ran beside it is the same silence.
    for slot in &slots[1..] {
        assert!(!shares.end(slot, Conduct::Silent, 1000));
    }
    assert_eq!(shares.next(), Some(rest));
    // Something new changes nothing.
    wake(&mut shares, 1, 0..1);
    shares.tick(rest - 1);
    assert!(start_all(&mut shares, 10).is_empty());
    shares.tick(rest);
    let trial = start_all(&mut shares, 10);
    assert_eq!(trial.len(), 1);
    assert!(!shares.end(&trial[0], Conduct::Silent, 5000));
    let rest = shares.next().unwrap();
    assert!((6000..=7000).contains(&rest), "{rest}");
    // Once the rest is over, something new is a trial, however late the others are due.
    shares.tick(rest);
    let destination = shares.turn().unwrap();
    shares.rest(destination, u64::MAX);
    assert!(start_all(&mut shares, 10).is_empty());
    wake(&mut shares, 1, 0..1);
    let trial = start_all(&mut shares, 10);
    shares.end(&trial[0], Conduct::Answered, rest);
    assert_eq!(start_all(&mut shares, 10).len(), 8);
}

#[test]
fn who_answers_that_it_failed_gets_one_delivery_at_a_time() {
    let mut shares = Shares::new(64);
    wake(&mut shares, 1, 0..1);
    for _ in 0..3 {
        let slots = start_all(&mut shares, 10);
        assert_eq!(slots.len(), 1);
        assert!(!shares.end(&slots[0], Conduct::Failed, 0));
    }
    assert_eq!(shares.next(), None);
}

#[test]
fn bodies_in_memory_are_bounded() {
    let mut shares = Shares::new(64);
    for number in 1..=20 {
        wake(&mut shares, number, 0..4);
    }
    let size = u32::try_from(TENANT_BYTES / 2).unwrap();
    let slots = start_all(&mut shares, size);
    // Half of all, since none of these is known to answer.
    assert_eq!(slots.len(), 4);
    assert!((1..=20).all(|number| of(&slots, number) <= 1));
    assert_eq!(shares.load.0[0].bytes, BYTES / 2);
    // One that is larger than a share goes alone, and when there is room.
    let mut shares = Shares::new(64);
    wake(&mut shares, 1, 0..2);
    let slots = start_all(&mut shares, size * 3);
    assert_eq!(slots.len(), 1);
    shares.end(&slots[0], Conduct::Answered, 0);
    assert_eq!(start_all(&mut shares, size * 3).len(), 1);
}

#[test]
fn what_has_nothing_waiting_is_forgotten() {
    let mut shares = Shares::new(64);
    for number in 0..=u8::MAX {
        wake(&mut shares, number, 0..100);
        while let Some(destination) = shares.turn() {
            shares.idle(destination);
        }
    }
    assert_eq!((shares.lines.len(), shares.tenants.len(), shares.turns.len()), (0, 0, 0));
    // Those that answered are remembered, up to a number.
    for number in 0..=u8::MAX {
        for endpoint in 0..100 {
            wake(&mut shares, number, endpoint..endpoint + 1);
            let slot = start_all(&mut shares, 10);
            shares.end(&slot[0], Conduct::Answered, 0);
            let destination = shares.turn().unwrap();
            shares.idle(destination);
        }
    }
    assert!(shares.lines.len() <= REMEMBERED);
    assert_eq!((shares.tenants.len(), shares.load.is_empty()), (0, true));
}
