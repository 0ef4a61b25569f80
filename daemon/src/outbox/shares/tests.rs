//! Tests of the order of deliveries, with prompt, slow and silent receivers.

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

/// Starts all deliveries that can be started, with bodies of this size.
fn start_all(shares: &mut Shares, size: u32) -> Vec<Slot> {
    let mut slots = Vec::new();
    // A destination without space for its body is selected again; that must end, too.
    for _ in 0..1000 {
        let Some(destination) = shares.select() else { break };
        slots.extend(shares.start(destination, size));
    }
    assert!(shares.select().is_none());
    slots
}

/// Starts deliveries to a receiver that has answered before.
fn start_trusted(shares: &mut Shares) -> Vec<Slot> {
    wake(shares, 1, 0..1);
    let slots = start_all(shares, 10);
    shares.end(&slots[0], Behavior::Answered, 0);
    let slots = start_all(shares, 10);
    assert_eq!(slots.len(), 8);
    slots
}

fn of(slots: &[Slot], number: u8) -> usize {
    slots.iter().filter(|slot| slot.destination.organization == organization(number)).count()
}

#[test]
fn tenants_take_turns() {
    let mut shares = Shares::new(64);
    wake(&mut shares, 1, 0..1000);
    wake(&mut shares, 2, 0..1);
    wake(&mut shares, 3, 0..2);
    let order: Vec<u8> = (0..4)
        .map(|_| {
            let destination = shares.select().unwrap();
            shares.start(destination, 10).unwrap();
            destination.organization.as_bytes()[0]
        })
        .collect();
    assert_eq!(order, [1, 2, 3, 1]);
}

#[test]
fn unknown_receivers_get_half_of_a_share_and_one_delivery_each() {
    let mut shares = Shares::new(64);
    wake(&mut shares, 1, 0..100);
    let slots = start_all(&mut shares, 10);
    assert_eq!(slots.len(), 8);
    // A receiver that answers gets more deliveries at once, and the other half of the share is left to it.
    assert!(!shares.end(&slots[0], Behavior::Answered, 0));
    let more = start_all(&mut shares, 10);
    let first = |slots: &[Slot]| slots.iter().filter(|slot| slot.destination == destination(1, 0)).count();
    assert_eq!((more.len(), first(&more)), (9, 8));
    // Any number of such tenants together takes at most half of all.
    for number in 2..=20 {
        wake(&mut shares, number, 0..100);
    }
    let others = start_all(&mut shares, 10);
    assert_eq!(others.len(), DELIVERIES / 2 - 8);
    assert_eq!((of(&others, 2), of(&others, 20)), (7, 6));
}

/// Wakes endpoints of a sub-organization of tenant 1.
fn wake_child(shares: &mut Shares, number: u8, endpoints: std::ops::Range<u16>) {
    for endpoint in endpoints {
        shares.wake(destination(number, endpoint), || organization(1));
    }
}

#[test]
fn slow_receivers_leave_capacity_for_prompt_and_unknown_ones() {
    let mut shares = Shares::new(64);
    // Some belong to sub-organizations of one tenant, others to other tenants.
    for number in 2..=9 {
        wake_child(&mut shares, number, 0..8);
    }
    for number in 20..=60 {
        wake(&mut shares, number, 0..8);
    }
    for _ in 0..100 {
        for slot in start_all(&mut shares, 10) {
            shares.end(&slot, Behavior::Slow, 0);
        }
    }
    assert!(shares.destinations.values().all(|entry| entry.trust == Trust::Doubtful));
    let slow = start_all(&mut shares, 10);
    assert_eq!(slow.len(), DELIVERIES / 4);
    wake_child(&mut shares, 10, 0..1);
    let next = shares.select();
    assert_eq!(next, Some(destination(10, 0)), "the first delivery to an unknown receiver");
}

#[test]
fn slow_receivers_get_one_delivery_at_a_time_until_a_later_one_is_prompt() {
    let mut shares = Shares::new(64);
    let slots = start_trusted(&mut shares);
    shares.end(&slots[0], Behavior::Slow, 0);
    assert!(start_all(&mut shares, 10).is_empty());
    // Deliveries that began at the same time do not restore the trust.
    for slot in &slots[1..] {
        shares.end(slot, Behavior::Answered, 0);
    }
    let trial = start_all(&mut shares, 10);
    assert_eq!(trial.len(), 1);
    // The trust is kept while nothing waits.
    shares.end(&trial[0], Behavior::Slow, 0);
    let destination = shares.select().unwrap();
    shares.idle(destination);
    wake(&mut shares, 1, 0..1);
    let trial = start_all(&mut shares, 10);
    assert_eq!((trial.len(), trial[0].trust), (1, Trust::Doubtful));
    shares.end(&trial[0], Behavior::Answered, 0);
    assert_eq!(start_all(&mut shares, 10).len(), 8);
}

#[test]
fn no_organization_takes_the_whole_share_of_its_tenant() {
    let mut shares = Shares::new(64);
    wake_child(&mut shares, 2, 0..10);
    for slot in start_all(&mut shares, 10) {
        shares.end(&slot, Behavior::Answered, 0);
    }
    // All of these receivers may become slow now.
    let slots = start_all(&mut shares, 10);
    assert_eq!(slots.len(), 16);
    wake_child(&mut shares, 3, 0..1);
    assert_eq!(start_all(&mut shares, 10).len(), 1);
    // The same applies to bodies.
    let mut shares = Shares::new(64);
    wake_child(&mut shares, 2, 0..10);
    let size = u32::try_from(TENANT_BYTES / 4).unwrap();
    assert_eq!(start_all(&mut shares, size).len(), 1);
    wake_child(&mut shares, 3, 0..1);
    assert_eq!(start_all(&mut shares, size).len(), 1);
}

#[test]
fn a_silent_receiver_pauses_and_gets_one_trial() {
    let mut shares = Shares::new(64);
    let slots = start_trusted(&mut shares);
    assert!(shares.end(&slots[0], Behavior::Silent, 1000));
    let rest = shares.next().unwrap();
    assert!((1500..=2000).contains(&rest), "{rest}");
    // Concurrent deliveries count as the same silence.
    for slot in &slots[1..] {
        assert!(!shares.end(slot, Behavior::Silent, 1000));
    }
    assert_eq!(shares.next(), Some(rest));
    // A new delivery changes nothing.
    wake(&mut shares, 1, 0..1);
    shares.tick(rest - 1);
    assert!(start_all(&mut shares, 10).is_empty());
    shares.tick(rest);
    let trial = start_all(&mut shares, 10);
    assert_eq!(trial.len(), 1);
    assert!(!shares.end(&trial[0], Behavior::Silent, 5000));
    let rest = shares.next().unwrap();
    assert!((6000..=7000).contains(&rest), "{rest}");
    // Once the pause is over, a new delivery is a trial, however late the others are due.
    shares.tick(rest);
    let destination = shares.select().unwrap();
    shares.rest(destination, u64::MAX);
    assert!(start_all(&mut shares, 10).is_empty());
    wake(&mut shares, 1, 0..1);
    let trial = start_all(&mut shares, 10);
    shares.end(&trial[0], Behavior::Answered, rest);
    assert_eq!(start_all(&mut shares, 10).len(), 8);
}

#[test]
fn a_failing_receiver_gets_one_delivery_at_a_time() {
    let mut shares = Shares::new(64);
    wake(&mut shares, 1, 0..1);
    for _ in 0..3 {
        let slots = start_all(&mut shares, 10);
        assert_eq!(slots.len(), 1);
        assert!(!shares.end(&slots[0], Behavior::Failed, 0));
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
    // Half of all, because none of these receivers is known to answer.
    assert_eq!(slots.len(), 4);
    assert!((1..=20).all(|number| of(&slots, number) <= 1));
    assert_eq!(shares.load.0[0].bytes, BYTES / 2);
    // A body that is larger than a share is delivered alone, once nothing else runs.
    let mut shares = Shares::new(64);
    wake(&mut shares, 1, 0..2);
    let slots = start_all(&mut shares, size * 3);
    assert_eq!(slots.len(), 1);
    shares.end(&slots[0], Behavior::Answered, 0);
    assert_eq!(start_all(&mut shares, size * 3).len(), 1);
}

#[test]
fn destinations_without_waiting_deliveries_are_dropped() {
    let mut shares = Shares::new(64);
    for number in 0..=u8::MAX {
        wake(&mut shares, number, 0..100);
        while let Some(destination) = shares.select() {
            shares.idle(destination);
        }
    }
    assert_eq!((shares.destinations.len(), shares.tenants.len(), shares.queue.len()), (0, 0, 0));
    // Destinations that have answered are kept, up to a limit.
    for number in 0..=u8::MAX {
        for endpoint in 0..100 {
            wake(&mut shares, number, endpoint..endpoint + 1);
            let slot = start_all(&mut shares, 10);
            shares.end(&slot[0], Behavior::Answered, 0);
            let destination = shares.select().unwrap();
            shares.idle(destination);
        }
    }
    assert!(shares.destinations.len() <= TRACKED);
    assert_eq!((shares.tenants.len(), shares.load.is_empty()), (0, true));
}

#[test]
fn slow_receivers_of_sub_organizations_leave_room_for_the_parent() {
    let mut shares = Shares::new(64);
    // Nothing is known of any receiver after a start.
    (2..250).for_each(|child| wake_child(&mut shares, child, 0..1));
    let of_children = start_all(&mut shares, 1);
    assert_eq!(of_children.len(), 24, "three quarters of the half for receivers that are not known");
    wake(&mut shares, 1, 0..20);
    let of_parent = start_all(&mut shares, 1);
    assert_eq!(of_parent.len(), 8, "the rest is for the parent");
    // The parent may use all of it, but no sub-organization the part of the parent.
    for slot in &of_parent {
        shares.end(slot, Behavior::Answered, 0);
    }
    assert!(start_all(&mut shares, 1).iter().all(|slot| slot.destination.organization == organization(1)));
}
