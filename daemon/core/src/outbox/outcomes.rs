//! What is written when deliveries end: they were delivered, given up, postponed or parked.

use std::collections::{BTreeMap, BTreeSet};

use quorate_common::ids::{ActivityId, OrganizationId};

use super::{Usage, each_delivery, readable};
use crate::error::Corrupt;
use crate::model::Millis;
use crate::model::delivery::{Delivery, Parked};
use crate::model::layout::outbox::{self as layout, DeliveryId, Destination};
use crate::model::write::Write;
use crate::world::Records;

/// The reason why a delivery is parked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParkedFor {
    /// The queue of the organization exceeds its limits.
    Limit,
    /// Its records cannot be read.
    Unreadable,
}

/// The outcomes of deliveries, collected for one commit.
#[derive(Default)]
pub struct Outcomes {
    writes: Vec<Write>,
    ended_deliveries: BTreeSet<DeliveryId>,
    parked: BTreeMap<Destination, Vec<(ActivityId, ParkedFor)>>,
}

/// The writes of [`Outcomes`], and by how much they shorten the queues.
pub struct Batch {
    /// Writes to commit.
    pub writes: Vec<Write>,
    /// Removed deliveries and bodies, by the receiving organization and the organization that caused them.
    pub freed: BTreeMap<(OrganizationId, OrganizationId), Usage>,
}

impl Outcomes {
    /// Returns whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }

    /// Records that a delivery ended: it was delivered or given up.
    pub fn end(&mut self, id: DeliveryId, due: Option<Millis>) {
        self.writes.push(Write::remove(id.key()));
        self.writes.extend(due.map(|due| Write::remove(id.scheduled(due))));
        self.ended_deliveries.insert(id);
    }

    /// Records that a delivery is parked. If its due time is not known, its entry in the schedule stays until
    /// a look removes it.
    pub fn park(&mut self, id: DeliveryId, due: Option<Millis>, why: ParkedFor) {
        self.end(id, due);
        self.parked.entry(id.destination).or_default().push((id.activity, why));
    }

    /// Records that an attempt failed and the delivery is retried at a later time.
    ///
    /// # Errors
    /// If its record cannot be encoded.
    pub fn postpone(&mut self, id: &DeliveryId, from: Millis, delivery: &Delivery) -> Result<(), Corrupt> {
        self.writes.push(Write::remove(id.scheduled(from)));
        self.writes.push(Write::mark(id.scheduled(delivery.due), &[]));
        self.writes.push(Write::put(id.key(), delivery)?);
        Ok(())
    }

    /// Adds the writes that follow: the removal of bodies without deliveries, and the counts of parked
    /// deliveries.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn finish(mut self, records: &dyn Records, now: Millis) -> Result<Batch, Corrupt> {
        let mut freed: BTreeMap<_, Usage> = BTreeMap::new();
        let mut free = |id: &DeliveryId, usage| {
            freed.entry((id.destination.organization, id.cause)).or_default().add(usage);
        };
        for id in &self.ended_deliveries {
            free(id, Usage { deliveries: 1, bytes: 0 });
        }
        for (id, bytes) in self.unused_bodies(records)? {
            self.writes.push(Write::remove(id.body()));
            free(&id, Usage { deliveries: 0, bytes });
        }
        for (destination, parked) in &self.parked {
            let key = destination.parked();
            let before = readable::<Parked>(records.read(&key))?;
            self.writes.extend(count(before, parked, now).map(|count| Write::put(key, &count)).transpose()?);
        }
        Ok(Batch { writes: self.writes, freed })
    }

    /// Returns the bodies to which only ended deliveries refer, each by one of these deliveries.
    fn unused_bodies(&self, records: &dyn Records) -> Result<Vec<(DeliveryId, u64)>, Corrupt> {
        let state = |id: &DeliveryId| (id.destination.organization, id.activity, id.votes);
        let ended: BTreeMap<_, _> = self.ended_deliveries.iter().map(|id| (state(id), *id)).collect();
        let activities: BTreeSet<_> = ended.values().map(layout::deliveries_of).collect();
        let mut used = BTreeSet::new();
        for deliveries in activities {
            each_delivery(records, &deliveries, |id| {
                if !self.ended_deliveries.contains(&id) {
                    used.insert(state(&id));
                }
            })?;
        }
        let unused = ended.into_iter().filter(|(state, _)| !used.contains(state));
        Ok(unused.map(|(_, id)| (id, id.size.into())).collect())
    }
}

/// Adds parked deliveries to the count of their destination.
fn count(before: Option<Parked>, parked: &[(ActivityId, ParkedFor)], now: Millis) -> Option<Parked> {
    let number = |why| parked.iter().filter(|(_, parked)| *parked == why).count() as u64;
    let activities = || parked.iter().map(|(activity, _)| *activity);
    let (oldest, newest) = (activities().min()?, activities().max()?);
    let (parked, unreadable) = (number(ParkedFor::Limit), number(ParkedFor::Unreadable));
    Some(match before {
        None => Parked { parked, unreadable, first: now, last: now, oldest, newest },
        Some(before) => Parked {
            parked: before.parked.saturating_add(parked),
            unreadable: before.unreadable.saturating_add(unreadable),
            first: before.first,
            last: now,
            oldest: before.oldest.min(oldest),
            newest: before.newest.max(newest),
        },
    })
}
