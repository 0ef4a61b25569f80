//! Overload of a daemon: how many requests it still completes, whether it still reports its health, and how
//! it rejects the rest.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use hyper::Method;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::caller::{Caller, now_millis, submit_path};
use crate::http::Listener;
use crate::requests::{self, SIGN};

/// Interval at which more requests are offered.
const TICK: Duration = Duration::from_millis(5);
/// Interval of the health checks.
const PROBE: Duration = Duration::from_millis(50);

/// A request that is ready to be sent.
pub struct Prepared {
    path: String,
    stamp: String,
    body: Vec<u8>,
}

/// Prepares signing requests with different payloads.
pub fn signatures(caller: &Caller, address: &str, count: usize) -> Vec<Prepared> {
    let (path, now) = (submit_path(SIGN), now_millis().to_string());
    let prepare = |number: usize| {
        let payload = format!("payload {number} at {now}");
        let body = caller.proposal_at(&now, SIGN, &requests::sign(address, &payload));
        Prepared { path: path.clone(), stamp: caller.key().stamp(&body), body }
    };
    let parts = thread::available_parallelism().map_or(1, NonZero::get);
    let part = |first: usize| (first..count).step_by(parts).map(prepare).collect::<Vec<_>>();
    thread::scope(|scope| {
        let threads: Vec<_> = (0..parts).map(|first| scope.spawn(move || part(first))).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("stamping ends")).collect()
    })
}

/// Outcome of a load.
#[derive(Debug, Default)]
pub struct Figures {
    /// Completed requests per second.
    pub per_second: f64,
    /// Number of completed requests.
    pub done: usize,
    /// Number of rejected requests, by status and message.
    pub rejected: BTreeMap<String, usize>,
    /// Number of requests without an answer.
    pub unanswered: usize,
    /// Number of offered requests that were not sent, because all connections waited for an answer.
    pub unsent: usize,
    /// Longest time until an answer.
    pub slowest: Duration,
}

impl Figures {
    /// Returns the number of rejected requests.
    pub fn rejections(&self) -> usize {
        self.rejected.values().sum()
    }
}

#[derive(Default)]
struct Tally {
    figures: Mutex<Figures>,
    next: AtomicUsize,
}

/// Lets this process and its children open as many files as the system allows.
pub fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    // If the limit stays lower, the rejections of the daemon show it.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

/// Sends requests over one connection per caller, one after the other on each, until the time or the requests
/// are used up. With `rate`, at most this many are offered per second.
pub async fn load(
    callers: &[Caller],
    requests: &Arc<Vec<Prepared>>,
    rate: Option<f64>,
    length: Duration,
) -> Figures {
    let tally = Arc::new(Tally::default());
    let offered = Arc::new(Semaphore::new(if rate.is_some() { 0 } else { Semaphore::MAX_PERMITS }));
    let begun = Instant::now();
    let end = begun + length;
    let mut senders = JoinSet::new();
    for caller in callers {
        let sender = (caller.clone(), Arc::clone(requests), Arc::clone(&offered), Arc::clone(&tally));
        senders.spawn(async move {
            let (caller, requests, offered, tally) = sender;
            while Instant::now() < end {
                offered.acquire().await.expect("the semaphore stays open").forget();
                let Some(request) = requests.get(tally.next.fetch_add(1, Ordering::Relaxed)) else { return };
                send(&caller, request, &tally).await;
            }
        });
    }
    let mut offered_so_far = 0;
    while let Some(rate) = rate.filter(|_| Instant::now() < end) {
        let due = count(begun.elapsed().as_secs_f64() * rate).saturating_sub(offered_so_far);
        let capacity = callers.len().saturating_sub(offered.available_permits());
        offered.add_permits(due.min(capacity));
        offered_so_far += due;
        tally.figures.lock().expect("no holder panicked").unsent += due.saturating_sub(capacity);
        tokio::time::sleep(TICK).await;
    }
    if rate.is_some() {
        // Wakes the senders that still wait for a permit.
        offered.add_permits(callers.len());
        tally.next.store(requests.len(), Ordering::Relaxed);
    }
    senders.join_all().await;
    let mut figures = std::mem::take(&mut *tally.figures.lock().expect("no holder panicked"));
    figures.per_second = ratio(figures.done) / begun.elapsed().as_secs_f64();
    figures
}

async fn send(caller: &Caller, request: &Prepared, tally: &Tally) {
    let begun = Instant::now();
    let headers = [("x-stamp", request.stamp.as_str())];
    let answer = caller.try_call(Method::POST, &request.path, &headers, &request.body).await;
    let mut figures = tally.figures.lock().expect("no holder panicked");
    figures.slowest = figures.slowest.max(begun.elapsed());
    match answer {
        Err(_) => figures.unanswered += 1,
        Ok(reply) if reply.status == 200 => figures.done += 1,
        Ok(reply) => {
            let message = reply.json()["message"].as_str().unwrap_or_default().to_owned();
            *figures.rejected.entry(format!("{} {message}", reply.status)).or_default() += 1;
        }
    }
}

/// Polls the health of a daemon from a separate thread.
pub struct Probe {
    stop: Arc<AtomicBool>,
    thread: thread::JoinHandle<Vec<Duration>>,
}

impl Probe {
    /// Starts to poll `path`.
    pub fn begin(listener: Listener, path: &'static str) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let should_stop = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(async move {
                let mut times = Vec::new();
                while !should_stop.load(Ordering::Relaxed) {
                    let begun = Instant::now();
                    let mut connection = listener.connect().await.expect("the daemon accepts connections");
                    let reply = connection.call(Method::GET, path, &[], b"").await.expect("an answer");
                    assert_eq!(reply.status, 200, "{reply}");
                    times.push(begun.elapsed());
                    tokio::time::sleep(PROBE).await;
                }
                times
            })
        });
        Self { stop, thread }
    }

    /// Stops polling and returns the answer times, from the fastest to the slowest.
    pub fn end(self) -> Vec<Duration> {
        self.stop.store(true, Ordering::Relaxed);
        let mut times = self.thread.join().expect("every probe was answered");
        times.sort_unstable();
        times
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small and positive")]
fn count(number: f64) -> usize {
    number as usize
}

#[expect(clippy::cast_precision_loss, reason = "small")]
fn ratio(number: usize) -> f64 {
    number as f64
}
