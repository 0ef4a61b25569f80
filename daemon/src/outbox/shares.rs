//! Whose delivery is next: turns go round the organizations, and round the destinations of each, so that none waits for
//! the receivers of another. Only counts; reads nothing and delivers nothing.
//!
//! A tenant is an organization together with its sub-organizations. Each tenant has a share of the deliveries and of the
//! memory for bodies, and each of its organizations a part of that share. Destinations that are not known to answer
//! promptly get one delivery at a time, and together at most half of each share; those known to be slow, failing or silent
//! at most a quarter. A destination that is silent rests, and then gets one delivery as a trial.

use std::collections::{BTreeSet, HashMap, VecDeque};

use quorate_common::ids::OrganizationId;
use quorate_core::model::Millis;
use quorate_core::model::layout::outbox::Destination;

use super::schedule;

/// How many deliveries run at once.
pub const DELIVERIES: usize = 256;
/// How many run at once to a destination that answers promptly.
const TO_ONE: usize = 8;
/// How many bytes of bodies are in memory at once. A larger body is delivered alone.
const BYTES: u64 = 64 * 1024 * 1024;
/// All that may run at once.
const ALL: Share = Share { deliveries: DELIVERIES, bytes: BYTES };
/// The share of a tenant. A larger body is delivered while no other of its tenant is.
const TENANT_BYTES: u64 = BYTES / 4;
/// How many kinds of [`Trust`] there are.
const CLASSES: usize = 3;
/// The part of the share of a tenant that one organization has, of deliveries and of bytes: one in so many.
const ORGANIZATION_PART: usize = 4;
/// At this many destinations, what is known of those that have nothing waiting is forgotten.
const REMEMBERED: usize = 8192;

/// How a receiver behaved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conduct {
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

/// A delivery that runs.
#[derive(Debug, Clone, Copy)]
pub struct Slot {
    destination: Destination,
    size: u32,
    /// What was known of the destination when it began.
    trust: Trust,
}

/// What is known of a destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Trust {
    /// It answered promptly.
    Prompt,
    /// It has not been called yet.
    Unknown,
    /// It was slow, failed or did not answer.
    Doubtful,
}

impl Trust {
    const ALL: [Self; CLASSES] = [Self::Prompt, Self::Unknown, Self::Doubtful];

    /// The part of a share that destinations of this trust and of less have together: one in so many.
    const fn part(self) -> usize {
        match self {
            Self::Prompt => 1,
            Self::Unknown => 2,
            Self::Doubtful => 4,
        }
    }
}

/// A share: deliveries that may run, and bytes of their bodies.
#[derive(Debug, Clone, Copy)]
struct Share {
    deliveries: usize,
    bytes: u64,
}

impl Share {
    /// One part of so many; at least one delivery.
    fn part(self, of: usize) -> Self {
        let bytes = self.bytes.checked_div(of as u64).unwrap_or(self.bytes);
        Self { deliveries: self.deliveries.div_ceil(of), bytes }
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Held {
    deliveries: usize,
    bytes: u64,
}

/// What runs, for each trust together with all of less trust.
#[derive(Debug, Clone, Copy, Default)]
struct Load([Held; CLASSES]);

impl Load {
    fn add(&mut self, slot: &Slot) {
        for (_, held) in self.charged(slot.trust) {
            held.deliveries = held.deliveries.saturating_add(1);
            held.bytes = held.bytes.saturating_add(slot.size.into());
        }
    }

    fn remove(&mut self, slot: &Slot) {
        for (_, held) in self.charged(slot.trust) {
            held.deliveries = held.deliveries.saturating_sub(1);
            held.bytes = held.bytes.saturating_sub(slot.size.into());
        }
    }

    /// What a delivery to a destination of this trust counts for.
    fn charged(&mut self, trust: Trust) -> impl Iterator<Item = (Trust, &mut Held)> {
        Trust::ALL.into_iter().zip(&mut self.0).filter(move |(of, _)| *of <= trust)
    }

    /// Whether one more with a body of this length fits into a share. A body that is larger goes alone.
    fn has_room(mut self, share: Share, trust: Trust, size: u32) -> bool {
        self.charged(trust).all(|(of, held)| {
            let part = share.part(of.part());
            held.deliveries == 0
                || (held.deliveries < part.deliveries && held.bytes.saturating_add(size.into()) <= part.bytes)
        })
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|held| held.deliveries == 0)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing is to be started.
    Idle,
    /// It waits for its turn.
    Ready,
    /// Nothing is due until then.
    Resting(Millis),
    /// It was silent and is not called until then, whatever comes.
    Silent(Millis),
}

struct Line {
    tenant: OrganizationId,
    state: State,
    under_way: usize,
    trust: Trust,
    /// Deliveries without an answer, one after the other.
    silent: u32,
    /// Length of the body that is next, if that is known.
    size: u32,
}

impl Line {
    fn has_room(&self) -> bool {
        self.under_way < if self.trust == Trust::Prompt { TO_ONE } else { 1 }
    }
}

#[derive(Default)]
struct Tenant {
    load: Load,
    organizations: HashMap<OrganizationId, Load>,
    /// Destinations that wait for a turn, by what is known of them.
    ready: [VecDeque<Destination>; CLASSES],
    /// Which of these had the last turn.
    last: usize,
}

impl Tenant {
    fn waits(&self) -> bool {
        self.ready.iter().any(|ready| !ready.is_empty())
    }

    /// Whether one more delivery to this organization fits into the share of the tenant and into its part of that.
    fn has_room(&self, share: Share, organization: OrganizationId, trust: Trust, size: u32) -> bool {
        let own = self.organizations.get(&organization).copied().unwrap_or_default();
        self.load.has_room(share, trust, size) && own.has_room(share.part(ORGANIZATION_PART), trust, size)
    }

    fn add(&mut self, slot: &Slot) {
        self.load.add(slot);
        self.organizations.entry(slot.destination.organization).or_default().add(slot);
    }

    fn remove(&mut self, slot: &Slot) {
        self.load.remove(slot);
        let organization = slot.destination.organization;
        if let Some(load) = self.organizations.get_mut(&organization) {
            load.remove(slot);
            if load.is_empty() {
                self.organizations.remove(&organization);
            }
        }
    }
}

/// See the module.
pub struct Shares {
    /// The share of a tenant.
    share: Share,
    lines: HashMap<Destination, Line>,
    tenants: HashMap<OrganizationId, Tenant>,
    /// Tenants that wait for a turn, each once.
    turns: VecDeque<OrganizationId>,
    resting: BTreeSet<(Millis, Destination)>,
    load: Load,
}

impl Shares {
    /// Shares of so many deliveries for a tenant.
    pub fn new(deliveries: usize) -> Self {
        Self {
            share: Share { deliveries, bytes: TENANT_BYTES },
            lines: HashMap::new(),
            tenants: HashMap::new(),
            turns: VecDeque::new(),
            resting: BTreeSet::new(),
            load: Load::default(),
        }
    }

    /// Something may be due for a destination. What rests because it was silent goes on resting.
    pub fn wake(&mut self, destination: Destination, tenant: impl FnOnce() -> OrganizationId) {
        self.make_room();
        let line = self.lines.entry(destination).or_insert_with(|| Line {
            tenant: tenant(),
            state: State::Idle,
            under_way: 0,
            trust: Trust::Unknown,
            silent: 0,
            size: 0,
        });
        let may_wake = match line.state {
            State::Idle | State::Resting(_) => true,
            State::Ready | State::Silent(_) => false,
        };
        if may_wake && line.has_room() {
            self.enter(destination, State::Ready);
        }
    }

    /// Whether something is known to wait for a destination.
    pub fn is_awake(&self, destination: &Destination) -> bool {
        self.lines.get(destination).is_some_and(|line| line.state != State::Idle || line.under_way > 0)
    }

    /// Ends the rests that are over.
    pub fn tick(&mut self, now: Millis) {
        while let Some((_, destination)) = self.resting.first().filter(|(until, _)| *until <= now).copied() {
            let has_room = self.lines.get(&destination).is_some_and(Line::has_room);
            self.enter(destination, if has_room { State::Ready } else { State::Idle });
        }
    }

    /// When the next rest is over.
    pub fn next(&self) -> Option<Millis> {
        self.resting.first().map(|(until, _)| *until)
    }

    /// The destination whose turn it is. The caller then starts a delivery, or says why there is none.
    pub fn turn(&mut self) -> Option<Destination> {
        for _ in 0..self.turns.len() {
            let id = self.turns.pop_front()?;
            let found = self.turn_of(id);
            if self.tenants.get(&id).is_some_and(Tenant::waits) {
                self.turns.push_back(id);
            }
            if let Some(destination) = found {
                if let Some(line) = self.lines.get_mut(&destination) {
                    line.state = State::Idle;
                }
                return Some(destination);
            }
        }
        None
    }

    fn turn_of(&mut self, id: OrganizationId) -> Option<Destination> {
        let Self { share, lines, tenants, load, .. } = self;
        let tenant = tenants.get_mut(&id)?;
        let last = tenant.last;
        for class in (1..=CLASSES).map(|step| last.saturating_add(step) % CLASSES) {
            let fits = |destination: &Destination| {
                lines.get(destination).is_some_and(|line| {
                    tenant.has_room(*share, destination.organization, line.trust, line.size)
                        && load.has_room(ALL, line.trust, line.size)
                })
            };
            let position = tenant.ready.get(class).and_then(|ready| ready.iter().position(fits));
            let Some(position) = position else { continue };
            tenant.last = class;
            return tenant.ready.get_mut(class)?.remove(position);
        }
        None
    }

    /// Starts a delivery with a body of this length; nothing if it must wait until others have ended.
    pub fn start(&mut self, destination: Destination, size: u32) -> Option<Slot> {
        let line = self.lines.get_mut(&destination)?;
        let tenant = self.tenants.entry(line.tenant).or_default();
        let has_room = tenant.has_room(self.share, destination.organization, line.trust, size)
            && self.load.has_room(ALL, line.trust, size);
        if !has_room {
            line.size = size;
            self.enter(destination, State::Ready);
            return None;
        }
        let slot = Slot { destination, size, trust: line.trust };
        (line.size, line.under_way) = (0, line.under_way.saturating_add(1));
        tenant.add(&slot);
        self.load.add(&slot);
        if line.has_room() {
            self.enter(destination, State::Ready);
        }
        Some(slot)
    }

    /// Nothing is due for a destination before then.
    pub fn rest(&mut self, destination: Destination, until: Millis) {
        self.enter(destination, State::Resting(until));
    }

    /// Nothing can be started for a destination until a delivery to it ends, or something comes. Forgets it if nothing is
    /// known of it.
    pub fn idle(&mut self, destination: Destination) {
        let forget = self
            .lines
            .get(&destination)
            .is_some_and(|line| line.trust == Trust::Unknown && line.under_way == 0);
        self.enter(destination, State::Idle);
        if forget {
            self.lines.remove(&destination);
        }
    }

    /// A delivery ended. Returns whether the receiver just fell silent.
    pub fn end(&mut self, slot: &Slot, conduct: Conduct, now: Millis) -> bool {
        self.load.remove(slot);
        let destination = slot.destination;
        let Some(line) = self.lines.get_mut(&destination) else { return false };
        line.under_way = line.under_way.saturating_sub(1);
        let id = line.tenant;
        let fell_silent = conduct == Conduct::Silent && line.silent == 0;
        let resting = matches!(line.state, State::Silent(_));
        let before = line.trust;
        match conduct {
            // What began before another delivery was slow restores nothing: that takes a later one.
            Conduct::Answered if slot.trust == Trust::Prompt && line.trust == Trust::Doubtful => {
                line.silent = 0;
            }
            Conduct::Answered => (line.trust, line.silent) = (Trust::Prompt, 0),
            Conduct::Slow | Conduct::Failed => (line.trust, line.silent) = (Trust::Doubtful, 0),
            // Deliveries that ran at once are one silence.
            Conduct::Silent if !resting => {
                (line.trust, line.silent) = (Trust::Doubtful, line.silent.saturating_add(1));
            }
            Conduct::Silent | Conduct::Untried => {}
        }
        let state = match (conduct, resting) {
            (Conduct::Silent, false) => State::Silent(schedule::after_silence(line.silent, now)),
            (Conduct::Silent | Conduct::Untried, true) => line.state,
            _ if line.has_room() => State::Ready,
            _ => State::Idle,
        };
        // One that answers as before keeps its place.
        if state != State::Ready || line.state != State::Ready || line.trust != before {
            self.enter(destination, state);
        }
        if let Some(tenant) = self.tenants.get_mut(&id) {
            tenant.remove(slot);
        }
        self.forget_tenant(id);
        fell_silent
    }

    /// Brings a destination into a state, and its place in the turns with it.
    fn enter(&mut self, destination: Destination, state: State) {
        let Some(line) = self.lines.get_mut(&destination) else { return };
        let before = std::mem::replace(&mut line.state, state);
        let (id, class) = (line.tenant, line.trust as usize);
        match before {
            State::Resting(until) | State::Silent(until) => drop(self.resting.remove(&(until, destination))),
            State::Ready => {
                if let Some(tenant) = self.tenants.get_mut(&id) {
                    tenant.ready.iter_mut().for_each(|ready| ready.retain(|other| *other != destination));
                    if !tenant.waits() {
                        self.turns.retain(|other| *other != id);
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
                    self.turns.push_back(id);
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

    fn make_room(&mut self) {
        if self.lines.len() >= REMEMBERED {
            self.lines.retain(|_, line| line.state != State::Idle || line.under_way > 0);
        }
    }
}

#[cfg(test)]
mod tests;
