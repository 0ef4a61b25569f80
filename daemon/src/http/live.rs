//! The open connections of a door: how many, what each is doing since when, and which of them must go.
//!
//! Deadlines are looked at once a tick instead of arming a timer per request. Knows nothing of HTTP.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::limits::Limits;
use crate::telemetry::Metrics;

/// Value of a time that is not running.
const NOT_RUNNING: u64 = 0;

/// What one connection is doing. All times are ticks of its register's clock, in milliseconds.
pub(super) struct Live {
    start: Instant,
    address: Option<IpAddr>,
    /// Requests being received or answered, until the answer is handed over.
    busy: AtomicU32,
    /// Those of them whose bodies are not complete.
    receiving: AtomicU32,
    /// Answers handed over and not yet taken.
    answers: AtomicU32,
    idle_since: AtomicU64,
    head_since: AtomicU64,
    write_since: AtomicU64,
    answer_since: AtomicU64,
    ended: CancellationToken,
}

impl Live {
    fn now(&self) -> u64 {
        // Never zero, which stands for a time that is not running.
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX).saturating_add(1)
    }

    fn begin(&self, time: &AtomicU64) {
        if time.load(Ordering::Relaxed) == NOT_RUNNING {
            time.store(self.now(), Ordering::Relaxed);
        }
    }

    fn end(time: &AtomicU64) {
        if time.load(Ordering::Relaxed) != NOT_RUNNING {
            time.store(NOT_RUNNING, Ordering::Relaxed);
        }
    }

    /// Some bytes of a head are there.
    pub(super) fn head_begun(&self) {
        self.begin(&self.head_since);
    }

    /// The head is there.
    pub(super) fn head_complete(&self) {
        Self::end(&self.head_since);
    }

    /// The client does not take what is written.
    pub(super) fn write_blocked(&self) {
        self.begin(&self.write_since);
    }

    /// Everything written is taken.
    pub(super) fn write_done(&self) {
        Self::end(&self.write_since);
    }

    /// A request begins; the connection is not idle while the guard lives.
    pub(super) fn request(self: &Arc<Self>) -> Busy {
        self.busy.fetch_add(1, Ordering::Relaxed);
        self.receiving.fetch_add(1, Ordering::Relaxed);
        Busy { live: Arc::clone(self), receiving: true, answering: false }
    }

    /// Completes when the connection must be dropped.
    pub(super) async fn ended(&self) {
        self.ended.cancelled().await;
    }

    fn is_idle(&self) -> bool {
        self.busy.load(Ordering::Relaxed) == 0
    }

    /// Whether nothing is done for the client until it sends more.
    fn waits_for_client(&self) -> bool {
        self.busy.load(Ordering::Relaxed) == self.receiving.load(Ordering::Relaxed)
    }

    fn is_overdue(&self, limits: &Limits) -> bool {
        let now = self.now();
        let over = |time: &AtomicU64, limit: Duration| {
            let since = time.load(Ordering::Relaxed);
            since != NOT_RUNNING && u128::from(now.saturating_sub(since)) > limit.as_millis()
        };
        over(&self.write_since, limits.write)
            || over(&self.answer_since, limits.write)
            || (self.is_idle()
                && (over(&self.head_since, limits.head) || over(&self.idle_since, limits.idle)))
    }
}

/// A request of a connection, from its head until its answer is handed over.
pub(super) struct Busy {
    live: Arc<Live>,
    receiving: bool,
    answering: bool,
}

impl Busy {
    /// The request is complete: from now on the daemon works on it.
    pub(super) fn received(&mut self) {
        if std::mem::take(&mut self.receiving) {
            self.live.receiving.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// The answer is ready: from now on the client's reading is timed.
    pub(super) fn answering(&mut self) {
        self.received();
        if !std::mem::replace(&mut self.answering, true)
            && self.live.answers.fetch_add(1, Ordering::Relaxed) == 0
        {
            self.live.begin(&self.live.answer_since);
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.received();
        let live = &self.live;
        if self.answering {
            // One answer taken is progress: the others get the whole time again.
            let others = live.answers.fetch_sub(1, Ordering::Relaxed) > 1;
            live.answer_since.store(if others { live.now() } else { NOT_RUNNING }, Ordering::Relaxed);
        }
        if live.busy.fetch_sub(1, Ordering::Relaxed) == 1 {
            live.idle_since.store(live.now(), Ordering::Relaxed);
        }
    }
}

/// The open connections of one door.
pub(super) struct Register {
    start: Instant,
    limit: usize,
    metrics: Metrics,
    connections: Mutex<Connections>,
}

#[derive(Default)]
struct Connections {
    next: u64,
    open: HashMap<u64, Arc<Live>>,
}

impl Register {
    pub(super) fn new(limit: usize, metrics: Metrics) -> Arc<Self> {
        Arc::new(Self { start: Instant::now(), limit, metrics, connections: Mutex::default() })
    }

    fn lock(&self) -> MutexGuard<'_, Connections> {
        // The map is valid after every single operation on it.
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters a new connection. None if the door is full and no connection waits for its client.
    pub(super) fn enter(self: &Arc<Self>, address: Option<IpAddr>) -> Option<Entry> {
        let mut connections = self.lock();
        if connections.open.len() >= self.limit && !connections.evict() {
            self.metrics.connection_refused();
            return None;
        }
        let id = connections.next;
        connections.next += 1;
        let live = Arc::new(Live {
            start: self.start,
            address,
            busy: AtomicU32::new(0),
            receiving: AtomicU32::new(0),
            answers: AtomicU32::new(0),
            idle_since: AtomicU64::new(NOT_RUNNING),
            head_since: AtomicU64::new(NOT_RUNNING),
            write_since: AtomicU64::new(NOT_RUNNING),
            answer_since: AtomicU64::new(NOT_RUNNING),
            ended: CancellationToken::new(),
        });
        // A connection that says nothing is like one whose head does not end.
        live.head_begun();
        live.begin(&live.idle_since);
        connections.open.insert(id, Arc::clone(&live));
        self.metrics.connection_opened();
        Some(Entry { register: Arc::clone(self), id, live })
    }

    /// Makes room, as when descriptors run out.
    pub(super) fn evict(&self) {
        self.lock().evict();
    }

    /// Ends every connection whose time is over.
    pub(super) fn sweep(&self, limits: &Limits) {
        for live in self.lock().open.values() {
            if live.is_overdue(limits) {
                live.ended.cancel();
            }
        }
    }

    /// Ends all connections.
    pub(super) fn end_all(&self) {
        for live in self.lock().open.values() {
            live.ended.cancel();
        }
    }
}

impl Connections {
    /// Ends a connection that waits for its client: of the address that holds most of them, so that one address
    /// cannot push out all others; an idle one before one that sends a body; the oldest of these.
    fn evict(&mut self) -> bool {
        let mut held: HashMap<Option<IpAddr>, u32> = HashMap::new();
        for live in self.open.values() {
            *held.entry(live.address).or_default() += 1;
        }
        let victim = self
            .open
            .iter()
            .filter(|(_, live)| live.waits_for_client())
            .min_by_key(|(_, live)| {
                let share = held.get(&live.address).copied().unwrap_or_default();
                (std::cmp::Reverse(share), !live.is_idle(), live.idle_since.load(Ordering::Relaxed))
            })
            .map(|(id, _)| *id);
        let Some(live) = victim.and_then(|id| self.open.remove(&id)) else {
            return false;
        };
        live.ended.cancel();
        true
    }
}

/// A connection's place; given back when dropped.
pub(super) struct Entry {
    register: Arc<Register>,
    id: u64,
    pub(super) live: Arc<Live>,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.register.lock().open.remove(&self.id);
        self.register.metrics.connection_closed();
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
    async fn a_full_door_drops_the_oldest_idle_of_the_greediest() {
        let register = Register::new(3, Metrics::new());
        let modest = register.enter(Some(address(1))).unwrap();
        tokio::time::advance(Duration::from_secs(1)).await;
        let greedy = register.enter(Some(address(2))).unwrap();
        tokio::time::advance(Duration::from_secs(1)).await;
        let greedy_later = register.enter(Some(address(2))).unwrap();
        let busy = received(&greedy);
        let newcomer = register.enter(Some(address(3))).unwrap();
        let is_ended = |entry: &Entry| entry.live.ended.is_cancelled();
        assert!(is_ended(&greedy_later), "idle, of the address with two");
        assert!(!is_ended(&greedy) && !is_ended(&modest) && !is_ended(&newcomer));
        drop(busy);
        let (_first, _second) = (received(&modest), received(&newcomer));
        let _third = received(&greedy);
        assert!(register.enter(Some(address(4))).is_none(), "all are busy");
        drop(greedy);
        assert!(register.enter(Some(address(4))).is_some());
    }

    fn received(entry: &Entry) -> Busy {
        let mut busy = entry.live.request();
        busy.received();
        busy
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_end_keeps_nobody_out() {
        let register = Register::new(3, Metrics::new());
        let enter = |last| register.enter(Some(address(last))).unwrap();
        let first = enter(1);
        tokio::time::advance(Duration::from_secs(1)).await;
        let entries = [first, enter(1), enter(2)];
        let (_first, mut second) = (entries[0].live.request(), entries[1].live.request());
        tokio::time::advance(Duration::from_secs(1)).await;
        let newcomer = enter(3);
        let is_ended = |entry: &Entry| entry.live.ended.is_cancelled();
        assert!(is_ended(&entries[0]), "sends a body, of the address with two");
        second.received();
        let next = enter(4);
        assert!(is_ended(&entries[2]), "idle");
        let _answered = (received(&newcomer), received(&next));
        assert!(register.enter(Some(address(5))).is_none(), "all are worked for");
    }

    #[tokio::test(start_paused = true)]
    async fn each_deadline_ends_a_connection() {
        let limits = Limits::default();
        let register = Register::new(10, Metrics::new());
        let silent = register.enter(None).unwrap();
        let idle = register.enter(None).unwrap();
        idle.live.head_complete();
        let blocked = register.enter(None).unwrap();
        let _request = blocked.live.request();
        blocked.live.write_blocked();
        let working = register.enter(None).unwrap();
        let _other_request = working.live.request();
        let entries = [&silent, &idle, &blocked, &working];
        for (seconds, expected) in [
            (9, [false, false, false, false]),
            (11, [true, false, false, false]),
            (31, [true, false, true, false]),
            (76, [true, true, true, false]),
        ] {
            tokio::time::advance(Duration::from_secs(seconds).saturating_sub(register.start.elapsed())).await;
            register.sweep(&limits);
            assert_eq!(entries.map(|entry| entry.live.ended.is_cancelled()), expected, "after {seconds} s");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_taken_gives_the_others_time() {
        let limits = Limits::default();
        let register = Register::new(10, Metrics::new());
        let entry = register.enter(None).unwrap();
        let (mut first, mut second) = (entry.live.request(), entry.live.request());
        first.answering();
        second.answering();
        tokio::time::advance(Duration::from_secs(25)).await;
        drop(first);
        tokio::time::advance(Duration::from_secs(25)).await;
        register.sweep(&limits);
        assert!(!entry.live.ended.is_cancelled());
        tokio::time::advance(Duration::from_secs(10)).await;
        register.sweep(&limits);
        assert!(entry.live.ended.is_cancelled());
    }
}
