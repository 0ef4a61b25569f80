//! Fair scheduling of deliveries. Tenants take turns, and so do the destinations of each tenant. No tenant
//! therefore waits for the receivers of another. This module only counts; it neither reads nor delivers.
//!
//! A tenant is an organization together with its sub-organizations. Each tenant has a share of the deliveries
//! and of the memory for bodies, and each of its organizations has a part of that share. A quarter of the deliveries is
//! kept for the parent. A destination that is not known to answer promptly gets one delivery at a time. Such destinations together get at most half
//! of each share; those known to be slow, failing or silent get at most a quarter. A silent destination is
//! paused, and then gets one trial delivery.

use std::collections::{BTreeSet, HashMap, VecDeque};

use quorate_common::ids::OrganizationId;
use quorate_core::model::Millis;
use quorate_core::model::layout::outbox::Destination;

use super::schedule;
use crate::load::{CLASSES, Load, Share, Trust};

/// Maximum number of concurrent deliveries.
pub const DELIVERIES: usize = 256;
/// Maximum number of concurrent deliveries to a destination that answers promptly.
const PER_DESTINATION: usize = 8;
/// Maximum number of bytes of bodies in memory. A larger body is delivered alone.
const BYTES: u64 = 64 * 1024 * 1024;
/// Limits for all deliveries together.
const ALL: Share = Share { deliveries: DELIVERIES, bytes: BYTES };
/// Bytes in the share of a tenant. A larger body is delivered alone within its tenant.
const TENANT_BYTES: u64 = BYTES / 4;
/// Divisor of a tenant's share that gives the part of one organization.
const ORGANIZATION_PART: usize = 4;
/// Divisor of a tenant's share that gives the part that sub-organizations leave to their parent.
const PARENT_PART: usize = 4;
/// Number of tracked destinations above which those without waiting deliveries are dropped.
const TRACKED: usize = 8192;

/// Behaviour of a receiver in one delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behavior {
    /// It answered promptly.
    Answered,
    /// It answered, but not promptly.
    Slow,
    /// It answered that it failed.
    Failed,
    /// It did not answer.
    Silent,
    /// It was not called.
    Untried,
}

/// A running delivery.
#[derive(Debug, Clone, Copy)]
pub struct Slot {
    destination: Destination,
    size: u32,
    /// Trust in the destination when the delivery began.
    trust: Trust,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// No delivery can be started.
    Idle,
    /// A delivery can be started; the destination waits to be selected.
    Ready,
    /// No delivery is due before this time.
    Resting(Millis),
    /// It did not answer and is not called before this time, even if new deliveries arrive.
    Silent(Millis),
}

/// A tracked destination.
struct DestinationEntry {
    tenant: OrganizationId,
    state: State,
    under_way: usize,
    trust: Trust,
    /// Number of deliveries without an answer in a row.
    silent: u32,
    /// Size of the next body, if it is known.
    size: u32,
}

impl DestinationEntry {
    fn has_room(&self) -> bool {
        self.under_way < if self.trust == Trust::Prompt { PER_DESTINATION } else { 1 }
    }
}

#[derive(Default)]
struct Tenant {
    load: Load,
    organizations: HashMap<OrganizationId, Load>,
    /// Deliveries of all sub-organizations together.
    of_children: Load,
    /// Destinations that wait to be selected, by trust.
    ready: [VecDeque<Destination>; CLASSES],
    /// Index of the trust that was selected last.
    last: usize,
}

impl Tenant {
    fn waits(&self) -> bool {
        self.ready.iter().any(|ready| !ready.is_empty())
    }

    /// Returns whether one more delivery to a destination fits into the share of the tenant, into its organization's part of
    /// that share, and into the part of all sub-organizations.
    fn has_room(&self, share: Share, destination: &Destination, entry: &DestinationEntry, size: u32) -> bool {
        let trust = entry.trust;
        let own = self.organizations.get(&destination.organization).copied().unwrap_or_default();
        let is_of_parent = destination.organization == entry.tenant;
        self.load.has_room(share, trust, size)
            && own.has_room(share.part(ORGANIZATION_PART), trust, size)
            && (is_of_parent || self.of_children.has_room(share.without(PARENT_PART), trust, size))
    }

    fn add(&mut self, slot: &Slot, is_of_parent: bool) {
        self.load.add(slot.trust, slot.size);
        if !is_of_parent {
            self.of_children.add(slot.trust, slot.size);
        }
        let own = self.organizations.entry(slot.destination.organization).or_default();
        own.add(slot.trust, slot.size);
    }

    fn remove(&mut self, slot: &Slot, is_of_parent: bool) {
        self.load.remove(slot.trust, slot.size);
        if !is_of_parent {
            self.of_children.remove(slot.trust, slot.size);
        }
        let organization = slot.destination.organization;
        if let Some(load) = self.organizations.get_mut(&organization) {
            load.remove(slot.trust, slot.size);
            if load.is_empty() {
                self.organizations.remove(&organization);
            }
        }
    }
}

/// The shares of all tenants.
pub struct Shares {
    /// Share of each tenant.
    share: Share,
    destinations: HashMap<Destination, DestinationEntry>,
    tenants: HashMap<OrganizationId, Tenant>,
    /// Tenants that wait to be selected, each once.
    queue: VecDeque<OrganizationId>,
    resting: BTreeSet<(Millis, Destination)>,
    load: Load,
}

impl Shares {
    /// Creates shares with this many deliveries per tenant.
    pub fn new(deliveries: usize) -> Self {
        Self {
            share: Share { deliveries, bytes: TENANT_BYTES },
            destinations: HashMap::new(),
            tenants: HashMap::new(),
            queue: VecDeque::new(),
            resting: BTreeSet::new(),
            load: Load::default(),
        }
    }

    /// Records that a delivery to a destination may be due. A silent destination stays paused.
    pub fn wake(&mut self, destination: Destination, tenant: impl FnOnce() -> OrganizationId) {
        self.limit_entries();
        let entry = self.destinations.entry(destination).or_insert_with(|| DestinationEntry {
            tenant: tenant(),
            state: State::Idle,
            under_way: 0,
            trust: Trust::Unknown,
            silent: 0,
            size: 0,
        });
        let may_wake = match entry.state {
            State::Idle | State::Resting(_) => true,
            State::Ready | State::Silent(_) => false,
        };
        if may_wake && entry.has_room() {
            self.enter(destination, State::Ready);
        }
    }

    /// Like [`Self::wake`], and ends the pause of a silent destination: an operator requested a delivery.
    pub fn rouse(&mut self, destination: Destination, tenant: impl FnOnce() -> OrganizationId) {
        self.wake(destination, tenant);
        let is_silent = self
            .destinations
            .get(&destination)
            .is_some_and(|entry| matches!(entry.state, State::Silent(_)) && entry.has_room());
        if is_silent {
            self.enter(destination, State::Ready);
        }
    }

    /// Returns whether the destination is known to have waiting or running deliveries.
    pub fn is_awake(&self, destination: &Destination) -> bool {
        self.destinations
            .get(destination)
            .is_some_and(|entry| entry.state != State::Idle || entry.under_way > 0)
    }

    /// Ends the pauses that are over.
    pub fn tick(&mut self, now: Millis) {
        while let Some((_, destination)) = self.resting.first().filter(|(until, _)| *until <= now).copied() {
            let has_room = self.destinations.get(&destination).is_some_and(DestinationEntry::has_room);
            self.enter(destination, if has_room { State::Ready } else { State::Idle });
        }
    }

    /// Returns the end of the earliest pause.
    pub fn next(&self) -> Option<Millis> {
        self.resting.first().map(|(until, _)| *until)
    }

    /// Selects the next destination. The caller then starts a delivery, or reports why there is no destination.
    pub fn select(&mut self) -> Option<Destination> {
        for _ in 0..self.queue.len() {
            let id = self.queue.pop_front()?;
            let selected = self.select_of(id);
            if self.tenants.get(&id).is_some_and(Tenant::waits) {
                self.queue.push_back(id);
            }
            if let Some(destination) = selected {
                if let Some(entry) = self.destinations.get_mut(&destination) {
                    entry.state = State::Idle;
                }
                return Some(destination);
            }
        }
        None
    }

    fn select_of(&mut self, id: OrganizationId) -> Option<Destination> {
        let Self { share, destinations, tenants, load, .. } = self;
        let tenant = tenants.get_mut(&id)?;
        let last = tenant.last;
        for class in (1..=CLASSES).map(|step| last.saturating_add(step) % CLASSES) {
            let fits = |destination: &Destination| {
                destinations.get(destination).is_some_and(|entry| {
                    tenant.has_room(*share, destination, entry, entry.size)
                        && load.has_room(ALL, entry.trust, entry.size)
                })
            };
            let position = tenant.ready.get(class).and_then(|ready| ready.iter().position(fits));
            let Some(position) = position else { continue };
            tenant.last = class;
            return tenant.ready.get_mut(class)?.remove(position);
        }
        None
    }

    /// Starts a delivery with a body of this size. Returns `None` if it must wait until others have ended.
    pub fn start(&mut self, destination: Destination, size: u32) -> Option<Slot> {
        let entry = self.destinations.get_mut(&destination)?;
        let tenant = self.tenants.entry(entry.tenant).or_default();
        let has_room = tenant.has_room(self.share, &destination, entry, size)
            && self.load.has_room(ALL, entry.trust, size);
        if !has_room {
            entry.size = size;
            self.enter(destination, State::Ready);
            return None;
        }
        let slot = Slot { destination, size, trust: entry.trust };
        (entry.size, entry.under_way) = (0, entry.under_way.saturating_add(1));
        tenant.add(&slot, destination.organization == entry.tenant);
        self.load.add(slot.trust, slot.size);
        if entry.has_room() {
            self.enter(destination, State::Ready);
        }
        Some(slot)
    }

    /// Records that nothing is due for a destination before this time.
    pub fn rest(&mut self, destination: Destination, until: Millis) {
        self.enter(destination, State::Resting(until));
    }

    /// Records that nothing can be started for a destination until a delivery to it ends or a new one
    /// arrives. Removes the destination if its trust is unknown.
    pub fn idle(&mut self, destination: Destination) {
        let forget = self
            .destinations
            .get(&destination)
            .is_some_and(|entry| entry.trust == Trust::Unknown && entry.under_way == 0);
        self.enter(destination, State::Idle);
        if forget {
            self.destinations.remove(&destination);
        }
    }

    /// Records the end of a delivery. Returns whether this was the first missing answer of the receiver.
    pub fn end(&mut self, slot: &Slot, behavior: Behavior, now: Millis) -> bool {
        self.load.remove(slot.trust, slot.size);
        let destination = slot.destination;
        let Some(entry) = self.destinations.get_mut(&destination) else { return false };
        entry.under_way = entry.under_way.saturating_sub(1);
        let id = entry.tenant;
        let fell_silent = behavior == Behavior::Silent && entry.silent == 0;
        let resting = matches!(entry.state, State::Silent(_));
        let before = entry.trust;
        match behavior {
            // A delivery that began before another one was slow does not restore the trust; a later one must.
            Behavior::Answered if slot.trust == Trust::Prompt && entry.trust == Trust::Doubtful => {
                entry.silent = 0;
            }
            Behavior::Answered => (entry.trust, entry.silent) = (Trust::Prompt, 0),
            Behavior::Slow | Behavior::Failed => (entry.trust, entry.silent) = (Trust::Doubtful, 0),
            // Concurrent deliveries without an answer count once.
            Behavior::Silent if !resting => {
                (entry.trust, entry.silent) = (Trust::Doubtful, entry.silent.saturating_add(1));
            }
            Behavior::Silent | Behavior::Untried => {}
        }
        let state = match (behavior, resting) {
            (Behavior::Silent, false) => State::Silent(schedule::after_silence(entry.silent, now)),
            (Behavior::Silent | Behavior::Untried, true) => entry.state,
            _ if entry.has_room() => State::Ready,
            _ => State::Idle,
        };
        // A destination with unchanged behaviour keeps its position.
        if state != State::Ready || entry.state != State::Ready || entry.trust != before {
            self.enter(destination, state);
        }
        if let Some(tenant) = self.tenants.get_mut(&id) {
            tenant.remove(slot, destination.organization == id);
        }
        self.forget_tenant(id);
        fell_silent
    }

    /// Changes the state of a destination, and its position in the queues accordingly.
    fn enter(&mut self, destination: Destination, state: State) {
        let Some(entry) = self.destinations.get_mut(&destination) else { return };
        let before = std::mem::replace(&mut entry.state, state);
        let (id, class) = (entry.tenant, entry.trust as usize);
        match before {
            State::Resting(until) | State::Silent(until) => drop(self.resting.remove(&(until, destination))),
            State::Ready => {
                if let Some(tenant) = self.tenants.get_mut(&id) {
                    tenant.ready.iter_mut().for_each(|ready| ready.retain(|other| *other != destination));
                    if !tenant.waits() {
                        self.queue.retain(|other| *other != id);
                    }
                }
            }
            State::Idle => {}
        }
        match state {
            State::Resting(until) | State::Silent(until) => drop(self.resting.insert((until, destination))),
            State::Ready => {
                let tenant = self.tenants.entry(id).or_default();
                if !tenant.waits() {
                    self.queue.push_back(id);
                }
                if let Some(ready) = tenant.ready.get_mut(class) {
                    ready.push_back(destination);
                }
            }
            State::Idle => self.forget_tenant(id),
        }
    }

    fn forget_tenant(&mut self, id: OrganizationId) {
        if self.tenants.get(&id).is_some_and(|tenant| tenant.load.is_empty() && !tenant.waits()) {
            self.tenants.remove(&id);
        }
    }

    fn limit_entries(&mut self) {
        if self.destinations.len() >= TRACKED {
            self.destinations.retain(|_, entry| entry.state != State::Idle || entry.under_way > 0);
        }
    }
}

#[cfg(test)]
mod tests;
