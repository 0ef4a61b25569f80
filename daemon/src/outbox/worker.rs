//! Delivers webhooks with retries, in order for each activity and destination. Deliveries survive a crash: they
//! are removed from the store only after they were made, abandoned or parked.
//!
//! The outcome of a delivery is recorded before another one is started. While it cannot be recorded, it is
//! kept in memory and nothing is delivered. Therefore no delivery is made twice, and none is made for a
//! change that may never become durable.

mod conversion;
mod parking;
mod repeating;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use quorate_common::ids::OrganizationId;
use quorate_core::error::Corrupt;
use quorate_core::model::Millis;
use quorate_core::model::layout::outbox::{DeliveryId, Destination, Lane};
use quorate_core::model::write::Write;
use quorate_core::outbox::{self, Delivery, Outcomes, ParkedFor, Usage};
use quorate_core::pipeline::Commit;
use tokio::sync::mpsc;
use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use super::attempt::{Attempt, DeliveryClient, Disposition};
use super::attempts::{Attempts, Made, Observed};
use super::control::{OutboxControl, REQUESTS, RepeatRequest};
use super::limits::OutboxLimits;
use super::pause::{Pause, Stopped};
use super::shares::{Shares, Slot};
use super::waiting::Waiting;
use crate::clock::now;
use crate::executor::{CommitError, Executor};
use crate::fail_points;
use crate::identity::Identity;
use crate::lease::Lease;
use crate::outgoing::ReceiverPolicy;
use crate::telemetry::Metrics;

/// Time between two scans of the destinations with waiting deliveries.
const SCAN_INTERVAL: Duration = Duration::from_secs(30);
/// Maximum number of destinations that one step of a scan finds.
const SCAN_STEP: usize = 64;
/// Name of the outbox in the log.
const NAME: &str = "webhooks";

/// Delivers waiting webhooks.
pub struct Outbox {
    client: DeliveryClient,
    /// Whether this daemon delivers, or another one that shares the store.
    lease: Lease,
    /// Whether deliveries of an earlier version were converted.
    is_converted: bool,
    limits: OutboxLimits,
    shares: Shares,
    /// Tasks of running deliveries.
    running: JoinSet<Attempt>,
    under_way: HashMap<Id, Running>,
    /// Lanes of deliveries that run or are not recorded yet.
    busy: HashSet<Lane>,
    /// Deliveries whose outcomes are not recorded yet.
    ended: Vec<Ended>,
    pause: Pause,
    waiting: HashMap<OrganizationId, Waiting>,
    /// Organizations that may exceed their limits.
    over: BTreeSet<OrganizationId>,
    /// Whether more deliveries can be parked at once.
    is_parking: bool,
    scan: Scan,
    /// The last attempts, for operators.
    attempts: Arc<Attempts>,
    /// Requests of operators to repeat a delivery, and their sender, which keeps the channel open.
    requests: mpsc::Receiver<RepeatRequest>,
    request_sender: mpsc::Sender<RepeatRequest>,
    /// The request that was received and is not fulfilled yet.
    requested: Option<RepeatRequest>,
}

/// A running delivery.
struct Running {
    id: DeliveryId,
    delivery: Delivery,
    slot: Slot,
}

/// A delivery that has ended and is not recorded yet.
struct Ended {
    id: DeliveryId,
    /// Its due time in the schedule.
    due: Option<Millis>,
    disposition: Disposition,
    /// What operators see of it, once it is recorded.
    attempt: Option<Made>,
}

impl Ended {
    /// Returns a delivery that ended without an attempt.
    fn parked(id: DeliveryId, due: Option<Millis>, why: ParkedFor) -> Self {
        Self { id, due, disposition: Disposition::Parked(why), attempt: None }
    }
}

/// A scan of the destinations with waiting deliveries.
enum Scan {
    /// The scan continues after this destination.
    Running(Option<Destination>),
    /// The next scan begins at this time.
    Resting(Millis),
}

impl Outbox {
    /// Creates an outbox that commits through an executor.
    pub fn new(
        executor: Arc<Executor>,
        identity: Identity,
        policy: &ReceiverPolicy,
        limits: OutboxLimits,
        metrics: Metrics,
    ) -> Self {
        let (request_sender, requests) = mpsc::channel(REQUESTS);
        Self {
            lease: Lease::new(Arc::clone(&executor), NAME),
            is_converted: false,
            client: DeliveryClient::new(executor, identity, policy, metrics),
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
            scan: Scan::Running(None),
            attempts: Arc::default(),
            requests,
            request_sender,
            requested: None,
        }
    }

    /// Returns the outbox as operators use it.
    pub fn control(&self) -> OutboxControl {
        OutboxControl::new(self.client.clone(), Arc::clone(&self.attempts), self.request_sender.clone())
    }

    /// Delivers until `stop`. Running deliveries are attempted again after the next start.
    pub async fn run(mut self, stop: CancellationToken) {
        let executor = Arc::clone(&self.client.executor);
        while !stop.is_cancelled() {
            let result = self.leased(&stop).await;
            if self.pause.record(result, NAME, now()) || executor.world().deliveries.take_unknown() {
                // The store may hold more than was seen before.
                self.scan = Scan::Running(None);
                self.waiting.clear();
            }
            let wait = self.wait_time(now());
            tokio::select! {
                () = stop.cancelled() => {}
                () = executor.world().deliveries.added() => {}
                () = tokio::time::sleep(wait) => {}
                Some(joined) = self.running.join_next_with_id() => self.join(joined),
                Some(request) = self.requests.recv(), if self.requested.is_none() => {
                    self.requested = Some(request);
                }
            }
        }
        self.lease.free().await;
    }

    /// Works if this daemon has the lease of the deliveries.
    async fn leased(&mut self, stop: &CancellationToken) -> Result<(), Stopped> {
        let had = self.lease.is_own();
        let has = self.lease.hold().await;
        if !self.lease.is_own() {
            if had {
                self.abandon();
            }
            // The daemon that delivers hears of them as well.
            drop(self.client.executor.world().deliveries.take());
            self.refuse();
            return has.map(drop).map_err(Stopped::from);
        }
        if !had {
            self.scan = Scan::Running(None);
            self.waiting.clear();
        }
        if !has? {
            return Err(Stopped::Writes);
        }
        if !self.is_converted {
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = self.convert() => self.is_converted = true,
            }
        }
        self.work().await
    }

    /// Forgets the deliveries that run: another daemon makes them again. Their receivers know them by their ids.
    fn abandon(&mut self) {
        tracing::warn!(what = NAME, "another daemon has taken over the deliveries");
        self.running = JoinSet::new();
        self.under_way.clear();
        self.busy.clear();
        self.ended.clear();
        self.over.clear();
        self.waiting.clear();
        self.shares = Shares::new(self.limits.deliveries);
    }

    /// Refuses the request of an operator, which only the daemon that delivers can fulfil.
    fn refuse(&mut self) {
        if let Some(request) = self.requested.take() {
            let _ = request
                .answer
                .send(Err("another daemon delivers the webhooks; run the command on its machine"));
        }
    }

    /// Does the work that is possible now.
    async fn work(&mut self) -> Result<(), Stopped> {
        while let Some(joined) = self.running.try_join_next_with_id() {
            self.join(joined);
        }
        if self.pause.is_active(now()) {
            return Ok(());
        }
        if !self.client.executor.accepts_writes() {
            return Err(Stopped::Writes);
        }
        self.record(Vec::new()).await?;
        self.repeat().await?;
        self.process_arrivals()?;
        self.park().await?;
        self.scan()?;
        self.start().await
    }

    /// Returns the time until there is work to do, unless deliveries are queued earlier.
    fn wait_time(&self, now: Millis) -> Duration {
        let scan = match self.scan {
            Scan::Resting(until) if !self.is_parking => until,
            _ => now,
        };
        let until =
            self.pause.until().unwrap_or_else(|| self.shares.next().map_or(scan, |next| next.min(scan)));
        let wait = Duration::from_millis(until.saturating_sub(now)).min(SCAN_INTERVAL);
        if self.lease.is_own() { wait.min(self.lease.wait_time()) } else { self.lease.wait_time() }
    }

    /// Counts the deliveries that were queued since the last call and wakes their destinations.
    fn process_arrivals(&mut self) -> Result<(), Corrupt> {
        for (organization, arrived) in self.client.executor.world().deliveries.take() {
            if let Some(waiting) = self.waiting.get_mut(&organization) {
                arrived.caused.into_iter().for_each(|(cause, usage)| waiting.add(cause, usage));
            } else {
                let caused = outbox::usage(self.client.records(), organization)?;
                self.waiting.insert(organization, Waiting::new(caused));
            }
            self.over.insert(organization);
            for destination in arrived.destinations {
                self.shares.wake(destination, || self.client.tenant(organization));
            }
        }
        Ok(())
    }

    /// Continues the scan of destinations with waiting deliveries by one step.
    fn scan(&mut self) -> Result<(), Corrupt> {
        let mut after = match self.scan {
            Scan::Running(after) => after,
            Scan::Resting(until) if until <= now() => None,
            Scan::Resting(_) => return Ok(()),
        };
        for _ in 0..SCAN_STEP {
            let Some(found) = outbox::next_destination(self.client.records(), after.as_ref())? else {
                self.scan = Scan::Resting(now().saturating_add(SCAN_INTERVAL.as_secs().saturating_mul(1000)));
                return Ok(());
            };
            if !self.shares.is_awake(&found) {
                self.shares.wake(found, || self.client.tenant(found.organization));
            }
            after = Some(found);
        }
        self.scan = Scan::Running(after);
        Ok(())
    }

    /// Starts deliveries as long as the shares allow.
    async fn start(&mut self) -> Result<(), Stopped> {
        loop {
            self.shares.tick(now());
            let Some(destination) = self.shares.select() else { return Ok(()) };
            fail_points::reach("outbox.read");
            let busy = &self.busy;
            let found =
                outbox::next_delivery(self.client.records(), &destination, now(), |lane| busy.contains(lane));
            let found = found.inspect_err(|_| self.shares.rest(destination, now()))?;
            if let Some((id, delivery)) = found.due {
                self.start_one(id, delivery);
            } else if !found.corrections.is_empty() || !found.unreadable.is_empty() {
                self.shares.rest(destination, now());
            } else if let Some(next) = found.next_due {
                self.shares.rest(destination, next);
            } else {
                self.shares.idle(destination);
            }
            let parked = |(id, due)| Ended::parked(id, due, ParkedFor::Unreadable);
            self.ended.extend(found.unreadable.into_iter().map(parked));
            self.record(found.corrections).await?;
        }
    }

    fn start_one(&mut self, id: DeliveryId, delivery: Delivery) {
        let Some(slot) = self.shares.start(id.destination, id.size) else { return };
        self.busy.insert(id.lane());
        let task = self.running.spawn(self.client.clone().deliver(id, delivery.url.clone()));
        self.under_way.insert(task.id(), Running { id, delivery, slot });
    }

    /// Processes the end of a delivery task.
    fn join(&mut self, joined: Result<(Id, Attempt), JoinError>) {
        let (task, attempt) = match joined {
            Ok(joined) => joined,
            Err(error) => (error.id(), Attempt::NotPrepared(Corrupt::Invariant("a delivery task panicked"))),
        };
        let Some(Running { id, delivery, slot }) = self.under_way.remove(&task) else { return };
        let (due, failed, observed) = (delivery.due, delivery.attempts, Observed::of(&attempt));
        let (behavior, disposition) = self.client.disposition(&id, delivery, attempt);
        let attempt = observed.attempt(&id, failed, &disposition, now());
        if self.shares.end(&slot, behavior, now()) {
            let Destination { organization, endpoint } = id.destination;
            let endpoint = endpoint.map(|endpoint| endpoint.to_string());
            tracing::warn!(%organization, endpoint, "a webhook receiver does not answer; it is called less often");
        }
        self.ended.push(Ended { id, due: Some(due), disposition, attempt: Some(attempt) });
    }

    /// Makes the outcomes of deliveries durable. Outcomes that cannot be recorded are kept and recorded
    /// later. Corrections of the schedule that cannot be recorded are found again.
    async fn record(&mut self, corrections: Vec<Write>) -> Result<(), Stopped> {
        if self.ended.is_empty() && corrections.is_empty() {
            return Ok(());
        }
        let mut outcomes = Outcomes::default();
        for Ended { id, due, disposition, .. } in &self.ended {
            match (disposition, due) {
                (Disposition::Postponed(delivery), Some(due)) => outcomes.postpone(id, *due, delivery)?,
                (Disposition::Parked(why), due) => outcomes.park(*id, *due, *why),
                (Disposition::Removed | Disposition::Postponed(_), due) => outcomes.end(*id, *due),
            }
        }
        let outbox::Batch { mut writes, freed } = outcomes.finish(self.client.records(), now())?;
        writes.extend(corrections);
        let commit = Commit { writes, ..Commit::default() };
        fail_points::reach("outbox.record");
        let recorded = self.client.executor.commit_if(commit, self.lease.condition()).await;
        fail_points::reach("outbox.recorded");
        if recorded == Err(CommitError::Clash) {
            self.lease.lose();
            self.abandon();
        }
        recorded.map_err(|_| Stopped::Writes)?;
        for Ended { id, disposition, attempt, .. } in self.ended.drain(..) {
            self.busy.remove(&id.lane());
            if let Some(attempt) = attempt {
                self.attempts.push(id.destination, attempt);
            }
            if let Disposition::Parked(why) = disposition {
                self.client.metrics.delivery(match why {
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
}

#[cfg(test)]
mod tests;
