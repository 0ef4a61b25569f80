//! Divides what is scarce among clients: bytes of request bodies and of answers, requests that are answered at once, and
//! the processors on which they compute.
//!
//! A client waits behind its own requests. It waits behind others only if all clients together reach their limit, to
//! which each contributes no more than its own one.

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

/// A step that takes more time is long. Most take a tenth of a millisecond, and stay below it. The runtime looks for
/// new requests after at most 61 steps, so steps that are not long delay the requests of others by at most 15 ms.
const LONG_STEP: Duration = Duration::from_micros(250);

/// What is divided.
pub(super) struct Shares {
    per_client: usize,
    waiting: usize,
    all: Arc<Semaphore>,
    clients: Mutex<HashMap<Client, Arc<Own>>>,
    processors: usize,
}

/// The part of one client.
struct Own {
    free: Arc<Semaphore>,
    waiting: AtomicUsize,
    /// Places of requests that compute.
    computing: Semaphore,
}

impl Shares {
    /// `per_client` and `in_all` are the largest sums of what is held at once; `waiting` is how many requests of one
    /// client may wait.
    pub(super) fn new(per_client: usize, in_all: usize, waiting: usize) -> Arc<Self> {
        let all = Arc::new(Semaphore::new(in_all));
        let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Arc::new(Self { per_client, waiting, all, clients: Mutex::default(), processors })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Client, Arc<Own>>> {
        // The map is valid after every single operation on it.
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes from the client's own part, and waits for it if it must. None if too many requests wait already.
    pub(super) async fn own(self: &Arc<Self>, client: Client, amount: usize) -> Option<OwnShare> {
        let (amount, entry) = self.entry(client, amount);
        let free = &entry.own.free;
        let permit = if let Ok(permit) = Arc::clone(free).try_acquire_many_owned(amount) {
            permit
        } else {
            let _waiting = Waiting::begin(&entry.own.waiting, self.waiting)?;
            // Nobody closes it.
            Arc::clone(free).acquire_many_owned(amount).await.ok()?
        };
        Some(OwnShare { amount, permit, entry })
    }

    /// Takes from the client's own part, if that needs no waiting.
    pub(super) fn own_now(self: &Arc<Self>, client: Client, amount: usize) -> Option<OwnShare> {
        let (amount, entry) = self.entry(client, amount);
        let permit = Arc::clone(&entry.own.free).try_acquire_many_owned(amount).ok()?;
        Some(OwnShare { amount, permit, entry })
    }

    fn entry(self: &Arc<Self>, client: Client, amount: usize) -> (u32, Entry) {
        let amount = u32::try_from(amount.min(self.per_client)).unwrap_or(u32::MAX);
        let new = || Own {
            free: Arc::new(Semaphore::new(self.per_client)),
            waiting: AtomicUsize::new(0),
            computing: Semaphore::new(self.processors),
        };
        let own = Arc::clone(self.lock().entry(client).or_insert_with(|| Arc::new(new())));
        (amount, Entry { shares: Arc::clone(self), client, own })
    }

    /// How many clients hold something or wait for it.
    #[cfg(test)]
    fn clients(&self) -> usize {
        self.lock().len()
    }
}

/// What a client took of its own part.
pub(super) struct OwnShare {
    amount: u32,
    permit: OwnedSemaphorePermit,
    entry: Entry,
}

impl OwnShare {
    /// Takes the same from the part of all clients. Before it waits, `others` may hand over so much of what somebody else took.
    pub(super) async fn of_all(
        self,
        others: impl FnOnce(u32) -> Option<OwnedSemaphorePermit>,
    ) -> Option<Share> {
        let all = &self.entry.shares.all;
        let of_all = if let Ok(permit) = Arc::clone(all).try_acquire_many_owned(self.amount) {
            permit
        } else if let Some(permit) = others(self.amount) {
            permit
        } else {
            // Nobody closes it.
            Arc::clone(all).acquire_many_owned(self.amount).await.ok()?
        };
        Some(Share { of_all: Some(of_all), _own: self.permit, entry: self.entry })
    }

    /// Takes the same from the part of all clients, if that needs no waiting.
    pub(super) fn of_all_now(self) -> Option<Share> {
        let of_all = Arc::clone(&self.entry.shares.all).try_acquire_many_owned(self.amount).ok()?;
        Some(Share { of_all: Some(of_all), _own: self.permit, entry: self.entry })
    }
}

/// What a client took; given back when dropped. The permits go before the entry, which looks whether any is left.
pub(super) struct Share {
    of_all: Option<OwnedSemaphorePermit>,
    _own: OwnedSemaphorePermit,
    entry: Entry,
}

impl Share {
    /// Takes out what it has of the part of all clients.
    pub(super) fn lend(&mut self) -> Option<OwnedSemaphorePermit> {
        self.of_all.take()
    }

    /// Puts back what was taken out.
    pub(super) fn take_back(&mut self, lent: OwnedSemaphorePermit) {
        self.of_all = Some(lent);
    }

    /// Runs a future. Each step takes one of the client's places for computing, of which there are as many as processors.
    /// After a long step, the place is kept until the thread has run what else is ready and has seen what arrived. So only
    /// a few long steps of one client come before a request of another client.
    pub(super) async fn compute<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        loop {
            let place = self.entry.own.computing.acquire().await;
            let begun = Instant::now();
            // The next step begins at the head of this loop, when the task is woken.
            let step = poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await;
            let is_long = begun.elapsed() > LONG_STEP;
            if is_long {
                tokio::task::yield_now().await;
            }
            drop(place);
            match step {
                Poll::Ready(output) => return output,
                // It may have been woken while it yielded.
                Poll::Pending if is_long => {}
                Poll::Pending => until_woken().await,
            }
        }
    }
}

/// Ends when the task is woken next.
async fn until_woken() {
    let mut is_woken = false;
    poll_fn(|_| if std::mem::replace(&mut is_woken, true) { Poll::Ready(()) } else { Poll::Pending }).await;
}

/// Keeps a client in the map while it holds something or waits.
struct Entry {
    shares: Arc<Shares>,
    client: Client,
    own: Arc<Own>,
}

impl Drop for Entry {
    fn drop(&mut self) {
        let mut clients = self.shares.lock();
        // The map and this entry.
        if Arc::strong_count(&self.own) == 2 {
            clients.remove(&self.client);
        }
    }
}

/// One more request that waits.
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

    /// The output of a future that needs no waiting.
    fn now<T>(future: impl Future<Output = T>) -> Option<T> {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        }
    }

    fn take(shares: &Arc<Shares>, client: Client, amount: usize) -> Option<Share> {
        let own = now(shares.own(client, amount)).flatten()?;
        now(own.of_all(|_| None)).flatten()
    }

    #[test]
    fn each_client_has_its_own_part() {
        let shares = Shares::new(2, 5, 1);
        let first = take(&shares, client(1), 2).unwrap();
        assert!(take(&shares, client(1), 1).is_none(), "its part is taken");
        let second = take(&shares, client(2), 2).unwrap();
        assert!(take(&shares, client(3), 2).is_none(), "one is left of all");
        let third = take(&shares, client(3), 1).unwrap();
        drop(first);
        let fourth = take(&shares, client(3), 1).unwrap();
        assert_eq!(shares.clients(), 2);
        drop((second, third, fourth));
        assert_eq!(shares.clients(), 0, "who holds nothing is forgotten");
    }

    #[test]
    fn few_may_wait() {
        let shares = Shares::new(1, 10, 1);
        let held = take(&shares, client(1), 1).unwrap();
        let mut waiting = Box::pin(shares.own(client(1), 1));
        let mut context = Context::from_waker(Waker::noop());
        assert!(waiting.as_mut().poll(&mut context).is_pending());
        assert!(matches!(now(shares.own(client(1), 1)), Some(None)), "one waits already");
        drop(held);
        assert!(matches!(waiting.as_mut().poll(&mut context), Poll::Ready(Some(_))));
        drop(waiting);
        assert_eq!(shares.clients(), 0);
    }

    #[test]
    fn who_goes_away_leaves_nothing_behind() {
        let shares = Shares::new(1, 1, 10);
        let held = take(&shares, client(1), 1).unwrap();
        let mut waiting = Box::pin(async { shares.own(client(2), 1).await.unwrap().of_all(|_| None).await });
        assert!(waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert_eq!(shares.clients(), 2);
        drop(waiting);
        assert_eq!(shares.clients(), 1);
        drop(held);
        assert!(take(&shares, client(2), 1).is_some());
    }

    const CROWD: usize = 60;

    /// Lets what is ready go first.
    async fn again() {
        let mut is_again = false;
        poll_fn(|cx| {
            cx.waker().wake_by_ref();
            if std::mem::replace(&mut is_again, true) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    /// Tasks of one client, each of which asks for one long step after the other. Each step counts one.
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
    async fn steps_of_others_come_between_long_ones_of_a_crowd() {
        let shares = Shares::new(CROWD, 2 * CROWD, 0);
        let steps = crowd(&shares, |_| {});
        let other = take(&shares, client(2), 1).unwrap();
        let waiting = async move {
            let mut most = 0;
            for _ in 0..10 {
                let before = steps.load(Ordering::Relaxed);
                again().await;
                most = most.max(steps.load(Ordering::Relaxed) - before);
            }
            most
        };
        let most = tokio::spawn(async move { other.compute(waiting).await }).await.unwrap();
        assert!(most <= 2 * shares.processors, "{most} steps of a crowd of {CROWD} came first");
    }

    #[tokio::test]
    async fn what_arrives_is_seen_after_a_long_step() {
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
