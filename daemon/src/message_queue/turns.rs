//! The order in which messages are sent. Tenants take turns, so do the organizations of each tenant, and so do the
//! receivers of each organization. A receiver that is slow, or an organization with many messages, therefore delays
//! its own messages only. This module only counts; it neither reads nor sends.
//!
//! A tenant is a top-level organization together with its sub-organizations. All messages together, those of a tenant
//! and those of an organization have a share of the connections each. Receivers that are not known to answer promptly
//! together get at most half of each share, and those known to be slow at most a quarter. Such a receiver gets one
//! message at a time.

mod displacement;
mod scope;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use quorate_common::ids::OrganizationId;
use quorate_core::model::Millis;
use quorate_core::model::message_event::SenderGroup;
use quorate_core::model::queued_message::{MessageId, MessageSource, QueuedMessage, Receiver};

use self::scope::Scope;
use crate::load::{Load, Share, Trust};

/// Maximum number of messages of a channel that are sent at once.
pub const CONCURRENT: usize = 32;
/// Limits for all messages together.
const ALL: Share = Share { deliveries: CONCURRENT, bytes: u64::MAX };
/// Limits for the messages of a tenant.
const TENANT: Share = Share { deliveries: CONCURRENT / 2, bytes: u64::MAX };
/// Limits for the messages of an organization.
const ORGANIZATION: Share = Share { deliveries: CONCURRENT / 4, bytes: u64::MAX };
/// Maximum number of messages to a receiver that answers promptly.
const PER_RECEIVER: usize = 8;
/// Number of receivers whose behaviour is known, above which that of idle ones is forgotten.
const RECEIVERS: usize = 8192;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Its next attempt is due at this time.
    Later(Millis),
    /// Its next attempt is due.
    Ready,
    /// It is being sent. Contains the trust in its receiver when that began.
    Running(Trust),
    /// It was sent or has expired, and this is not recorded yet.
    Ended,
    /// New messages displaced it, and this is not recorded yet.
    Displaced,
}

struct Entry {
    message: QueuedMessage,
    state: State,
}

#[derive(Default)]
struct Organization {
    load: Load,
    scope: Scope,
    /// Receivers with ready messages, each once.
    rotation: VecDeque<Receiver>,
    /// Ready messages. They may include some that have ended.
    ready: HashMap<Receiver, VecDeque<MessageId>>,
}

#[derive(Default)]
struct Tenant {
    load: Load,
    /// Messages of each group of senders.
    groups: BTreeMap<Option<SenderGroup>, Scope>,
    /// Organizations with ready messages, each once.
    rotation: VecDeque<OrganizationId>,
    organizations: HashMap<OrganizationId, Organization>,
}

/// What is known about a receiver.
struct Known {
    running: usize,
    trust: Trust,
}

/// The queued messages of a channel, in the order in which they are sent.
#[derive(Default)]
pub struct Turns {
    messages: HashMap<MessageId, Entry>,
    tenants: HashMap<OrganizationId, Tenant>,
    /// Tenants with ready messages, each once.
    rotation: VecDeque<OrganizationId>,
    receivers: HashMap<Receiver, Known>,
    load: Load,
    /// Messages that are not due yet.
    later: BTreeSet<(Millis, MessageId)>,
    /// Messages that expire and neither run nor have ended.
    expiring: BTreeSet<(Millis, MessageId)>,
    /// Sources that may exceed their shares: those of messages that were added or delayed.
    grown: BTreeSet<MessageSource>,
    /// Number of delayed messages.
    delayed: usize,
    /// Since when the server of the channel is unavailable.
    unavailable: Option<Millis>,
}

/// The queued messages of all tenants in figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backlog {
    /// Messages that wait.
    pub waiting: usize,
    /// Those that their receiver's server delayed.
    pub delayed: usize,
    /// Earliest time of the next attempt.
    pub next: Option<Millis>,
    /// Since when the server of the channel is unavailable.
    pub unavailable: Option<Millis>,
}

impl Turns {
    /// Adds a message, unless it is known.
    pub fn add(&mut self, message: QueuedMessage) {
        let QueuedMessage { id, tenant, organization, due, expires, .. } = message;
        if self.messages.contains_key(&id) {
            return;
        }
        self.messages.insert(id, Entry { message, state: State::Later(due) });
        self.delayed = self.delayed.saturating_add(usize::from(message.is_delayed));
        self.later.insert((due, id));
        self.expiring.extend(expires.map(|end| (end, id)));
        self.tenants.entry(tenant).or_default().organizations.entry(organization).or_default();
        self.each_scope(&message, |scope| scope.add(&message));
        self.grown.insert(message.source());
    }

    /// Changes the counts of the group and of the organization of a message.
    fn each_scope(&mut self, message: &QueuedMessage, change: impl Fn(&mut Scope)) {
        let Some(tenant) = self.tenants.get_mut(&message.tenant) else { return };
        change(tenant.groups.entry(message.group).or_default());
        if let Some(organization) = tenant.organizations.get_mut(&message.organization) {
            change(&mut organization.scope);
        }
    }

    /// Makes the messages ready that are due now.
    pub fn tick(&mut self, now: Millis) {
        while let Some((_, id)) = self.later.first().filter(|(due, _)| *due <= now).copied() {
            self.later.pop_first();
            let Some(entry) = self.messages.get_mut(&id) else { continue };
            entry.state = State::Ready;
            let QueuedMessage { tenant: tenant_id, organization: organization_id, receiver, .. } =
                entry.message;
            let tenant = self.tenants.entry(tenant_id).or_default();
            let organization = tenant.organizations.entry(organization_id).or_default();
            if tenant.rotation.is_empty() {
                self.rotation.push_back(tenant_id);
            }
            if organization.rotation.is_empty() {
                tenant.rotation.push_back(organization_id);
            }
            let ready = organization.ready.entry(receiver).or_default();
            if ready.is_empty() {
                organization.rotation.push_back(receiver);
            }
            ready.push_back(id);
        }
    }

    /// Returns the earliest time at which a message is due or expires.
    pub fn next(&self) -> Option<Millis> {
        [self.later.first(), self.expiring.first()].into_iter().flatten().map(|(time, _)| *time).min()
    }

    /// Returns the earliest time at which a message expires.
    pub fn next_end(&self) -> Option<Millis> {
        self.expiring.first().map(|(time, _)| *time)
    }

    /// Takes some of the messages that have expired. The caller then records this.
    pub fn take_expired(&mut self, now: Millis, most: usize) -> Vec<MessageId> {
        let expired: Vec<_> =
            self.expiring.iter().take_while(|(end, _)| *end <= now).take(most).map(|(_, id)| *id).collect();
        for id in &expired {
            self.set_ended(*id);
        }
        expired
    }

    /// Selects the next message to send. The caller then sends it, or reports why it does not.
    pub fn select(&mut self) -> Option<QueuedMessage> {
        if !self.load.has_room(ALL, Trust::Prompt, 0) {
            return None;
        }
        for _ in 0..self.rotation.len() {
            let id = self.rotation.pop_front()?;
            let selected = self.select_of(id);
            if self.tenants.get(&id).is_some_and(|tenant| !tenant.rotation.is_empty()) {
                self.rotation.push_back(id);
            }
            if let Some((message, trust)) = selected {
                self.start(&message, trust);
                return Some(message);
            }
        }
        None
    }

    /// Selects the next message of a tenant whose receiver has room.
    fn select_of(&mut self, tenant: OrganizationId) -> Option<(QueuedMessage, Trust)> {
        let Self { messages, tenants, receivers, load, .. } = self;
        let tenant = tenants.get_mut(&tenant)?;
        if !tenant.load.has_room(TENANT, Trust::Prompt, 0) {
            return None;
        }
        for _ in 0..tenant.rotation.len() {
            let id = tenant.rotation.pop_front()?;
            let Some(organization) = tenant.organizations.get_mut(&id) else { continue };
            let trust_of = |receiver: &Receiver, own: Load| {
                let known = receivers.get(receiver);
                let trust = known.map_or(Trust::Unknown, |known| known.trust);
                let most = if trust == Trust::Prompt { PER_RECEIVER } else { 1 };
                let has_room = known.is_none_or(|known| known.running < most)
                    && own.has_room(ORGANIZATION, trust, 0)
                    && tenant.load.has_room(TENANT, trust, 0)
                    && load.has_room(ALL, trust, 0);
                has_room.then_some(trust)
            };
            let selected = organization.select(messages, trust_of);
            if !organization.rotation.is_empty() {
                tenant.rotation.push_back(id);
            }
            if selected.is_some() {
                return selected;
            }
        }
        None
    }

    /// Counts a message as being sent.
    fn start(&mut self, message: &QueuedMessage, trust: Trust) {
        self.load.add(trust, 0);
        if let Some(tenant) = self.tenants.get_mut(&message.tenant) {
            tenant.load.add(trust, 0);
            if let Some(organization) = tenant.organizations.get_mut(&message.organization) {
                organization.load.add(trust, 0);
            }
        }
        if self.receivers.len() >= RECEIVERS {
            self.receivers.retain(|_, known| known.running > 0);
        }
        let known = self.receivers.entry(message.receiver).or_insert(Known { running: 0, trust });
        known.running = known.running.saturating_add(1);
        self.set_ended(message.id);
        self.set_state(message.id, State::Running(trust));
    }

    /// Records the end of sending a message, and whether its receiver was prompt, if that is known. The outcome is not
    /// recorded yet.
    pub fn end(&mut self, id: MessageId, is_prompt: Option<bool>) {
        let Some(Entry { message, state: State::Running(trust) }) = self.messages.get(&id) else { return };
        let (message, trust) = (*message, *trust);
        self.set_state(id, State::Ended);
        self.load.remove(trust, 0);
        if let Some(tenant) = self.tenants.get_mut(&message.tenant) {
            tenant.load.remove(trust, 0);
            if let Some(organization) = tenant.organizations.get_mut(&message.organization) {
                organization.load.remove(trust, 0);
            }
        }
        let Some(known) = self.receivers.get_mut(&message.receiver) else { return };
        known.running = known.running.saturating_sub(1);
        match is_prompt {
            // A message that was begun before another one was slow does not restore the trust; a later one must.
            Some(true) if trust == Trust::Prompt && known.trust == Trust::Doubtful => {}
            Some(true) => known.trust = Trust::Prompt,
            Some(false) => known.trust = Trust::Doubtful,
            None => {}
        }
    }

    /// Schedules the next attempt of a message that ended. `is_delayed` states whether the last one failed because of its
    /// receiver.
    pub fn postpone(&mut self, id: MessageId, due: Millis, is_delayed: bool) {
        let Some(entry) = self.messages.get_mut(&id) else { return };
        if entry.state != State::Ended {
            return;
        }
        (entry.state, entry.message.due) = (State::Later(due), due);
        let is_new = is_delayed && !entry.message.is_delayed;
        entry.message.is_delayed |= is_delayed;
        self.delayed = self.delayed.saturating_add(usize::from(is_new));
        let message = entry.message;
        self.expiring.extend(message.expires.map(|end| (end, id)));
        self.later.insert((due, id));
        if message.is_delayed {
            self.each_scope(&message, |scope| scope.delay(&message, is_new));
            // While it was being sent, it could not be displaced.
            self.grown.insert(message.source());
        }
    }

    /// Forgets a message that ended, and is queued no longer.
    pub fn forget(&mut self, id: MessageId) {
        let Some(Entry { message, state }) = self.messages.remove(&id) else { return };
        self.delayed = self.delayed.saturating_sub(usize::from(message.is_delayed));
        self.each_scope(&message, |scope| scope.remove(&message, state == State::Displaced));
        let Some(tenant) = self.tenants.get_mut(&message.tenant) else { return };
        if let Some(organization) = tenant.organizations.get(&message.organization) {
            // Ended messages may still be in its queues.
            if organization.scope.usage().all.messages == 0 && organization.load.is_empty() {
                tenant.organizations.remove(&message.organization);
                tenant.rotation.retain(|other| *other != message.organization);
            }
        }
        if tenant.usage().all.messages == 0 && tenant.load.is_empty() {
            self.tenants.remove(&message.tenant);
            self.rotation.retain(|other| *other != message.tenant);
        }
    }

    /// Forgets all messages that are only queued. Those that run or have ended are known to the caller.
    pub fn clear(&mut self) {
        let queued = |entry: &Entry| matches!(entry.state, State::Later(_) | State::Ready);
        let ids: Vec<_> =
            self.messages.values().filter(|entry| queued(entry)).map(|entry| entry.message.id).collect();
        for id in ids {
            self.set_ended(id);
            self.forget(id);
        }
    }

    /// Returns whether a message is queued.
    pub fn is_queued(&self, id: MessageId) -> bool {
        self.messages.contains_key(&id)
    }

    /// Records since when the server of the channel is unavailable, or that it is not.
    pub const fn set_unavailable(&mut self, since: Option<Millis>) {
        self.unavailable = since;
    }

    /// Returns the messages of all tenants in figures.
    pub fn backlog(&self) -> Backlog {
        Backlog {
            waiting: self.messages.len(),
            delayed: self.delayed,
            next: self.later.first().map(|(due, _)| *due),
            unavailable: self.unavailable,
        }
    }

    fn set_state(&mut self, id: MessageId, state: State) {
        if let Some(entry) = self.messages.get_mut(&id) {
            entry.state = state;
        }
    }

    /// Ends a message that is not being sent.
    fn set_ended(&mut self, id: MessageId) {
        let Some(entry) = self.messages.get_mut(&id) else { return };
        let before = std::mem::replace(&mut entry.state, State::Ended);
        if let State::Later(due) = before {
            self.later.remove(&(due, id));
        }
        let message = entry.message;
        if let Some(end) = message.expires {
            self.expiring.remove(&(end, id));
        }
        self.each_scope(&message, |scope| scope.resume(&message));
    }
}

impl Organization {
    /// Takes the next message whose receiver has room, by the turns of the receivers. `trust_of` returns the trust in
    /// a receiver with room, given the load of the organization.
    fn select(
        &mut self,
        messages: &HashMap<MessageId, Entry>,
        trust_of: impl Fn(&Receiver, Load) -> Option<Trust>,
    ) -> Option<(QueuedMessage, Trust)> {
        if !self.load.has_room(ORGANIZATION, Trust::Prompt, 0) {
            return None;
        }
        let is_ready = |id: &MessageId| messages.get(id).is_some_and(|entry| entry.state == State::Ready);
        for _ in 0..self.rotation.len() {
            let receiver = self.rotation.pop_front()?;
            let ready = self.ready.entry(receiver).or_default();
            while ready.front().is_some_and(|id| !is_ready(id)) {
                ready.pop_front();
            }
            let trust = if ready.is_empty() { None } else { trust_of(&receiver, self.load) };
            let selected = trust.and_then(|trust| Some((ready.pop_front()?, trust)));
            if ready.is_empty() {
                self.ready.remove(&receiver);
            } else {
                self.rotation.push_back(receiver);
            }
            if let Some((id, trust)) = selected {
                return messages.get(&id).map(|entry| (entry.message, trust));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
