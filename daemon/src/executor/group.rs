//! The commit queue: collects waiting commits into groups, each of which becomes durable with one sync. A
//! sender wakes the receiver only when a group is complete, so a group costs one wake-up instead of one per
//! commit.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Maximum number of commits in a group.
const GROUP: usize = 256;
/// Maximum time that a group waits for requests that are being decided, so that one sync serves many commits.
/// No wait is longer than the previous group took, so it is short on a fast disk.
const PATIENCE: Duration = Duration::from_millis(1);
/// Maximum time that a group waits after a large one. More commits are likely to arrive, and a sync costs as
/// much as many requests.
const BUSY_PATIENCE: Duration = Duration::from_millis(4);
/// Minimum size of a large group.
const BUSY: usize = 8;

struct Queue<T> {
    state: Mutex<State<T>>,
    wakeup: Condvar,
    deciding: AtomicUsize,
}

struct State<T> {
    waiting: Vec<T>,
    /// Condition that the receiver sleeps for; `None` while it is awake.
    asleep: Option<WakeCondition>,
    /// Whether the sender or the receiver was dropped.
    closed: bool,
}

impl<T> State<T> {
    fn take_group(&mut self) -> Vec<T> {
        let size = self.waiting.len().min(GROUP);
        self.waiting.drain(..size).collect()
    }
}

/// Condition on which a sleeping receiver is woken.
#[derive(Clone, Copy)]
enum WakeCondition {
    /// At least one commit waits.
    First,
    /// The given number of commits wait, and no request is being decided.
    Whole(usize),
}

impl WakeCondition {
    fn is_met(self, waiting: usize, deciding: usize) -> bool {
        match self {
            Self::First => waiting > 0,
            Self::Whole(group) => waiting >= GROUP || (waiting >= group && deciding == 0),
        }
    }
}

/// The sending end of the queue.
pub struct Sender<T>(Arc<Queue<T>>);

/// A sending end that does not keep the queue open.
pub struct WeakSender<T>(Weak<Queue<T>>);

/// The receiving end of the queue, which collects groups.
pub struct Receiver<T> {
    queue: Arc<Queue<T>>,
    /// Size of the previous group.
    before: usize,
    /// Bounds of the wait after a large group. Within them, it is as long as that group took.
    patience: RangeInclusive<Duration>,
    /// Time at which the previous group was collected.
    collected: Instant,
}

/// A request that is being decided and will probably commit soon.
pub struct Deciding<T>(Option<Arc<Queue<T>>>);

/// Creates a queue whose receiver collects groups in the order of sending.
pub fn queue<T>() -> (Sender<T>, Receiver<T>) {
    let state = State { waiting: Vec::new(), asleep: None, closed: false };
    let queue = Queue { state: Mutex::new(state), wakeup: Condvar::new(), deciding: AtomicUsize::new(0) };
    let queue = Arc::new(queue);
    (
        Sender(Arc::clone(&queue)),
        Receiver { queue, before: 0, patience: PATIENCE..=BUSY_PATIENCE, collected: Instant::now() },
    )
}

impl<T> Queue<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the receiver if its condition is met.
    fn wake_if_met(&self, mut state: MutexGuard<'_, State<T>>) {
        let deciding = self.deciding.load(Ordering::Relaxed);
        let wakes = state.asleep.is_some_and(|condition| condition.is_met(state.waiting.len(), deciding));
        if wakes {
            // A group that was complete once is collected as it is.
            state.asleep = None;
        }
        drop(state);
        if wakes {
            self.wakeup.notify_one();
        }
    }

    fn push(&self, one: T) {
        let mut state = self.lock();
        if !state.closed {
            state.waiting.push(one);
            self.wake_if_met(state);
        }
    }

    /// Sleeps until the condition is met, the deadline has passed or the queue is closed.
    fn sleep<'q>(
        &self,
        mut state: MutexGuard<'q, State<T>>,
        condition: WakeCondition,
        until: Option<Instant>,
    ) -> MutexGuard<'q, State<T>> {
        if state.closed || condition.is_met(state.waiting.len(), self.deciding.load(Ordering::Relaxed)) {
            return state;
        }
        state.asleep = Some(condition);
        while state.asleep.is_some() && !state.closed {
            state = match until.map(|until| until.saturating_duration_since(Instant::now())) {
                Some(Duration::ZERO) => break,
                Some(left) => self.wakeup.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0,
                None => self.wakeup.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
        state.asleep = None;
        state
    }
}

impl<T> Sender<T> {
    /// Counts a request as being decided until its guard is sent with the commit, or dropped.
    pub fn deciding(&self) -> Deciding<T> {
        self.0.deciding.fetch_add(1, Ordering::Relaxed);
        Deciding(Some(Arc::clone(&self.0)))
    }

    /// Sends a commit and releases its guard. The commit is dropped if the receiver was dropped.
    pub fn send(&self, one: T, deciding: Option<Deciding<T>>) {
        if let Some(queue) = deciding.and_then(|mut deciding| deciding.0.take()) {
            queue.deciding.fetch_sub(1, Ordering::Relaxed);
        }
        self.0.push(one);
    }

    /// Returns a sending end that does not keep the queue open.
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender(Arc::downgrade(&self.0))
    }
}

impl<T> WeakSender<T> {
    /// Sends a commit. It is dropped if the queue is closed.
    pub fn send(&self, one: T) {
        if let Some(queue) = self.0.upgrade() {
            queue.push(one);
        }
    }
}

impl<T> Receiver<T> {
    /// Collects all waiting commits, after `rest` at the latest, even if no commit waits. Returns `None` if
    /// the sender was dropped and nothing waits.
    pub fn group_within(&mut self, rest: Duration) -> Option<Vec<T>> {
        let until = Instant::now() + rest;
        let mut state = self.queue.sleep(self.queue.lock(), WakeCondition::First, Some(until));
        let group = state.take_group();
        (!group.is_empty() || !state.closed).then_some(group)
    }

    /// Collects all waiting commits, and waits briefly for more. It waits while requests are being decided,
    /// or while the group is smaller than the previous one, if that was large. A single request does not
    /// wait. If nothing arrives within `rest`, the group is empty. Returns `None` if the sender was dropped
    /// and nothing waits.
    pub fn group(&mut self, rest: Option<Duration>) -> Option<Vec<T>> {
        let queue = Arc::clone(&self.queue);
        let took = self.collected.elapsed();
        let mut state = queue.lock();
        let busy = self.before >= BUSY;
        if busy {
            // Clients that were answered together send their next requests together.
            let patience = took.clamp(*self.patience.start(), *self.patience.end());
            let until = Instant::now() + patience;
            state = queue.sleep(state, WakeCondition::Whole(self.before), Some(until));
        }
        if !busy || state.waiting.is_empty() {
            state = queue.sleep(state, WakeCondition::First, rest.map(|rest| Instant::now() + rest));
            if state.waiting.is_empty() && !state.closed {
                (self.before, self.collected) = (0, Instant::now());
                return Some(Vec::new());
            }
            let until = Instant::now() + took.min(PATIENCE);
            state = queue.sleep(state, WakeCondition::Whole(1), Some(until));
        }
        let group = state.take_group();
        drop(state);
        self.before = group.len();
        self.collected = Instant::now();
        (!group.is_empty()).then_some(group)
    }
}

impl<T> Drop for Deciding<T> {
    fn drop(&mut self) {
        // A group may have waited for this request only.
        if let Some(queue) = self.0.take()
            && queue.deciding.fetch_sub(1, Ordering::Relaxed) == 1
        {
            queue.wake_if_met(queue.lock());
        }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.wakeup.notify_all();
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        state.closed = true;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        // Dropping the commits notifies their senders.
        drop(waiting);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use std::thread::JoinHandle;

    fn send_all(sender: &Sender<usize>, numbers: std::ops::Range<usize>) {
        numbers.for_each(|number| sender.send(number, None));
    }

    #[test]
    fn collects_waiting_commits_in_order_up_to_the_limit() {
        let (sender, mut receiver) = queue();
        send_all(&sender, 0..GROUP + 2);
        assert_eq!(receiver.group(None), Some((0..GROUP).collect()));
        assert_eq!(receiver.group(None), Some(vec![GROUP, GROUP + 1]));
        sender.send(7, None);
        assert_eq!(receiver.group(None), Some(vec![7]));
    }

    #[test]
    fn a_group_ends_when_nothing_more_arrives() {
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

    /// Waits for a large group on a thread, with such long timeouts that only a wake-up can end the wait.
    fn asleep(sender: &Sender<usize>, mut receiver: Receiver<usize>) -> JoinHandle<Option<Vec<usize>>> {
        receiver.before = BUSY;
        receiver.patience = ENDLESS..=ENDLESS;
        let collecting = std::thread::spawn(move || receiver.group(None));
        while sender.0.lock().asleep.is_none() {
            std::thread::yield_now();
        }
        collecting
    }

    #[test]
    fn the_receiver_is_woken_when_a_group_is_complete() {
        let (sender, receiver) = queue();
        let collecting = asleep(&sender, receiver);
        send_all(&sender, 0..BUSY);
        assert_eq!(collecting.join().unwrap(), Some((0..BUSY).collect()));
    }

    #[test]
    fn the_receiver_is_woken_when_the_last_request_ends_without_a_commit() {
        let (sender, receiver) = queue();
        let (first, second) = (sender.deciding(), sender.deciding());
        let collecting = asleep(&sender, receiver);
        send_all(&sender, 0..BUSY - 1);
        sender.send(BUSY - 1, Some(first));
        drop(second);
        assert_eq!(collecting.join().unwrap(), Some((0..BUSY).collect()));
    }

    #[test]
    fn commits_are_dropped_after_the_receiver() {
        let (sender, receiver) = queue();
        let one = Arc::new(());
        sender.send(Arc::clone(&one), None);
        drop(receiver);
        sender.send(Arc::clone(&one), None);
        assert_eq!(Arc::strong_count(&one), 1);
    }
}
