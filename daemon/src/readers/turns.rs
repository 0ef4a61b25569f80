//! The turns of the sub-organizations of one tenant. Anybody may be able to create sub-organizations, so a crowd of them must
//! not keep another one from its queries.
//!
//! Of the work that waits, that of the sub-organization which runs the least is next, then that of the one which used the
//! least recently, then the oldest. Each sub-organization may have one piece of work waiting, however much the others have.
//! If there are too many even so, the sub-organization that used the most recently gives way.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quorate_common::ids::OrganizationId;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// Maximum time that work waits for its turn.
pub(super) const WAIT: Duration = Duration::from_secs(10);
/// Time after which the recent use of each sub-organization counts half.
const HALVED: Duration = Duration::from_secs(2);
/// Use that each request counts, in addition to the time that it runs: one that is rejected and repeated at once counts more
/// than one that runs.
const REQUEST: Duration = Duration::from_millis(50);
/// Maximum number of sub-organizations whose recent use is remembered.
const REMEMBERED: usize = 4096;

/// The turns, as described in the module documentation.
pub(super) struct Turns {
    /// Maximum number of turns at the same time.
    each: usize,
    limits: Waiters,
    queue: Mutex<Queue>,
}

/// Maximum numbers of pieces of work that wait or have a turn.
struct Waiters {
    /// For one sub-organization.
    own: usize,
    /// For all together, if the sub-organization has some already.
    further: usize,
    /// For all together.
    all: usize,
}

#[derive(Default)]
struct Queue {
    /// Number of the next piece of work.
    next: u64,
    waiting: Vec<Waiting>,
    /// Work that has a turn, by its number.
    running: HashMap<u64, OrganizationId>,
    uses: Uses,
}

struct Waiting {
    number: u64,
    child: OrganizationId,
    /// Dropped if the work gives way.
    turn: oneshot::Sender<()>,
}

/// How much sub-organizations used recently.
#[derive(Default)]
struct Uses {
    used: HashMap<OrganizationId, Duration>,
    halved: Option<Instant>,
}

impl Uses {
    fn add(&mut self, child: OrganizationId, used: Duration) {
        let now = Instant::now();
        while let Some(next) = self.halved.map(|halved| halved + HALVED).filter(|next| *next <= now) {
            self.used.retain(|_, used| {
                *used /= 2;
                *used >= REQUEST / 2
            });
            self.halved = (!self.used.is_empty()).then_some(next);
        }
        if self.used.len() >= REMEMBERED {
            self.used.clear();
        }
        let recent = self.used.entry(child).or_default();
        *recent = recent.saturating_add(used);
        self.halved.get_or_insert(now);
    }

    fn of(&self, child: OrganizationId) -> Duration {
        self.used.get(&child).copied().unwrap_or_default()
    }
}

impl Queue {
    /// Returns how many pieces of work of a sub-organization have a turn.
    fn running(&self, child: OrganizationId) -> usize {
        self.running.values().filter(|one| **one == child).count()
    }

    /// Returns how many of them wait or have a turn.
    fn count(&self, child: OrganizationId) -> usize {
        let waiting = self.waiting.iter().filter(|one| one.child == child).count();
        waiting.saturating_add(self.running(child))
    }

    fn len(&self) -> usize {
        self.waiting.len().saturating_add(self.running.len())
    }

    /// Removes the waiting work that gives way to new work of a sub-organization. Returns whether there is some.
    fn displace(&mut self, child: OrganizationId) -> bool {
        let rank = |one: OrganizationId, others: usize| (others, self.uses.of(one));
        let waiting = self.waiting.iter().enumerate();
        let ranked = waiting.map(|(at, one)| (rank(one.child, self.count(one.child)), one.number, at));
        let Some((most, _, at)) = ranked.max() else { return false };
        let gives_way = most > rank(child, self.count(child).saturating_add(1));
        if gives_way {
            self.waiting.swap_remove(at);
        }
        gives_way
    }

    /// Gives free turns to the work that is next.
    fn grant(&mut self, each: usize) {
        while self.running.len() < each {
            let waiting = self.waiting.iter().enumerate();
            let ranked =
                waiting.map(|(at, one)| (self.running(one.child), self.uses.of(one.child), one.number, at));
            let Some((.., at)) = ranked.min() else { return };
            let Waiting { number, child, turn } = self.waiting.swap_remove(at);
            // Nobody waits for it anymore if its caller was cancelled.
            if turn.send(()).is_ok() {
                self.running.insert(number, child);
            }
        }
    }
}

/// A piece of work that waits or has a turn, until it is dropped.
pub(super) struct Turn {
    turns: Arc<Turns>,
    number: u64,
    child: OrganizationId,
    /// When the work began to run.
    begun: Option<Instant>,
}

impl Turn {
    /// Notes that the work runs from now on.
    pub(super) fn begin(&mut self) {
        self.begun = Some(Instant::now());
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut queue = self.turns.lock();
        queue.waiting.retain(|one| one.number != self.number);
        if queue.running.remove(&self.number).is_some() {
            let used = self.begun.map(|begun| begun.elapsed()).unwrap_or_default();
            queue.uses.add(self.child, used);
        }
        queue.grant(self.turns.each);
    }
}

impl Turns {
    /// Creates turns: `each` at the same time. One sub-organization may have a quarter of `waiting` pieces of work that wait or
    /// run. All together may have half of it, and as long as each further one has a single piece, twice as many.
    pub(super) fn new(each: usize, waiting: usize) -> Self {
        let limits = Waiters { own: waiting / 4, further: waiting / 2, all: waiting.saturating_mul(2) };
        Self { each, limits, queue: Mutex::default() }
    }

    /// Waits for a turn of a sub-organization. Returns `None` if too much of it waits, or if it waits too long.
    pub(super) async fn take(self: &Arc<Self>, child: OrganizationId) -> Option<Turn> {
        let (turn, granted) = self.enter(child)?;
        // The sender is dropped if the work gives way.
        tokio::time::timeout(WAIT, granted).await.ok()?.ok()?;
        Some(turn)
    }

    /// Adds work of a sub-organization. Returns what completes when it has its turn, or `None` if there is too much work.
    fn enter(self: &Arc<Self>, child: OrganizationId) -> Option<(Turn, oneshot::Receiver<()>)> {
        let mut queue = self.lock();
        queue.uses.add(child, REQUEST);
        let (own, all) = (queue.count(child), queue.len());
        let is_crowded = own >= self.limits.own.max(1) || own > 0 && all >= self.limits.further;
        if is_crowded || all >= self.limits.all && !queue.displace(child) {
            return None;
        }
        let (turn, granted) = oneshot::channel();
        let number = queue.next;
        queue.next = number.wrapping_add(1);
        queue.waiting.push(Waiting { number, child, turn });
        queue.grant(self.each);
        Some((Turn { turns: Arc::clone(self), number, child, begun: None }, granted))
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        // Each change is complete when the lock is released.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    type Entered = (Turn, oneshot::Receiver<()>);

    fn child(number: u16) -> OrganizationId {
        let mut id = [0; 16];
        id.iter_mut().zip(number.to_be_bytes()).for_each(|(to, from)| *to = from);
        OrganizationId::from_bytes(id)
    }

    fn turns() -> Arc<Turns> {
        Arc::new(Turns::new(2, 64))
    }

    /// Returns the positions of the entries that have their turn now, and had not before.
    fn granted(entered: &mut [Entered]) -> Vec<usize> {
        let granted = entered.iter_mut().enumerate();
        granted.filter_map(|(at, (_, granted))| granted.try_recv().is_ok().then_some(at)).collect()
    }

    #[test]
    fn a_sub_organization_has_a_quarter_and_yields_to_others() {
        let turns = turns();
        let mut entered: Vec<Entered> = (0..100).filter_map(|_| turns.enter(child(1))).collect();
        assert_eq!(entered.len(), 16);
        assert_eq!(granted(&mut entered), [0, 1]);
        entered.extend((0..100).filter_map(|_| turns.enter(child(2))));
        assert_eq!(entered.len(), 32, "all have half while some of them have several");
        let (_quiet, mut its_turn) = turns.enter(child(3)).unwrap();
        assert!(turns.enter(child(3)).is_none());
        entered.remove(0);
        assert!(its_turn.try_recv().is_ok(), "the one that runs nothing is next");
        drop(entered);
        assert_eq!(turns.lock().len(), 1, "nothing stays counted");
    }

    #[test]
    fn a_crowd_of_sub_organizations_keeps_no_other_from_its_turn() {
        let turns = turns();
        // Each of the crowd sends its next request as soon as the last one is rejected.
        let mut crowd: Vec<Entered> =
            (0..5).flat_map(|_| (100..400).filter_map(|number| turns.enter(child(number)))).collect();
        assert!(turns.lock().len() == 128 && crowd.len() >= 128);
        assert_eq!(granted(&mut crowd).len(), 2);
        for _ in 0..20 {
            let (turn, mut its_turn) = turns.enter(child(1)).unwrap();
            assert!(its_turn.try_recv().is_err(), "others have the turns");
            // Others come, and one ends.
            (100..400).for_each(|number| crowd.extend(turns.enter(child(number))));
            let at = crowd.iter().position(|(one, _)| turns.lock().running.contains_key(&one.number));
            crowd.swap_remove(at.unwrap());
            assert!(its_turn.try_recv().is_ok(), "it used the least");
            drop(turn);
            assert!(turns.lock().len() <= 128);
        }
    }

    #[test]
    fn sub_organizations_with_one_request_each_take_turns_in_their_order() {
        let turns = turns();
        let mut crowd: Vec<Entered> = (0..200).filter_map(|number| turns.enter(child(number))).collect();
        assert_eq!(crowd.len(), 128);
        for _ in 0..64 {
            assert_eq!(granted(&mut crowd), [0, 1], "the oldest are next");
            crowd.drain(..2);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn work_waits_a_bounded_time_and_gives_its_turn_back() {
        let turns = turns();
        let running = [turns.take(child(1)).await.unwrap(), turns.take(child(2)).await.unwrap()];
        let begun = Instant::now();
        assert!(turns.take(child(3)).await.is_none());
        assert_eq!(begun.elapsed(), WAIT);
        {
            let cancelled = turns.take(child(3));
            tokio::pin!(cancelled);
            assert!(tokio::time::timeout(WAIT / 2, &mut cancelled).await.is_err());
        }
        assert_eq!(turns.lock().len(), 2, "cancelled work does not wait");
        let (next, ()) = tokio::join!(turns.take(child(4)), async { drop(running) });
        assert!(next.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn use_is_forgotten() {
        let mut uses = Uses::default();
        for number in 0..10_000 {
            uses.add(child(number), REQUEST);
        }
        assert!(uses.used.len() <= REMEMBERED);
        let one = child(9_999);
        uses.add(one, HALVED);
        tokio::time::advance(HALVED).await;
        uses.add(child(1), REQUEST);
        assert_eq!(uses.of(one), (HALVED + REQUEST) / 2);
        tokio::time::advance(HALVED * 1000).await;
        uses.add(child(1), REQUEST);
        assert_eq!((uses.of(one), uses.used.len()), (Duration::ZERO, 1));
    }
}
