//! The queue of webhook deliveries: what is stored of them, which one is next, and what is written when one ends. Only
//! reads and returns writes; never delivers.
//!
//! A delivery has three rows: its record, its place in the schedule, and the body, which all endpoints of an organization
//! share and which is removed with the last delivery that refers to it. Keys are in [`crate::model::layout::outbox`].

use std::collections::{BTreeMap, BTreeSet};

use quorate_common::ids::{ActivityId, EndpointId, OrganizationId};

use crate::model::Millis;
pub use crate::model::delivery::{Delivery, EventBody, Parked};
use crate::model::layout::outbox::{self as layout, DeliveryId, Destination, Lane};
use crate::model::layout::{self as keys, Key};
use crate::model::record::Record;
use crate::model::write::Write;
use crate::notice::Notice;
use crate::refusal::Corrupt;
use crate::world::{Page, Records};

/// How many places of the schedule of a destination one look reads.
const LOOK: usize = 32;
/// How many keys are read at once where all are needed.
const PAGE: usize = 1024;
/// How many deliveries of an earlier version one step converts.
const CONVERTED_ROWS: usize = 64;
/// At this many bytes of bodies a step of the conversion ends.
const CONVERTED_BYTES: usize = 4 * 1024 * 1024;

/// Why a delivery is parked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParkedFor {
    /// The organization has more waiting than its limits allow.
    Limit,
    /// What is stored of it cannot be read.
    Unreadable,
}

/// Queues the deliveries of a state of an activity to receivers of one organization. The state is named by the organization
/// of the activity, the activity, and how many votes it had.
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
    for (endpoint, url) in receivers {
        let destination = Destination { organization, endpoint };
        let id = DeliveryId { destination, cause, activity, votes, size: body.size() };
        writes.extend(queue_one(&id, &Delivery { url, attempts: 0, due })?);
    }
    if !writes.is_empty() {
        writes.push(Write::put_new(layout::body(organization, activity, votes), body)?);
    }
    Ok(writes)
}

/// The rows of a delivery without its body.
fn queue_one(id: &DeliveryId, delivery: &Delivery) -> Result<[Write; 2], Corrupt> {
    Ok([Write::put_new(id.key(), delivery)?, Write::mark(id.scheduled(delivery.due), &[])])
}

/// The next destination behind this one, in the order of keys, for which something waits.
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

/// What a look at the schedule of a destination found.
#[derive(Default)]
pub struct Look {
    /// A delivery that is due and whose lane is free.
    pub due: Option<(DeliveryId, Delivery)>,
    /// Deliveries that cannot be read, and when they are due.
    pub unreadable: Vec<(DeliveryId, Option<Millis>)>,
    /// Corrections of the schedule: places of what waits for an earlier state of its activity, or is gone.
    pub corrections: Vec<Write>,
    /// When the first delivery is due that is not yet.
    pub next: Option<Millis>,
}

/// Looks for a delivery to start. Reads a bounded number of rows, however many wait.
///
/// # Errors
/// If the store cannot be read.
pub fn look(
    records: &dyn Records,
    destination: &Destination,
    now: Millis,
    is_busy: impl Fn(&Lane) -> bool,
) -> Result<Look, Corrupt> {
    let places = records.keys(Page::first(&destination.schedule(), LOOK))?;
    let mut look = Look::default();
    for place in places {
        let Some((due, id)) = DeliveryId::of_scheduled(&place) else {
            look.corrections.push(Write::remove(place));
            continue;
        };
        if due > now {
            look.next = Some(due);
            break;
        }
        if is_busy(&id.lane()) {
            continue;
        }
        if let Some(delivery) = look.at(records, place, due, &id)? {
            look.due = Some((id, delivery));
            break;
        }
    }
    Ok(look)
}

impl Look {
    /// The delivery at a place of the schedule, if it can be started.
    fn at(
        &mut self,
        records: &dyn Records,
        place: Key,
        due: Millis,
        id: &DeliveryId,
    ) -> Result<Option<Delivery>, Corrupt> {
        let lane = layout::lane(id);
        let first = records.keys(Page::first(&lane, 1))?;
        let first =
            first.first().and_then(|key| DeliveryId::of_key(key)).filter(|first| first.votes <= id.votes);
        let Some(first) = first else {
            // It ended, and only its place was left.
            self.corrections.push(Write::remove(place));
            return Ok(None);
        };
        let Some(delivery) = readable::<Delivery>(records.read(&first.key()))? else {
            self.add_unreadable(first, (first == *id).then_some(due));
            return Ok(None);
        };
        if first == *id && delivery.due <= due {
            return Ok(Some(Delivery { due, ..delivery }));
        }
        // It waits for an earlier state, or was postponed.
        self.corrections.push(Write::mark(first.scheduled(delivery.due), &[]));
        if delivery.due > due {
            self.corrections.push(Write::remove(place));
            if first != *id {
                self.follow(records, id, due, delivery.due)?;
            }
        }
        Ok(None)
    }

    /// Postpones a delivery to when an earlier state of its activity is due.
    fn follow(
        &mut self,
        records: &dyn Records,
        id: &DeliveryId,
        from: Millis,
        due: Millis,
    ) -> Result<(), Corrupt> {
        match readable::<Delivery>(records.read(&id.key()))? {
            Some(own) => {
                self.corrections.push(Write::put(id.key(), &Delivery { due, ..own })?);
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

/// A record; nothing if it is missing or damaged.
///
/// # Errors
/// If the store cannot be read, upon which nothing is known of the record.
pub fn readable<R: Record>(read: Result<Option<Vec<u8>>, Corrupt>) -> Result<Option<R>, Corrupt> {
    match read {
        Ok(bytes) => Ok(bytes.and_then(|bytes| R::decode(&bytes).ok())),
        Err(Corrupt::Record(_)) => Ok(None),
        Err(unknown) => Err(unknown),
    }
}

/// What to post for a delivery; nothing if it is missing or damaged.
///
/// # Errors
/// If the store cannot be read.
pub fn body(records: &dyn Records, id: &DeliveryId) -> Result<Option<Vec<u8>>, Corrupt> {
    match records.read(&id.body()) {
        // Sealed bytes are what was written: to parse them again would cost more than to post them.
        Ok(Some(mut bytes)) if bytes.first() == Some(&EventBody::VERSION) => {
            bytes.remove(0);
            Ok(Some(bytes))
        }
        Ok(_) | Err(Corrupt::Record(_)) => Ok(None),
        Err(unknown) => Err(unknown),
    }
}

/// The deliveries to an organization that one organization caused, those of its oldest activities, by keys alone.
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

/// When a delivery is due; nothing if its record is missing or damaged.
///
/// # Errors
/// If the store cannot be read.
pub fn due(records: &dyn Records, id: &DeliveryId) -> Result<Option<Millis>, Corrupt> {
    Ok(readable::<Delivery>(records.read(&id.key()))?.map(|delivery| delivery.due))
}

/// What an organization has waiting.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Deliveries.
    pub deliveries: usize,
    /// Bytes of bodies. A body for several endpoints counts once.
    pub bytes: u64,
}

impl Usage {
    /// Adds what came.
    pub const fn add(&mut self, more: Self) {
        self.deliveries = self.deliveries.saturating_add(more.deliveries);
        self.bytes = self.bytes.saturating_add(more.bytes);
    }

    /// Subtracts what is gone.
    pub const fn subtract(&mut self, gone: Self) {
        self.deliveries = self.deliveries.saturating_sub(gone.deliveries);
        self.bytes = self.bytes.saturating_sub(gone.bytes);
    }
}

/// Counts what an organization has waiting, by the organizations that caused it, by keys alone.
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

/// A page of the counts of parked deliveries behind a destination. Counts that cannot be read are left out.
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

/// What becomes of deliveries, collected for one commit.
#[derive(Default)]
pub struct Outcomes {
    writes: Vec<Write>,
    gone: BTreeSet<DeliveryId>,
    parked: BTreeMap<Destination, Vec<(ActivityId, ParkedFor)>>,
}

/// What to commit for [`Outcomes`], and what each organization has waiting less by it.
pub struct Batch {
    /// The writes.
    pub writes: Vec<Write>,
    /// What is gone, by the organization that had it waiting and the one that caused it.
    pub freed: BTreeMap<(OrganizationId, OrganizationId), Usage>,
}

impl Outcomes {
    /// Whether nothing is to be written.
    pub fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }

    /// A delivery ended: it was made, or given up.
    pub fn end(&mut self, id: DeliveryId, due: Option<Millis>) {
        self.writes.push(Write::remove(id.key()));
        self.writes.extend(due.map(|due| Write::remove(id.scheduled(due))));
        self.gone.insert(id);
    }

    /// A delivery is parked. Without its due time its place in the schedule is left, which a look then removes.
    pub fn park(&mut self, id: DeliveryId, due: Option<Millis>, why: ParkedFor) {
        self.end(id, due);
        self.parked.entry(id.destination).or_default().push((id.activity, why));
    }

    /// A delivery failed and is tried again at another time.
    ///
    /// # Errors
    /// If its record cannot be encoded.
    pub fn postpone(&mut self, id: &DeliveryId, from: Millis, delivery: &Delivery) -> Result<(), Corrupt> {
        self.writes.push(Write::remove(id.scheduled(from)));
        self.writes.push(Write::mark(id.scheduled(delivery.due), &[]));
        self.writes.push(Write::put(id.key(), delivery)?);
        Ok(())
    }

    /// Adds what follows: bodies that nothing refers to any more, and counts of what was parked.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn finish(mut self, records: &dyn Records, now: Millis) -> Result<Batch, Corrupt> {
        let mut freed: BTreeMap<_, Usage> = BTreeMap::new();
        let mut free = |id: &DeliveryId, usage| {
            freed.entry((id.destination.organization, id.cause)).or_default().add(usage);
        };
        for id in &self.gone {
            free(id, Usage { deliveries: 1, bytes: 0 });
        }
        for (id, bytes) in self.unused_bodies(records)? {
            self.writes.push(Write::remove(id.body()));
            free(&id, Usage { deliveries: 0, bytes });
        }
        for (destination, parked) in &self.parked {
            let place = destination.parked();
            let before = readable::<Parked>(records.read(&place))?;
            self.writes
                .extend(count(before, parked, now).map(|count| Write::put(place, &count)).transpose()?);
        }
        Ok(Batch { writes: self.writes, freed })
    }

    /// The bodies to which only deliveries refer that are gone, each named by one of these.
    fn unused_bodies(&self, records: &dyn Records) -> Result<Vec<(DeliveryId, u64)>, Corrupt> {
        let state = |id: &DeliveryId| (id.destination.organization, id.activity, id.votes);
        let ended: BTreeMap<_, _> = self.gone.iter().map(|id| (state(id), *id)).collect();
        let activities: BTreeSet<_> = ended.values().map(layout::deliveries_of).collect();
        let mut used = BTreeSet::new();
        for deliveries in activities {
            each_delivery(records, &deliveries, |id| {
                if !self.gone.contains(&id) {
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

/// A step of the conversion of what an earlier version stored.
#[derive(Default)]
pub struct Conversion {
    /// What to commit.
    pub writes: Vec<Write>,
    /// Where the next step begins; nothing when this was the last.
    pub next: Option<Key>,
    /// How many deliveries are converted.
    pub converted: u64,
    /// How many deliveries cannot be read. They stay where they are.
    pub unreadable: u64,
}

/// Converts deliveries that an earlier version stored, each with a body of its own, some at once.
///
/// # Errors
/// If the store cannot be read.
pub fn convert(records: &dyn Records, after: Option<&[u8]>) -> Result<Conversion, Corrupt> {
    let rows = records.keys(Page { after, ..Page::first(keys::NOTICES, CONVERTED_ROWS) })?;
    let mut conversion = Conversion::default();
    let (mut bodies, mut bytes) = (BTreeSet::new(), 0_usize);
    let full = rows.len() == CONVERTED_ROWS;
    let last = rows.last().cloned();
    for row in rows {
        let notice = readable::<Notice>(records.read(&row))?;
        let Some((notice, votes)) = notice.zip(keys::notice_votes(&row)) else {
            conversion.unreadable = conversion.unreadable.saturating_add(1);
            continue;
        };
        let Notice { receiver, endpoint, url, activity, body, attempts, due } = notice;
        let body = EventBody::from(body);
        let destination = Destination { organization: receiver, endpoint };
        let cause = body.organization().unwrap_or(receiver);
        let id = DeliveryId { destination, cause, activity, votes, size: body.size() };
        conversion.writes.extend(queue_one(&id, &Delivery { url, attempts, due })?);
        if bodies.insert(id.body()) && records.keys(Page::first(&id.body(), 1))?.is_empty() {
            conversion.writes.push(Write::put_new(id.body(), &body)?);
        }
        bytes = bytes.saturating_add(usize::try_from(body.size()).unwrap_or(usize::MAX));
        conversion.writes.push(Write::remove(row.clone()));
        conversion.converted = conversion.converted.saturating_add(1);
        if bytes >= CONVERTED_BYTES {
            conversion.next = Some(row);
            return Ok(conversion);
        }
    }
    conversion.next = last.filter(|_| full);
    Ok(conversion)
}
