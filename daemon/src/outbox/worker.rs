//! Delivers webhooks: in order for each activity and destination, retried, and kept over a crash, since a delivery leaves
//! the store only when it was made, given up or parked.
//!
//! What became of a delivery is recorded before anything else is started. While it cannot be recorded, it is remembered
//! here, and nothing is delivered: neither twice, nor what may never become durable.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::iter::{self, Peekable};
use std::sync::Arc;
use std::time::Duration;
use std::vec::IntoIter;

use quorate_common::ids::OrganizationId;
use quorate_core::model::Millis;
use quorate_core::model::layout::Key;
use quorate_core::model::layout::outbox::{DeliveryId, Destination, Lane};
use quorate_core::model::write::Write;
use quorate_core::outbox::{self, Delivery, Outcomes, ParkedFor, Usage};
use quorate_core::pipeline::Commit;
use quorate_core::refusal::Corrupt;
use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use super::attempt::{Attempt, Courier, Fate};
use super::limits::OutboxLimits;
use super::pause::{Pause, Stopped};
use super::receiver::ReceiverPolicy;
use super::shares::{Shares, Slot};
use super::waiting::Waiting;
use crate::clock::now;
use crate::fail_points;
use crate::identity::Identity;
use crate::telemetry::Metrics;
use crate::turn::Turns;

/// Longest time between two walks over the destinations for which something waits.
const REST: Duration = Duration::from_secs(30);
/// How many destinations a walk finds before other work is done.
const WALK: usize = 64;
/// How many deliveries of an organization are parked at once.
const PARKED: usize = 256;
/// Deliveries of how many causing organizations are parked at once.
const CAUSES: usize = 16;
/// What the log calls it.
const WHAT: &str = "webhooks";

/// Delivers what waits.
pub struct Outbox {
    courier: Courier,
    limits: OutboxLimits,
    shares: Shares,
    /// Deliveries that run.
    running: JoinSet<Attempt>,
    under_way: HashMap<Id, Running>,
    /// The lanes of what runs and of what is not recorded yet.
    busy: HashSet<Lane>,
    /// What is to be recorded.
    ended: Vec<Ended>,
    pause: Pause,
    waiting: HashMap<OrganizationId, Waiting>,
    /// Organizations that may have more waiting than they may.
    over: BTreeSet<OrganizationId>,
    /// Whether more can be parked at once.
    is_parking: bool,
    walk: Walk,
}

/// A delivery that runs.
struct Running {
    id: DeliveryId,
    delivery: Delivery,
    slot: Slot,
}

/// A delivery that ended and is not recorded yet.
struct Ended {
    id: DeliveryId,
    /// Its time in the schedule.
    due: Option<Millis>,
    fate: Fate,
}

/// A walk over the destinations for which something waits.
enum Walk {
    /// It goes on behind this one.
    Under(Option<Destination>),
    /// The next one begins then.
    Rests(Millis),
}

impl Outbox {
    /// An outbox over these turns.
    pub fn new(
        turns: Arc<Turns>,
        identity: Identity,
        policy: &ReceiverPolicy,
        limits: OutboxLimits,
        metrics: Metrics,
    ) -> Self {
        Self {
            courier: Courier::new(turns, identity, policy, metrics),
            shares: Shares::new(limits.deliveries),
            limits,
            running: JoinSet::new(),
            under_way: HashMap::new(),
            busy: HashSet::new(),
            ended: Vec::new(),
            pause: Pause::default(),
            waiting: HashMap::new(),
            over: BTreeSet::new(),
            is_parking: false,
            walk: Walk::Under(None),
        }
    }

    /// Delivers until `stop`. What is under way then is tried again after the next start.
    pub async fn run(mut self, stop: CancellationToken) {
        let turns = Arc::clone(&self.courier.turns);
        tokio::select! {
            () = stop.cancelled() => return,
            () = self.convert() => {}
        }
        while !stop.is_cancelled() {
            let result = self.work().await;
            if self.pause.note(result, WHAT, now()) || turns.world().notices.take_unknown() {
                // What the store holds may not be what was seen of it before.
                self.walk = Walk::Under(None);
                self.waiting.clear();
            }
            let rest = self.rest(now());
            tokio::select! {
                () = stop.cancelled() => {}
                () = turns.world().notices.added() => {}
                () = tokio::time::sleep(rest) => {}
                Some(joined) = self.running.join_next_with_id() => self.join(joined),
            }
        }
    }

    /// Does what can be done now.
    async fn work(&mut self) -> Result<(), Stopped> {
        while let Some(joined) = self.running.try_join_next_with_id() {
            self.join(joined);
        }
        if self.pause.holds(now()) {
            return Ok(());
        }
        if !self.courier.turns.takes_writes() {
            return Err(Stopped::Writes);
        }
        self.record(Vec::new()).await?;
        self.arrive()?;
        self.park().await?;
        self.walk()?;
        self.start().await
    }

    /// How long there is nothing to do, unless something comes.
    fn rest(&self, now: Millis) -> Duration {
        let walk = match self.walk {
            Walk::Rests(until) if !self.is_parking => until,
            _ => now,
        };
        let until =
            self.pause.until().unwrap_or_else(|| self.shares.next().map_or(walk, |next| next.min(walk)));
        Duration::from_millis(until.saturating_sub(now)).min(REST)
    }

    /// Takes note of what was queued since the last time.
    fn arrive(&mut self) -> Result<(), Corrupt> {
        for (organization, arrived) in self.courier.turns.world().notices.take() {
            if let Some(waiting) = self.waiting.get_mut(&organization) {
                arrived.caused.into_iter().for_each(|(cause, usage)| waiting.add(cause, usage));
            } else {
                let caused = outbox::usage(self.courier.records(), organization)?;
                self.waiting.insert(organization, Waiting::new(caused));
            }
            self.over.insert(organization);
            for destination in arrived.destinations {
                self.shares.wake(destination, || self.courier.tenant(organization));
            }
        }
        Ok(())
    }

    /// Parks deliveries of organizations that have more waiting than they may, some of each at once.
    async fn park(&mut self) -> Result<(), Stopped> {
        self.is_parking = false;
        for organization in std::mem::take(&mut self.over) {
            self.park_oldest(organization)?;
            // Otherwise it is not too much, or all of it is under way.
            if !self.ended.is_empty() {
                self.over.insert(organization);
                self.is_parking = true;
                self.log_parked(organization);
                self.record(Vec::new()).await?;
            }
        }
        Ok(())
    }

    /// Parks the oldest deliveries of whoever caused most of what waits for an organization, one activity after the other,
    /// until no more waits than may. What others caused stays while one caused more.
    fn park_oldest(&mut self, organization: OrganizationId) -> Result<(), Corrupt> {
        let mut spent = BTreeSet::new();
        let waiting = self.waiting.get(&organization);
        let over = waiting.filter(|waiting| waiting.heaviest(organization, &self.limits, &spent).is_some());
        let Some(mut left) = over.cloned() else { return Ok(()) };
        let mut oldest = BTreeMap::new();
        while self.ended.len() < PARKED
            && oldest.len() <= CAUSES
            && let Some(cause) = left.heaviest(organization, &self.limits, &spent)
        {
            let ids = match oldest.entry(cause) {
                Entry::Occupied(ids) => ids.into_mut(),
                Entry::Vacant(entry) => entry.insert(self.oldest(organization, cause)?),
            };
            let Some(first) = ids.next() else {
                // All else that it caused is under way.
                spent.insert(cause);
                oldest.remove(&cause);
                continue;
            };
            let mut states = BTreeSet::new();
            let others = iter::from_fn(|| ids.next_if(|id| id.activity == first.activity));
            for id in iter::once(first).chain(others) {
                // A body is stored once for all endpoints.
                let bytes = if states.insert(id.votes) { id.size.into() } else { 0 };
                left.subtract(cause, Usage { deliveries: 1, bytes });
                let due = outbox::due(self.courier.records(), &id)?;
                self.ended.push(Ended { id, due, fate: Fate::Parked(ParkedFor::Limit) });
            }
        }
        Ok(())
    }

    /// The oldest deliveries that can be parked of those that an organization caused.
    fn oldest(
        &self,
        organization: OrganizationId,
        cause: OrganizationId,
    ) -> Result<Peekable<IntoIter<DeliveryId>>, Corrupt> {
        let mut ids = outbox::oldest(self.courier.records(), organization, cause, PARKED)?;
        ids.retain(|id| !self.busy.contains(&id.lane()));
        Ok(ids.into_iter().peekable())
    }

    /// Says once, until less waits again, that an organization loses deliveries.
    fn log_parked(&mut self, organization: OrganizationId) {
        let Some(waiting) = self.waiting.get_mut(&organization).filter(|waiting| !waiting.is_logged) else {
            return;
        };
        waiting.is_logged = true;
        tracing::warn!(
            %organization,
            waiting_webhooks = self.limits.waiting,
            waiting_webhook_bytes = self.limits.waiting_bytes,
            "more webhook deliveries wait than the limits allow: the oldest are parked, and not delivered any more"
        );
    }

    /// Looks for destinations for which something waits, some at once.
    fn walk(&mut self) -> Result<(), Corrupt> {
        let mut after = match self.walk {
            Walk::Under(after) => after,
            Walk::Rests(until) if until <= now() => None,
            Walk::Rests(_) => return Ok(()),
        };
        for _ in 0..WALK {
            let Some(found) = outbox::next_destination(self.courier.records(), after.as_ref())? else {
                self.walk = Walk::Rests(now().saturating_add(REST.as_secs().saturating_mul(1000)));
                return Ok(());
            };
            if !self.shares.is_awake(&found) {
                self.shares.wake(found, || self.courier.tenant(found.organization));
            }
            after = Some(found);
        }
        self.walk = Walk::Under(after);
        Ok(())
    }

    /// Starts deliveries for as long as there is room for them.
    async fn start(&mut self) -> Result<(), Stopped> {
        loop {
            self.shares.tick(now());
            let Some(destination) = self.shares.turn() else { return Ok(()) };
            fail_points::reach("outbox.read");
            let busy = &self.busy;
            let look = outbox::look(self.courier.records(), &destination, now(), |lane| busy.contains(lane));
            let look = look.inspect_err(|_| self.shares.rest(destination, now()))?;
            if let Some((id, delivery)) = look.due {
                self.start_one(id, delivery);
            } else if !look.corrections.is_empty() || !look.unreadable.is_empty() {
                self.shares.rest(destination, now());
            } else if let Some(next) = look.next {
                self.shares.rest(destination, next);
            } else {
                self.shares.idle(destination);
            }
            let parked = |(id, due)| Ended { id, due, fate: Fate::Parked(ParkedFor::Unreadable) };
            self.ended.extend(look.unreadable.into_iter().map(parked));
            self.record(look.corrections).await?;
        }
    }

    fn start_one(&mut self, id: DeliveryId, delivery: Delivery) {
        let Some(slot) = self.shares.start(id.destination, id.size) else { return };
        self.busy.insert(id.lane());
        let task = self.running.spawn(self.courier.clone().deliver(id, delivery.url.clone()));
        self.under_way.insert(task.id(), Running { id, delivery, slot });
    }

    /// Takes note of how a delivery ended.
    fn join(&mut self, joined: Result<(Id, Attempt), JoinError>) {
        let (task, attempt) = match joined {
            Ok(joined) => joined,
            Err(error) => (error.id(), Attempt::NotPrepared(Corrupt::Invariant("a delivery ends"))),
        };
        let Some(Running { id, delivery, slot }) = self.under_way.remove(&task) else { return };
        let due = delivery.due;
        let (conduct, fate) = self.courier.judge(&id, delivery, attempt);
        if self.shares.end(&slot, conduct, now()) {
            let Destination { organization, endpoint } = id.destination;
            let endpoint = endpoint.map(|endpoint| endpoint.to_string());
            tracing::warn!(%organization, endpoint, "a webhook receiver does not answer; it is called less often");
        }
        self.ended.push(Ended { id, due: Some(due), fate });
    }

    /// Makes durable what became of deliveries. What cannot be recorded stays here, and is recorded later.
    /// Corrections of the schedule that cannot be recorded are found again.
    async fn record(&mut self, corrections: Vec<Write>) -> Result<(), Stopped> {
        if self.ended.is_empty() && corrections.is_empty() {
            return Ok(());
        }
        let mut outcomes = Outcomes::default();
        for Ended { id, due, fate } in &self.ended {
            match (fate, due) {
                (Fate::Postponed(delivery), Some(due)) => outcomes.postpone(id, *due, delivery)?,
                (Fate::Parked(why), due) => outcomes.park(*id, *due, *why),
                (Fate::Gone | Fate::Postponed(_), due) => outcomes.end(*id, *due),
            }
        }
        let outbox::Batch { mut writes, freed } = outcomes.finish(self.courier.records(), now())?;
        writes.extend(corrections);
        let commit = Commit { writes, ..Commit::default() };
        fail_points::reach("outbox.settle");
        let recorded = self.courier.turns.commit(commit).await;
        fail_points::reach("outbox.settled");
        recorded.map_err(|_| Stopped::Writes)?;
        for Ended { id, fate, .. } in self.ended.drain(..) {
            self.busy.remove(&id.lane());
            if let Fate::Parked(why) = fate {
                self.courier.metrics.delivery(match why {
                    ParkedFor::Limit => "parked",
                    ParkedFor::Unreadable => "unreadable",
                });
            }
        }
        for ((organization, cause), usage) in freed {
            self.free(organization, cause, usage);
        }
        Ok(())
    }

    fn free(&mut self, organization: OrganizationId, cause: OrganizationId, freed: Usage) {
        let Some(waiting) = self.waiting.get_mut(&organization) else { return };
        waiting.subtract(cause, freed);
        if waiting.is_half(&self.limits) {
            waiting.is_logged = false;
        }
        if waiting.is_empty() {
            self.waiting.remove(&organization);
        }
    }

    /// Converts what an earlier version stored.
    async fn convert(&mut self) {
        let (mut after, mut unreadable, mut converted): (Option<Key>, u64, u64) = (None, 0, 0);
        loop {
            let step = self.convert_some(after.as_deref()).await;
            match step {
                Ok(step) => {
                    unreadable = unreadable.saturating_add(step.unreadable);
                    converted = converted.saturating_add(step.converted);
                    after = step.next;
                    if after.is_none() {
                        break;
                    }
                    self.pause = Pause::default();
                }
                Err(stopped) => {
                    self.pause.note(Err(stopped), WHAT, now());
                    tokio::time::sleep(self.rest(now())).await;
                }
            }
        }
        if converted > 0 {
            tracing::info!(converted, "webhook deliveries of an earlier version were converted");
        }
        if unreadable > 0 {
            (0..unreadable).for_each(|_| self.courier.metrics.delivery("unreadable"));
            tracing::error!(
                unreadable,
                "webhook deliveries of an earlier version cannot be read; they are skipped"
            );
        }
    }

    async fn convert_some(&self, after: Option<&[u8]>) -> Result<outbox::Conversion, Stopped> {
        let mut step = outbox::convert(self.courier.records(), after)?;
        if !step.writes.is_empty() {
            let commit = Commit { writes: std::mem::take(&mut step.writes), ..Commit::default() };
            self.courier.turns.commit(commit).await.map_err(|_| Stopped::Writes)?;
        }
        Ok(step)
    }
}

#[cfg(test)]
mod tests;
