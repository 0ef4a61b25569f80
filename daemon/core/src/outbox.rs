//! The queue of webhook deliveries: which records it stores, which delivery is next, and what is written when
//! one ends. This module reads records and returns writes; it does not deliver.
//!
//! A delivery has three rows: its record, its entry in the schedule, and its body. All endpoints of an
//! organization share the body, which is removed with the last delivery that refers to it. The keys are
//! defined in [`crate::model::layout::outbox`].

mod conversion;
mod outcomes;
mod repeated;

use std::collections::{BTreeMap, BTreeSet};

use quorate_common::ids::{ActivityId, EndpointId, OrganizationId};
use serde::{Deserialize, Serialize};

use crate::error::Corrupt;
use crate::model::Millis;
pub use crate::model::delivery::{Delivery, EventBody, Parked};
use crate::model::layout::Key;
use crate::model::layout::outbox::{self as layout, DeliveryId, Destination, Lane};
use crate::model::record::Record;
use crate::model::write::{Effect, Write};
use crate::world::{Page, Records};

pub use conversion::{Conversion, StoredDelivery, convert};
pub use outcomes::{Batch, Outcomes, ParkedFor};
pub use repeated::{expedite, queue_again};

/// Maximum number of entries of a schedule that a search for the next delivery reads.
const SCHEDULE_ENTRIES: usize = 32;
/// Number of keys that are read at once when all are needed.
const PAGE: usize = 1024;

/// Queues the deliveries of a state of an activity to the receivers of one organization. The state is given
/// as the organization of the activity, the id of the activity, and its number of votes.
///
/// # Errors
/// If a record cannot be encoded.
pub fn queue(
    organization: OrganizationId,
    receivers: impl IntoIterator<Item = (Option<EndpointId>, String)>,
    (cause, activity, votes): (OrganizationId, ActivityId, u32),
    body: &EventBody,
    due: Millis,
) -> Result<Vec<Write>, Corrupt> {
    let mut writes = Vec::new();
    let mut last = None;
    for (endpoint, url) in receivers {
        let destination = Destination { organization, endpoint };
        let id = DeliveryId { destination, cause, activity, votes, size: body.size() };
        writes.extend(queue_one(&id, &Delivery { url, attempts: 0, due })?);
        last = Some(id);
    }
    writes.extend(last.map(|id| queue_body(&id, body)).transpose()?);
    Ok(writes)
}

/// Returns the rows of a delivery without its body.
fn queue_one(id: &DeliveryId, delivery: &Delivery) -> Result<[Write; 2], Corrupt> {
    let record = Write::put_new(id.key(), delivery)?.with(Effect::Delivery(*id));
    Ok([record, Write::mark(id.scheduled(delivery.due), &[])])
}

/// Returns the row of the body that a delivery shares with others.
fn queue_body(id: &DeliveryId, body: &EventBody) -> Result<Write, Corrupt> {
    Ok(Write::put_new(id.body(), body)?.with(Effect::Body(*id)))
}

/// Returns the next destination after this one, in key order, that has queued deliveries.
///
/// # Errors
/// If the store cannot be read.
pub fn next_destination(
    records: &dyn Records,
    after: Option<&Destination>,
) -> Result<Option<Destination>, Corrupt> {
    let after = after.map(Destination::behind_schedule);
    let page = Page { after: after.as_deref(), ..Page::first(layout::SCHEDULE, 1) };
    Ok(records.keys(page)?.first().and_then(|key| Destination::of_scheduled(key)))
}

/// Result of the search for the next delivery to a destination.
#[derive(Default)]
pub struct NextDelivery {
    /// Delivery that is due and whose lane is free.
    pub due: Option<(DeliveryId, Delivery)>,
    /// Deliveries that cannot be read, and their due times.
    pub unreadable: Vec<(DeliveryId, Option<Millis>)>,
    /// Corrections of the schedule: of deliveries that wait for an earlier state of their activity, or that
    /// ended.
    pub corrections: Vec<Write>,
    /// Due time of the first delivery that is not due yet.
    pub next_due: Option<Millis>,
}

/// Finds the next delivery that can be started. It reads a bounded number of rows, however long the queue is.
///
/// # Errors
/// If the store cannot be read.
pub fn next_delivery(
    records: &dyn Records,
    destination: &Destination,
    now: Millis,
    is_busy: impl Fn(&Lane) -> bool,
) -> Result<NextDelivery, Corrupt> {
    let entries = records.keys(Page::first(&destination.schedule(), SCHEDULE_ENTRIES))?;
    let mut found = NextDelivery::default();
    for entry in entries {
        let Some((due, id)) = DeliveryId::of_scheduled(&entry) else {
            found.corrections.push(Write::remove(entry));
            continue;
        };
        if due > now {
            found.next_due = Some(due);
            break;
        }
        if is_busy(&id.lane()) {
            continue;
        }
        if let Some(delivery) = found.startable(records, entry, due, &id)? {
            found.due = Some((id, delivery));
            break;
        }
    }
    Ok(found)
}

impl NextDelivery {
    /// Returns the delivery of an entry of the schedule, if it can be started.
    fn startable(
        &mut self,
        records: &dyn Records,
        entry: Key,
        due: Millis,
        id: &DeliveryId,
    ) -> Result<Option<Delivery>, Corrupt> {
        let lane = layout::lane(id);
        let first = records.keys(Page::first(&lane, 1))?;
        let first =
            first.first().and_then(|key| DeliveryId::of_key(key)).filter(|first| first.votes <= id.votes);
        let Some(first) = first else {
            // The delivery ended, and only its entry in the schedule is left.
            self.corrections.push(Write::remove(entry));
            return Ok(None);
        };
        let Some(delivery) = readable::<Delivery>(records.read(&first.key()))? else {
            self.add_unreadable(first, (first == *id).then_some(due));
            return Ok(None);
        };
        if first == *id && delivery.due <= due {
            return Ok(Some(Delivery { due, ..delivery }));
        }
        // The delivery waits for an earlier state, or was postponed.
        self.corrections.push(Write::mark(first.scheduled(delivery.due), &[]));
        if delivery.due > due {
            self.corrections.push(Write::remove(entry));
            if first != *id {
                self.postpone_to(records, id, due, delivery.due)?;
            }
        }
        Ok(None)
    }

    /// Postpones a delivery to the due time of an earlier state of its activity.
    fn postpone_to(
        &mut self,
        records: &dyn Records,
        id: &DeliveryId,
        from: Millis,
        due: Millis,
    ) -> Result<(), Corrupt> {
        match readable::<Delivery>(records.read(&id.key()))? {
            Some(delivery) => {
                self.corrections.push(Write::put(id.key(), &Delivery { due, ..delivery })?);
                self.corrections.push(Write::mark(id.scheduled(due), &[]));
            }
            None => self.add_unreadable(*id, Some(from)),
        }
        Ok(())
    }

    fn add_unreadable(&mut self, id: DeliveryId, due: Option<Millis>) {
        if self.unreadable.iter().all(|(known, _)| *known != id) {
            self.unreadable.push((id, due));
        }
    }
}

/// Decodes a record. Returns `None` if it is missing or damaged.
///
/// # Errors
/// If the store cannot be read, so that nothing is known about the record.
pub fn readable<R: Record>(read: Result<Option<Vec<u8>>, Corrupt>) -> Result<Option<R>, Corrupt> {
    match read {
        Ok(bytes) => Ok(bytes.and_then(|bytes| R::decode(&bytes).ok())),
        Err(Corrupt::Record(_)) => Ok(None),
        Err(unknown) => Err(unknown),
    }
}

/// Reads the body of a delivery. Returns `None` if it is missing or damaged.
///
/// # Errors
/// If the store cannot be read.
pub fn body(records: &dyn Records, id: &DeliveryId) -> Result<Option<Vec<u8>>, Corrupt> {
    match records.read(&id.body()) {
        // The seal proves that the bytes are unchanged; parsing them again would cost more than posting them.
        Ok(Some(mut bytes)) if bytes.first() == Some(&EventBody::VERSION) => {
            bytes.remove(0);
            Ok(Some(bytes))
        }
        Ok(_) | Err(Corrupt::Record(_)) => Ok(None),
        Err(unknown) => Err(unknown),
    }
}

/// Returns the deliveries to an organization for the oldest activities of `cause`. Reads keys only.
///
/// # Errors
/// If the store cannot be read.
pub fn oldest(
    records: &dyn Records,
    organization: OrganizationId,
    cause: OrganizationId,
    limit: usize,
) -> Result<Vec<DeliveryId>, Corrupt> {
    let keys = records.keys(Page::first(&layout::deliveries_caused(organization, cause), limit))?;
    Ok(keys.iter().filter_map(|key| DeliveryId::of_key(key)).collect())
}

/// Returns the due time of a delivery, or `None` if its record is missing or damaged.
///
/// # Errors
/// If the store cannot be read.
pub fn due(records: &dyn Records, id: &DeliveryId) -> Result<Option<Millis>, Corrupt> {
    Ok(readable::<Delivery>(records.read(&id.key()))?.map(|delivery| delivery.due))
}

/// The size of a queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Number of deliveries.
    pub deliveries: usize,
    /// Bytes of bodies; a body for several endpoints counts once.
    pub bytes: u64,
}

impl Usage {
    /// Adds what was queued.
    pub const fn add(&mut self, more: Self) {
        self.deliveries = self.deliveries.saturating_add(more.deliveries);
        self.bytes = self.bytes.saturating_add(more.bytes);
    }

    /// Subtracts what was removed.
    pub const fn subtract(&mut self, less: Self) {
        self.deliveries = self.deliveries.saturating_sub(less.deliveries);
        self.bytes = self.bytes.saturating_sub(less.bytes);
    }
}

/// Measures the queue of an organization, grouped by the organizations that caused the deliveries. Reads keys
/// only.
///
/// # Errors
/// If the store cannot be read.
pub fn usage(
    records: &dyn Records,
    organization: OrganizationId,
) -> Result<BTreeMap<OrganizationId, Usage>, Corrupt> {
    let mut caused: BTreeMap<OrganizationId, Usage> = BTreeMap::new();
    let mut states: (Option<ActivityId>, BTreeSet<u32>) = (None, BTreeSet::new());
    each_delivery(records, &layout::deliveries(organization), |id| {
        let usage = caused.entry(id.cause).or_default();
        usage.add(Usage { deliveries: 1, bytes: 0 });
        if states.0 != Some(id.activity) {
            states = (Some(id.activity), BTreeSet::new());
        }
        if states.1.insert(id.votes) {
            usage.add(Usage { deliveries: 0, bytes: id.size.into() });
        }
    })?;
    Ok(caused)
}

/// The deliveries that wait, as far as they were counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Number of counted deliveries.
    pub deliveries: usize,
    /// Whether more deliveries wait.
    pub is_more: bool,
    /// Time of the oldest activity among them.
    pub oldest: Option<Millis>,
    /// Earliest due time among them.
    pub next_due: Option<Millis>,
}

/// Counts the deliveries that wait, up to a limit. Reads keys only.
///
/// # Errors
/// If the store cannot be read.
pub fn backlog(records: &dyn Records, limit: usize) -> Result<Backlog, Corrupt> {
    backlog_under(records, layout::SCHEDULE, limit)
}

/// Counts the deliveries that wait for one destination, up to a limit. Reads keys only.
///
/// # Errors
/// If the store cannot be read.
pub fn backlog_of(
    records: &dyn Records,
    destination: &Destination,
    limit: usize,
) -> Result<Backlog, Corrupt> {
    backlog_under(records, &destination.schedule(), limit)
}

fn backlog_under(records: &dyn Records, prefix: &[u8], limit: usize) -> Result<Backlog, Corrupt> {
    let keys = records.keys(Page::first(prefix, limit))?;
    let mut backlog = Backlog { is_more: keys.len() == limit, ..Backlog::default() };
    for (due, id) in keys.iter().filter_map(|key| DeliveryId::of_scheduled(key)) {
        backlog.deliveries = backlog.deliveries.saturating_add(1);
        backlog.oldest = backlog.oldest.into_iter().chain(id.activity.millis()).min();
        backlog.next_due = backlog.next_due.into_iter().chain([due]).min();
    }
    Ok(backlog)
}

/// Returns the deliveries to a destination that are due first, with their number of attempts. Those that cannot be
/// read are left out.
///
/// # Errors
/// If the store cannot be read.
pub fn first_due(
    records: &dyn Records,
    destination: &Destination,
    limit: usize,
) -> Result<Vec<(DeliveryId, Delivery)>, Corrupt> {
    let keys = records.keys(Page::first(&destination.schedule(), limit))?;
    let mut found = Vec::with_capacity(keys.len());
    for (due, id) in keys.iter().filter_map(|key| DeliveryId::of_scheduled(key)) {
        // An entry whose delivery is due at another time is outdated.
        let delivery = readable::<Delivery>(records.read(&id.key()))?.filter(|delivery| delivery.due == due);
        found.extend(delivery.map(|delivery| (id, delivery)));
    }
    Ok(found)
}

/// Returns the count of the parked deliveries to a destination, if it can be read.
///
/// # Errors
/// If the store cannot be read.
pub fn parked_of(records: &dyn Records, destination: &Destination) -> Result<Option<Parked>, Corrupt> {
    readable::<Parked>(records.read(&destination.parked()))
}

fn each_delivery(
    records: &dyn Records,
    prefix: &[u8],
    mut take: impl FnMut(DeliveryId),
) -> Result<(), Corrupt> {
    let mut after: Option<Key> = None;
    loop {
        let keys = records.keys(Page { after: after.as_deref(), ..Page::first(prefix, PAGE) })?;
        keys.iter().filter_map(|key| DeliveryId::of_key(key)).for_each(&mut take);
        if keys.len() < PAGE {
            return Ok(());
        }
        after = keys.into_iter().next_back();
    }
}

/// Returns a page of the counts of parked deliveries, after a destination. A count that cannot be read is
/// `None`.
///
/// # Errors
/// If the store cannot be read.
pub fn parked(
    records: &dyn Records,
    after: Option<&Destination>,
    limit: usize,
) -> Result<Vec<(Destination, Option<Parked>)>, Corrupt> {
    let after = after.map(Destination::parked);
    let keys = records.keys(Page { after: after.as_deref(), ..Page::first(layout::PARKED, limit) })?;
    let found = keys.iter().filter_map(|key| Some((Destination::of_parked(key)?, key)));
    found.map(|(destination, key)| Ok((destination, readable::<Parked>(records.read(key))?))).collect()
}
