//! Whose delivery is next: turns go round the organizations, and round the destinations of each, so that none waits for
//! the receivers of another. Only counts; reads nothing and delivers nothing.
//!
//! A tenant is an organization together with its sub-organizations. Each tenant has a share of the deliveries and of the
//! memory for bodies. Destinations that are not known to answer get one delivery at a time, and together at most half of
//! each share. A destination that is silent rests, and then gets one delivery as a trial.

use std::collections::{BTreeSet, HashMap, VecDeque};

use quorate_common::ids::OrganizationId;
use quorate_core::model::Millis;
use quorate_core::model::layout::outbox::Destination;

use super::schedule;

/// How many deliveries run at once.
pub const DELIVERIES: usize = 64;
/// How many run at once to a destination that answers.
const TO_ONE: usize = 8;
/// How many bytes of bodies are in memory at once. A larger body is delivered alone.
const BYTES: u64 = 64 * 1024 * 1024;
/// The share of a tenant. A larger body is delivered while no other of its tenant is.
const TENANT_BYTES: u64 = BYTES / 4;
/// At this many destinations, what is known of those that have nothing waiting is forgotten.
const REMEMBERED: usize = 8192;

/// How a receiver behaved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conduct {
    /// It answered.
    Answered,
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
    /// Whether the destination was not known to answer when it began.
    doubtful: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct Load {
    deliveries: usize,
    doubtful: usize,
    bytes: u64,
}

impl Load {
    fn add(&mut self, slot: &Slot) {
        self.deliveries = self.deliveries.saturating_add(1);
        self.doubtful = self.doubtful.saturating_add(usize::from(slot.doubtful));
        self.bytes = self.bytes.saturating_add(slot.size.into());
    }

    fn remove(&mut self, slot: &Slot) {
        self.deliveries = self.deliveries.saturating_sub(1);
        self.doubtful = self.doubtful.saturating_sub(usize::from(slot.doubtful));
        self.bytes = self.bytes.saturating_sub(slot.size.into());
    }

    /// Whether one more fits, of which at most half may be doubtful.
    fn has_room(&self, deliveries: usize, doubtful: bool) -> bool {
        self.deliveries < deliveries && (!doubtful || self.doubtful < deliveries.div_ceil(2))
    }

    fn takes(&self, size: u32, bytes: u64) -> bool {
        self.deliveries == 0 || self.bytes.saturating_add(size.into()) <= bytes
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
    answers: bool,
    /// Deliveries without an answer, one after the other.
    silent: u32,
    /// Length of the body that is next, if that is known.
    size: u32,
}

impl Line {
    const fn has_room(&self) -> bool {
        self.under_way < if self.answers { TO_ONE } else { 1 }
    }
}

#[derive(Default)]
struct Tenant {
    load: Load,
    /// Destinations that wait for a turn: those that answer, and the others.
    ready: [VecDeque<Destination>; 2],
    /// Which of the two had the last turn.
    last: usize,
}

impl Tenant {
    fn waits(&self) -> bool {
        self.ready.iter().any(|ready| !ready.is_empty())
    }
}

/// See the module.
pub struct Shares {
    /// Deliveries of a tenant that may run at once.
    deliveries: usize,
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
            deliveries,
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
            answers: false,
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
        let tenant = self.tenants.get_mut(&id)?;
        let first = usize::from(tenant.last == 0);
        for class in [first, usize::from(first == 0)] {
            let doubtful = class == 1;
            if !tenant.load.has_room(self.deliveries, doubtful) || !self.load.has_room(DELIVERIES, doubtful) {
                continue;
            }
            let Some(ready) = tenant.ready.get_mut(class) else { continue };
            let Some(destination) = ready.pop_front() else { continue };
            let size = self.lines.get(&destination).map_or(0, |line| line.size);
            if tenant.load.takes(size, TENANT_BYTES) && self.load.takes(size, BYTES) {
                tenant.last = class;
                return Some(destination);
            }
            ready.push_back(destination);
        }
        None
    }

    /// Starts a delivery with a body of this length; nothing if it must wait until others have ended.
    pub fn start(&mut self, destination: Destination, size: u32) -> Option<Slot> {
        let line = self.lines.get_mut(&destination)?;
        let tenant = self.tenants.entry(line.tenant).or_default();
        if !tenant.load.takes(size, TENANT_BYTES) || !self.load.takes(size, BYTES) {
            line.size = size;
            self.enter(destination, State::Ready);
            return None;
        }
        let slot = Slot { destination, size, doubtful: !line.answers };
        (line.size, line.under_way) = (0, line.under_way.saturating_add(1));
        tenant.load.add(&slot);
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

    /// Nothing can be started for a destination until a delivery to it ends, or something comes.
    pub fn idle(&mut self, destination: Destination) {
        let forget = self.lines.get(&destination).is_some_and(|line| !line.answers && line.under_way == 0);
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
        match conduct {
            Conduct::Answered => (line.answers, line.silent) = (true, 0),
            Conduct::Failed => (line.answers, line.silent) = (false, 0),
            // Deliveries that ran at once are one silence.
            Conduct::Silent if !resting => {
                (line.answers, line.silent) = (false, line.silent.saturating_add(1));
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
        if state != State::Ready || line.state != State::Ready || conduct == Conduct::Failed {
            self.enter(destination, state);
        }
        if let Some(tenant) = self.tenants.get_mut(&id) {
            tenant.load.remove(slot);
        }
        self.forget_tenant(id);
        fell_silent
    }

    /// Brings a destination into a state, and its place in the turns with it.
    fn enter(&mut self, destination: Destination, state: State) {
        let Some(line) = self.lines.get_mut(&destination) else { return };
        let before = std::mem::replace(&mut line.state, state);
        let (id, class) = (line.tenant, usize::from(!line.answers));
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
        if self.tenants.get(&id).is_some_and(|tenant| tenant.load.deliveries == 0 && !tenant.waits()) {
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
