//! The open connections of a listener: their number, their states and their deadlines.
//!
//! Deadlines are checked periodically, instead of arming a timer for each request. This module does not know
//! HTTP.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::limits::Limits;
use crate::telemetry::Metrics;

/// Value of a time that is not set.
const UNSET: u64 = 0;

/// State of one connection. All times are in milliseconds since the start of the registry.
pub(super) struct ConnectionState {
    start: Instant,
    address: Option<IpAddr>,
    /// Requests that are being received or answered, until the answer is passed to hyper.
    busy: AtomicU32,
    /// Those of them whose bodies are incomplete.
    receiving: AtomicU32,
    /// Answers passed to hyper that the client has not read completely.
    answers: AtomicU32,
    idle_since: AtomicU64,
    head_since: AtomicU64,
    write_since: AtomicU64,
    answer_since: AtomicU64,
    ended: CancellationToken,
}

impl ConnectionState {
    fn now(&self) -> u64 {
        // Never zero, which means that a time is not set.
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX).saturating_add(1)
    }

    fn begin(&self, time: &AtomicU64) {
        if time.load(Ordering::Relaxed) == UNSET {
            time.store(self.now(), Ordering::Relaxed);
        }
    }

    fn end(time: &AtomicU64) {
        if time.load(Ordering::Relaxed) != UNSET {
            time.store(UNSET, Ordering::Relaxed);
        }
    }

    /// Records that a part of a head was received.
    pub(super) fn head_begun(&self) {
        self.begin(&self.head_since);
    }

    /// Records that the head is complete.
    pub(super) fn head_complete(&self) {
        Self::end(&self.head_since);
    }

    /// Records that the client does not read the answer.
    pub(super) fn write_blocked(&self) {
        self.begin(&self.write_since);
    }

    /// Records that everything written was read.
    pub(super) fn write_done(&self) {
        Self::end(&self.write_since);
    }

    /// Registers a request. The connection is not idle until the guard is dropped.
    pub(super) fn request(self: &Arc<Self>) -> RequestGuard {
        self.busy.fetch_add(1, Ordering::Relaxed);
        self.receiving.fetch_add(1, Ordering::Relaxed);
        RequestGuard { state: Arc::clone(self), receiving: true, answering: false }
    }

    /// Completes when the connection must be dropped.
    pub(super) async fn ended(&self) {
        self.ended.cancelled().await;
    }

    fn is_idle(&self) -> bool {
        self.busy.load(Ordering::Relaxed) == 0
    }

    /// Returns whether the daemon does no work for the client until it sends more.
    fn waits_for_client(&self) -> bool {
        self.busy.load(Ordering::Relaxed) == self.receiving.load(Ordering::Relaxed)
    }

    fn is_overdue(&self, limits: &Limits) -> bool {
        let now = self.now();
        let over = |time: &AtomicU64, limit: Duration| {
            let since = time.load(Ordering::Relaxed);
            since != UNSET && u128::from(now.saturating_sub(since)) > limit.as_millis()
        };
        over(&self.write_since, limits.write)
            || over(&self.answer_since, limits.write)
            || (self.is_idle()
                && (over(&self.head_since, limits.head) || over(&self.idle_since, limits.idle)))
    }
}

/// A request of a connection, from its head until its answer is written.
pub(super) struct RequestGuard {
    state: Arc<ConnectionState>,
    receiving: bool,
    answering: bool,
}

impl RequestGuard {
    /// Records that the request is complete and is being processed.
    pub(super) fn received(&mut self) {
        if std::mem::take(&mut self.receiving) {
            self.state.receiving.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Records that the answer is ready. The deadline for reading it starts.
    pub(super) fn answering(&mut self) {
        self.received();
        if !std::mem::replace(&mut self.answering, true)
            && self.state.answers.fetch_add(1, Ordering::Relaxed) == 0
        {
            self.state.begin(&self.state.answer_since);
        }
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.received();
        let state = &self.state;
        if self.answering {
            // A completed answer is progress: the deadline of the others starts again.
            let others = state.answers.fetch_sub(1, Ordering::Relaxed) > 1;
            state.answer_since.store(if others { state.now() } else { UNSET }, Ordering::Relaxed);
        }
        if state.busy.fetch_sub(1, Ordering::Relaxed) == 1 {
            state.idle_since.store(state.now(), Ordering::Relaxed);
        }
    }
}

/// The open connections of one listener.
pub(super) struct Registry {
    start: Instant,
    limit: usize,
    metrics: Metrics,
    connections: Mutex<Connections>,
}

#[derive(Default)]
struct Connections {
    next: u64,
    open: HashMap<u64, Arc<ConnectionState>>,
}

impl Registry {
    pub(super) fn new(limit: usize, metrics: Metrics) -> Arc<Self> {
        Arc::new(Self { start: Instant::now(), limit, metrics, connections: Mutex::default() })
    }

    fn lock(&self) -> MutexGuard<'_, Connections> {
        // The map is valid after each single operation.
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a new connection. Returns `None` if the limit is reached and no connection waits for its
    /// client.
    pub(super) fn register(self: &Arc<Self>, address: Option<IpAddr>) -> Option<Registration> {
        let mut connections = self.lock();
        if connections.open.len() >= self.limit && !connections.evict() {
            self.metrics.connection_refused();
            return None;
        }
        let id = connections.next;
        connections.next += 1;
        let state = Arc::new(ConnectionState {
            start: self.start,
            address,
            busy: AtomicU32::new(0),
            receiving: AtomicU32::new(0),
            answers: AtomicU32::new(0),
            idle_since: AtomicU64::new(UNSET),
            head_since: AtomicU64::new(UNSET),
            write_since: AtomicU64::new(UNSET),
            answer_since: AtomicU64::new(UNSET),
            ended: CancellationToken::new(),
        });
        // A connection that sends nothing counts as one with an incomplete head.
        state.head_begun();
        state.begin(&state.idle_since);
        connections.open.insert(id, Arc::clone(&state));
        self.metrics.connection_opened();
        Some(Registration { registry: Arc::clone(self), id, state })
    }

    /// Closes a connection, for example when file descriptors run out.
    pub(super) fn evict(&self) {
        self.lock().evict();
    }

    /// Closes all connections whose deadlines have passed.
    pub(super) fn close_overdue(&self, limits: &Limits) {
        for state in self.lock().open.values() {
            if state.is_overdue(limits) {
                state.ended.cancel();
            }
        }
    }

    /// Closes all connections.
    pub(super) fn end_all(&self) {
        for state in self.lock().open.values() {
            state.ended.cancel();
        }
    }
}

impl Connections {
    /// Closes a connection that waits for its client. The address with the most connections comes first, so
    /// that one address cannot displace all others. Idle connections come before those that receive a body,
    /// and older ones before newer ones.
    fn evict(&mut self) -> bool {
        let mut held: HashMap<Option<IpAddr>, u32> = HashMap::new();
        for state in self.open.values() {
            *held.entry(state.address).or_default() += 1;
        }
        let victim = self
            .open
            .iter()
            .filter(|(_, state)| state.waits_for_client())
            .min_by_key(|(_, state)| {
                let share = held.get(&state.address).copied().unwrap_or_default();
                (std::cmp::Reverse(share), !state.is_idle(), state.idle_since.load(Ordering::Relaxed))
            })
            .map(|(id, _)| *id);
        let Some(state) = victim.and_then(|id| self.open.remove(&id)) else {
            return false;
        };
        state.ended.cancel();
        true
    }
}

/// Registration of a connection; dropping it removes the connection.
pub(super) struct Registration {
    registry: Arc<Registry>,
    id: u64,
    pub(super) state: Arc<ConnectionState>,
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.registry.lock().open.remove(&self.id);
        self.registry.metrics.connection_closed();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use std::net::Ipv4Addr;

    use super::*;

    fn address(last: u8) -> IpAddr {
        IpAddr::V4(Ipv4Addr::new(192, 0, 2, last))
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_listener_closes_the_oldest_idle_connection_of_the_largest_client() {
        let registry = Registry::new(3, Metrics::new());
        let modest = registry.register(Some(address(1))).unwrap();
        tokio::time::advance(Duration::from_secs(1)).await;
        let greedy = registry.register(Some(address(2))).unwrap();
        tokio::time::advance(Duration::from_secs(1)).await;
        let greedy_later = registry.register(Some(address(2))).unwrap();
        let guard = received(&greedy);
        let newest = registry.register(Some(address(3))).unwrap();
        let is_ended = |registration: &Registration| registration.state.ended.is_cancelled();
        assert!(is_ended(&greedy_later), "it is idle, and its address has two connections");
        assert!(!is_ended(&greedy) && !is_ended(&modest) && !is_ended(&newest));
        drop(guard);
        let (_first, _second) = (received(&modest), received(&newest));
        let _third = received(&greedy);
        assert!(registry.register(Some(address(4))).is_none(), "all are busy");
        drop(greedy);
        assert!(registry.register(Some(address(4))).is_some());
    }

    fn received(registration: &Registration) -> RequestGuard {
        let mut guard = registration.state.request();
        guard.received();
        guard
    }

    #[tokio::test(start_paused = true)]
    async fn incomplete_bodies_do_not_keep_others_out() {
        let registry = Registry::new(3, Metrics::new());
        let register = |last| registry.register(Some(address(last))).unwrap();
        let first = register(1);
        tokio::time::advance(Duration::from_secs(1)).await;
        let registrations = [first, register(1), register(2)];
        let (_first, mut second) = (registrations[0].state.request(), registrations[1].state.request());
        tokio::time::advance(Duration::from_secs(1)).await;
        let newest = register(3);
        let is_ended = |registration: &Registration| registration.state.ended.is_cancelled();
        assert!(is_ended(&registrations[0]), "it sends a body, and its address has two connections");
        second.received();
        let next = register(4);
        assert!(is_ended(&registrations[2]), "it is idle");
        let _answered = (received(&newest), received(&next));
        assert!(registry.register(Some(address(5))).is_none(), "all requests are being processed");
    }

    #[tokio::test(start_paused = true)]
    async fn each_deadline_closes_a_connection() {
        let limits = Limits::default();
        let registry = Registry::new(10, Metrics::new());
        let silent = registry.register(None).unwrap();
        let idle = registry.register(None).unwrap();
        idle.state.head_complete();
        let blocked = registry.register(None).unwrap();
        let _request = blocked.state.request();
        blocked.state.write_blocked();
        let working = registry.register(None).unwrap();
        let _other_request = working.state.request();
        let registrations = [&silent, &idle, &blocked, &working];
        for (seconds, expected) in [
            (9, [false, false, false, false]),
            (11, [true, false, false, false]),
            (31, [true, false, true, false]),
            (76, [true, true, true, false]),
        ] {
            tokio::time::advance(Duration::from_secs(seconds).saturating_sub(registry.start.elapsed())).await;
            registry.close_overdue(&limits);
            assert_eq!(
                registrations.map(|registration| registration.state.ended.is_cancelled()),
                expected,
                "after {seconds} s"
            );
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_completed_answer_extends_the_deadline_of_the_others() {
        let limits = Limits::default();
        let registry = Registry::new(10, Metrics::new());
        let registration = registry.register(None).unwrap();
        let (mut first, mut second) = (registration.state.request(), registration.state.request());
        first.answering();
        second.answering();
        tokio::time::advance(Duration::from_secs(25)).await;
        drop(first);
        tokio::time::advance(Duration::from_secs(25)).await;
        registry.close_overdue(&limits);
        assert!(!registration.state.ended.is_cancelled());
        tokio::time::advance(Duration::from_secs(10)).await;
        registry.close_overdue(&limits);
        assert!(registration.state.ended.is_cancelled());
    }
}
