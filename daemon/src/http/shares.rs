//! Divides limited resources among clients: memory for request bodies and answers, slots for concurrent
//! requests, and processors.
//!
//! A client waits behind its own requests. It waits behind others only if all clients together reach their
//! limit, to which no client contributes more than its own limit.

use std::collections::HashMap;
use std::future::poll_fn;
use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::source::Client;

/// Duration above which a step counts as long. Most steps take a tenth of a millisecond. The runtime polls
/// for new requests after at most 61 steps, so shorter steps delay the requests of others by at most 15 ms.
const LONG_STEP: Duration = Duration::from_micros(250);

/// A resource that is divided among clients.
pub(super) struct Shares {
    per_client: usize,
    waiting: usize,
    all: Arc<Semaphore>,
    clients: Mutex<HashMap<Client, Arc<ClientLimits>>>,
    processors: usize,
}

/// What one client may hold.
struct ClientLimits {
    free: Arc<Semaphore>,
    waiting: AtomicUsize,
    /// Permits for requests that compute.
    computing: Semaphore,
}

impl Shares {
    /// Creates a resource. `per_client` and `global` are the maximum amounts that are held at the same time;
    /// `waiting` is the maximum number of waiting requests per client.
    pub(super) fn new(per_client: usize, global: usize, waiting: usize) -> Arc<Self> {
        let all = Arc::new(Semaphore::new(global));
        let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Arc::new(Self { per_client, waiting, all, clients: Mutex::default(), processors })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Client, Arc<ClientLimits>>> {
        // The map is valid after each single operation.
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Acquires an amount within the limit of the client, and waits for it if necessary. Returns `None` if
    /// too many requests wait already.
    pub(super) async fn acquire(self: &Arc<Self>, client: Client, amount: usize) -> Option<ClientShare> {
        let (amount, entry) = self.entry(client, amount);
        let free = &entry.limits.free;
        let permit = if let Ok(permit) = Arc::clone(free).try_acquire_many_owned(amount) {
            permit
        } else {
            let _waiting = Waiting::begin(&entry.limits.waiting, self.waiting)?;
            // The semaphore is never closed.
            Arc::clone(free).acquire_many_owned(amount).await.ok()?
        };
        Some(ClientShare { amount, permit, entry })
    }

    /// Acquires an amount within the limit of the client, without waiting.
    pub(super) fn try_acquire(self: &Arc<Self>, client: Client, amount: usize) -> Option<ClientShare> {
        let (amount, entry) = self.entry(client, amount);
        let permit = Arc::clone(&entry.limits.free).try_acquire_many_owned(amount).ok()?;
        Some(ClientShare { amount, permit, entry })
    }

    fn entry(self: &Arc<Self>, client: Client, amount: usize) -> (u32, Entry) {
        let amount = u32::try_from(amount.min(self.per_client)).unwrap_or(u32::MAX);
        let new = || ClientLimits {
            free: Arc::new(Semaphore::new(self.per_client)),
            waiting: AtomicUsize::new(0),
            computing: Semaphore::new(self.processors),
        };
        let limits = Arc::clone(self.lock().entry(client).or_insert_with(|| Arc::new(new())));
        (amount, Entry { shares: Arc::clone(self), client, limits })
    }

    /// Returns the number of clients that hold something or wait.
    #[cfg(test)]
    fn clients(&self) -> usize {
        self.lock().len()
    }
}

/// An amount that was acquired within the limit of one client.
pub(super) struct ClientShare {
    amount: u32,
    permit: OwnedSemaphorePermit,
    entry: Entry,
}

impl ClientShare {
    /// Acquires the same amount within the limit of all clients. Before it waits, `others` may provide
    /// permits that were evicted from other requests.
    pub(super) async fn acquire_global(
        self,
        others: impl FnOnce(u32) -> Option<OwnedSemaphorePermit>,
    ) -> Option<Share> {
        let all = &self.entry.shares.all;
        let global = if let Ok(permit) = Arc::clone(all).try_acquire_many_owned(self.amount) {
            permit
        } else if let Some(permit) = others(self.amount) {
            permit
        } else {
            // The semaphore is never closed.
            Arc::clone(all).acquire_many_owned(self.amount).await.ok()?
        };
        Some(Share { global: Some(global), _client: self.permit, entry: self.entry })
    }

    /// Acquires the same amount within the limit of all clients, without waiting.
    pub(super) fn try_acquire_global(self) -> Option<Share> {
        let global = Arc::clone(&self.entry.shares.all).try_acquire_many_owned(self.amount).ok()?;
        Some(Share { global: Some(global), _client: self.permit, entry: self.entry })
    }
}

/// An acquired amount, released when dropped. The permits are dropped before the entry, which checks whether
/// the client still holds any.
pub(super) struct Share {
    global: Option<OwnedSemaphorePermit>,
    _client: OwnedSemaphorePermit,
    entry: Entry,
}

impl Share {
    /// Removes and returns the permits of the limit of all clients.
    pub(super) fn detach(&mut self) -> Option<OwnedSemaphorePermit> {
        self.global.take()
    }

    /// Returns the permits that were detached.
    pub(super) fn attach(&mut self, permits: OwnedSemaphorePermit) {
        self.global = Some(permits);
    }

    /// Runs a future. Each step takes one of the client's compute permits, of which there are as many as
    /// processors. After a long step, the permit is held until the thread has run the other ready tasks and
    /// polled for new requests. Therefore only a few long steps of one client run before a request of another
    /// client.
    pub(super) async fn compute<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        loop {
            let permit = self.entry.limits.computing.acquire().await;
            let begun = Instant::now();
            // The next step runs at the start of this loop, when the task is woken.
            let step = poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await;
            let is_long = begun.elapsed() > LONG_STEP;
            if is_long {
                tokio::task::yield_now().await;
            }
            drop(permit);
            match step {
                Poll::Ready(output) => return output,
                // The task may have been woken while it yielded.
                Poll::Pending if is_long => {}
                Poll::Pending => until_woken().await,
            }
        }
    }
}

/// Completes when the task is woken next.
async fn until_woken() {
    let mut is_woken = false;
    poll_fn(|_| if std::mem::replace(&mut is_woken, true) { Poll::Ready(()) } else { Poll::Pending }).await;
}

/// Keeps a client in the map while it holds something or waits.
struct Entry {
    shares: Arc<Shares>,
    client: Client,
    limits: Arc<ClientLimits>,
}

impl Drop for Entry {
    fn drop(&mut self) {
        let mut clients = self.shares.lock();
        // One reference is in the map, the other in this entry.
        if Arc::strong_count(&self.limits) == 2 {
            clients.remove(&self.client);
        }
    }
}

/// Counts a waiting request.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn begin(count: &'a AtomicUsize, limit: usize) -> Option<Self> {
        let waiting = Self(count);
        (count.fetch_add(1, Ordering::Relaxed) < limit).then_some(waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use std::io::Write as _;
    use std::net::{IpAddr, Ipv4Addr};
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn client(last: u8) -> Client {
        Client::Network(IpAddr::V4(Ipv4Addr::new(192, 0, 2, last)))
    }

    /// Returns the output of a future that does not wait.
    fn now<T>(future: impl Future<Output = T>) -> Option<T> {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        }
    }

    fn take(shares: &Arc<Shares>, client: Client, amount: usize) -> Option<Share> {
        let client_share = now(shares.acquire(client, amount)).flatten()?;
        now(client_share.acquire_global(|_| None)).flatten()
    }

    #[test]
    fn each_client_has_its_own_limit() {
        let shares = Shares::new(2, 5, 1);
        let first = take(&shares, client(1), 2).unwrap();
        assert!(take(&shares, client(1), 1).is_none(), "the limit of the client is reached");
        let second = take(&shares, client(2), 2).unwrap();
        assert!(take(&shares, client(3), 2).is_none(), "one is left of the limit of all clients");
        let third = take(&shares, client(3), 1).unwrap();
        drop(first);
        let fourth = take(&shares, client(3), 1).unwrap();
        assert_eq!(shares.clients(), 2);
        drop((second, third, fourth));
        assert_eq!(shares.clients(), 0, "clients that hold nothing are removed");
    }

    #[test]
    fn the_number_of_waiting_requests_is_limited() {
        let shares = Shares::new(1, 10, 1);
        let held = take(&shares, client(1), 1).unwrap();
        let mut waiting = Box::pin(shares.acquire(client(1), 1));
        let mut context = Context::from_waker(Waker::noop());
        assert!(waiting.as_mut().poll(&mut context).is_pending());
        assert!(matches!(now(shares.acquire(client(1), 1)), Some(None)), "one request waits already");
        drop(held);
        assert!(matches!(waiting.as_mut().poll(&mut context), Poll::Ready(Some(_))));
        drop(waiting);
        assert_eq!(shares.clients(), 0);
    }

    #[test]
    fn a_cancelled_request_leaves_nothing_behind() {
        let shares = Shares::new(1, 1, 10);
        let held = take(&shares, client(1), 1).unwrap();
        let mut waiting =
            Box::pin(async { shares.acquire(client(2), 1).await.unwrap().acquire_global(|_| None).await });
        assert!(waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert_eq!(shares.clients(), 2);
        drop(waiting);
        assert_eq!(shares.clients(), 1);
        drop(held);
        assert!(take(&shares, client(2), 1).is_some());
    }

    const CROWD: usize = 60;

    /// Yields to the tasks that are ready.
    async fn yield_once() {
        let mut has_yielded = false;
        poll_fn(|cx| {
            cx.waker().wake_by_ref();
            if std::mem::replace(&mut has_yielded, true) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    /// Spawns tasks of one client, each of which runs one long step after the other. Returns the number of
    /// steps so far.
    fn crowd(shares: &Arc<Shares>, step: impl Fn(usize) + Clone + Send + Sync + 'static) -> Arc<AtomicUsize> {
        let steps = Arc::new(AtomicUsize::new(0));
        for _ in 0..CROWD {
            let share = take(shares, client(1), 1).unwrap();
            let (steps, step) = (Arc::clone(&steps), step.clone());
            tokio::spawn(async move {
                loop {
                    let long = async {
                        let begun = Instant::now();
                        while begun.elapsed() <= LONG_STEP {
                            std::hint::spin_loop();
                        }
                        step(steps.fetch_add(1, Ordering::Relaxed));
                    };
                    share.compute(long).await;
                }
            });
        }
        steps
    }

    #[tokio::test]
    async fn steps_of_other_clients_run_between_long_steps() {
        let shares = Shares::new(CROWD, 2 * CROWD, 0);
        let steps = crowd(&shares, |_| {});
        let other = take(&shares, client(2), 1).unwrap();
        let waiting = async move {
            let mut most = 0;
            for _ in 0..10 {
                let before = steps.load(Ordering::Relaxed);
                yield_once().await;
                most = most.max(steps.load(Ordering::Relaxed) - before);
            }
            most
        };
        let most = tokio::spawn(async move { other.compute(waiting).await }).await.unwrap();
        assert!(most <= 2 * shares.processors, "{most} steps of a crowd of {CROWD} came first");
    }

    #[tokio::test]
    async fn new_data_is_seen_after_a_long_step() {
        let (own, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        own.set_nonblocking(true).unwrap();
        let own = tokio::net::UnixStream::from_std(own).unwrap();
        let shares = Shares::new(CROWD, CROWD, 0);
        let theirs = Arc::new(theirs);
        let steps = crowd(&shares, move |step| {
            if step == 100 {
                (&*theirs).write_all(b"1").unwrap();
            }
        });
        let seen = async move {
            own.readable().await.unwrap();
            steps.load(Ordering::Relaxed)
        };
        let after = tokio::spawn(seen).await.unwrap() - 100;
        assert!(after <= 2 * shares.processors, "{after} long steps of a crowd came first");
    }
}
