//! Gathering: how many waiting commits become durable with one sync. Whoever sends wakes the receiver only when a
//! group is whole, so that a group costs one wake and not one for each of its members.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Largest group.
const GROUP: usize = 256;
/// How long a group waits for requests that are being decided, so that one sync serves many.
const PATIENCE: Duration = Duration::from_millis(1);
/// How long a group waits at most when the one before was large: more will come, and each sync costs what many
/// requests cost. It waits at most for as long as the group before took, so it waits little if the disk is fast.
const BUSY_PATIENCE: Duration = Duration::from_millis(4);
/// A group of this size is large.
const BUSY: usize = 8;

struct Queue<T> {
    state: Mutex<State<T>>,
    bell: Condvar,
    deciding: AtomicUsize,
}

struct State<T> {
    waiting: Vec<T>,
    /// For what the receiver sleeps; nothing while it is awake.
    asleep: Option<Goal>,
    /// One of the two ends is gone.
    closed: bool,
}

/// When a sleeping receiver is to be woken.
#[derive(Clone, Copy)]
enum Goal {
    /// Something waits.
    First,
    /// As many wait, and nobody else is about to come.
    Whole(usize),
}

impl Goal {
    fn is_met(self, waiting: usize, deciding: usize) -> bool {
        match self {
            Self::First => waiting > 0,
            Self::Whole(group) => waiting >= GROUP || (waiting >= group && deciding == 0),
        }
    }
}

/// The end at which commits are sent.
pub struct Sender<T>(Arc<Queue<T>>);

/// Another end at which commits are sent, which does not keep the queue open.
pub struct WeakSender<T>(Weak<Queue<T>>);

/// The end at which groups are taken.
pub struct Receiver<T> {
    queue: Arc<Queue<T>>,
    /// Size of the group before.
    before: usize,
    /// How long a group waits after a large one: for as long as that one took, within these limits.
    patience: RangeInclusive<Duration>,
    /// When the group before was taken.
    taken: Instant,
}

/// A request that is being decided, and will probably commit soon.
pub struct Deciding<T>(Option<Arc<Queue<T>>>);

/// A queue whose receiver takes groups, in the order of sending.
pub fn queue<T>() -> (Sender<T>, Receiver<T>) {
    let state = State { waiting: Vec::new(), asleep: None, closed: false };
    let queue = Queue { state: Mutex::new(state), bell: Condvar::new(), deciding: AtomicUsize::new(0) };
    let queue = Arc::new(queue);
    (
        Sender(Arc::clone(&queue)),
        Receiver { queue, before: 0, patience: PATIENCE..=BUSY_PATIENCE, taken: Instant::now() },
    )
}

impl<T> Queue<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the receiver if that is what it sleeps for.
    fn ring(&self, mut state: MutexGuard<'_, State<T>>) {
        let deciding = self.deciding.load(Ordering::Relaxed);
        let wakes = state.asleep.is_some_and(|goal| goal.is_met(state.waiting.len(), deciding));
        if wakes {
            // A group that was whole once is taken as it is.
            state.asleep = None;
        }
        drop(state);
        if wakes {
            self.bell.notify_one();
        }
    }

    fn push(&self, one: T) {
        let mut state = self.lock();
        if !state.closed {
            state.waiting.push(one);
            self.ring(state);
        }
    }

    /// Sleeps until the goal is met, the time has come, or the queue is closed.
    fn sleep<'q>(
        &self,
        mut state: MutexGuard<'q, State<T>>,
        goal: Goal,
        until: Option<Instant>,
    ) -> MutexGuard<'q, State<T>> {
        if state.closed || goal.is_met(state.waiting.len(), self.deciding.load(Ordering::Relaxed)) {
            return state;
        }
        state.asleep = Some(goal);
        while state.asleep.is_some() && !state.closed {
            state = match until.map(|until| until.saturating_duration_since(Instant::now())) {
                Some(Duration::ZERO) => break,
                Some(left) => self.bell.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0,
                None => self.bell.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
        state.asleep = None;
        state
    }
}

impl<T> Sender<T> {
    /// Counts a request as being decided until the answer is sent with its commit, or dropped.
    pub fn deciding(&self) -> Deciding<T> {
        self.0.deciding.fetch_add(1, Ordering::Relaxed);
        Deciding(Some(Arc::clone(&self.0)))
    }

    /// Sends one, which ends that it is being decided. It is dropped if the receiver is gone.
    pub fn send(&self, one: T, deciding: Option<Deciding<T>>) {
        if let Some(queue) = deciding.and_then(|mut deciding| deciding.0.take()) {
            queue.deciding.fetch_sub(1, Ordering::Relaxed);
        }
        self.0.push(one);
    }

    /// An end that does not keep the queue open.
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender(Arc::downgrade(&self.0))
    }
}

impl<T> WeakSender<T> {
    /// Sends one. It is dropped if the queue is closed.
    pub fn send(&self, one: T) {
        if let Some(queue) = self.0.upgrade() {
            queue.push(one);
        }
    }
}

impl<T> Receiver<T> {
    /// Takes all that waits, after `rest` at the latest, even if that is nothing. `None` when the sender is gone and
    /// nothing waits.
    pub fn group_within(&mut self, rest: Duration) -> Option<Vec<T>> {
        let until = Instant::now() + rest;
        let mut state = self.queue.sleep(self.queue.lock(), Goal::First, Some(until));
        let size = state.waiting.len().min(GROUP);
        let group: Vec<T> = state.waiting.drain(..size).collect();
        (size > 0 || !state.closed).then_some(group)
    }

    /// Takes all that waits, and for a moment what is about to come: as long as requests are being decided, or
    /// as fewer came than the time before, if those were many. A request that comes alone does not wait.
    /// If nothing comes for the time of `rest`, it takes that. `None` when the sender is gone and nothing waits.
    pub fn group(&mut self, rest: Option<Duration>) -> Option<Vec<T>> {
        let queue = Arc::clone(&self.queue);
        let mut state = queue.lock();
        let busy = self.before >= BUSY;
        if busy {
            // Clients that were answered together come back together.
            let patience = self.taken.elapsed().clamp(*self.patience.start(), *self.patience.end());
            let until = Instant::now() + patience;
            state = queue.sleep(state, Goal::Whole(self.before), Some(until));
        }
        if !busy || state.waiting.is_empty() {
            state = queue.sleep(state, Goal::First, rest.map(|rest| Instant::now() + rest));
            if state.waiting.is_empty() && !state.closed {
                self.before = 0;
                return Some(Vec::new());
            }
            let until = Instant::now() + PATIENCE;
            state = queue.sleep(state, Goal::Whole(1), Some(until));
        }
        let size = state.waiting.len().min(GROUP);
        let group: Vec<T> = state.waiting.drain(..size).collect();
        drop(state);
        self.before = size;
        self.taken = Instant::now();
        (size > 0).then_some(group)
    }
}

impl<T> Drop for Deciding<T> {
    fn drop(&mut self) {
        // The last one that comes to nothing may be what a group waited for.
        if let Some(queue) = self.0.take()
            && queue.deciding.fetch_sub(1, Ordering::Relaxed) == 1
        {
            queue.ring(queue.lock());
        }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.bell.notify_all();
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        state.closed = true;
        let unheard = std::mem::take(&mut state.waiting);
        drop(state);
        // Their senders are told by it.
        drop(unheard);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use std::thread::JoinHandle;

    fn sent(sender: &Sender<usize>, numbers: std::ops::Range<usize>) {
        numbers.for_each(|number| sender.send(number, None));
    }

    #[test]
    fn takes_what_waits_up_to_the_limit_and_in_order() {
        let (sender, mut receiver) = queue();
        sent(&sender, 0..GROUP + 2);
        assert_eq!(receiver.group(None), Some((0..GROUP).collect()));
        assert_eq!(receiver.group(None), Some(vec![GROUP, GROUP + 1]));
        sender.send(7, None);
        assert_eq!(receiver.group(None), Some(vec![7]));
    }

    #[test]
    fn ends_when_nobody_comes_whatever_is_expected() {
        let (sender, mut receiver) = queue();
        for (deciding, before) in [(1, 0), (0, GROUP), (3, GROUP)] {
            let guards: Vec<_> = (0..deciding).map(|_| sender.deciding()).collect();
            receiver.before = before;
            sender.send(1, None);
            assert_eq!(receiver.group(None), Some(vec![1]), "{deciding} {before}");
            drop(guards);
        }
        sender.send(1, None);
        drop(sender);
        assert_eq!(receiver.group(None), Some(vec![1]));
        assert_eq!(receiver.group(None), None);
    }

    const ENDLESS: Duration = Duration::from_secs(100_000);

    /// Sleeps for a large group on a thread of its own, with such patience that only a wake can end it.
    fn asleep(sender: &Sender<usize>, mut receiver: Receiver<usize>) -> JoinHandle<Option<Vec<usize>>> {
        receiver.before = BUSY;
        receiver.patience = ENDLESS..=ENDLESS;
        let taking = std::thread::spawn(move || receiver.group(None));
        while sender.0.lock().asleep.is_none() {
            std::thread::yield_now();
        }
        taking
    }

    #[test]
    fn who_waits_for_a_group_is_woken_when_it_is_whole() {
        let (sender, receiver) = queue();
        let taking = asleep(&sender, receiver);
        sent(&sender, 0..BUSY);
        assert_eq!(taking.join().unwrap(), Some((0..BUSY).collect()));
    }

    #[test]
    fn who_waits_for_a_request_is_woken_when_it_comes_to_nothing() {
        let (sender, receiver) = queue();
        let (first, second) = (sender.deciding(), sender.deciding());
        let taking = asleep(&sender, receiver);
        sent(&sender, 0..BUSY - 1);
        sender.send(BUSY - 1, Some(first));
        drop(second);
        assert_eq!(taking.join().unwrap(), Some((0..BUSY).collect()));
    }

    #[test]
    fn what_nobody_takes_any_more_is_dropped() {
        let (sender, receiver) = queue();
        let one = Arc::new(());
        sender.send(Arc::clone(&one), None);
        drop(receiver);
        sender.send(Arc::clone(&one), None);
        assert_eq!(Arc::strong_count(&one), 1);
    }
}
