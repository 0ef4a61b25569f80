//! What an answer may still cost: rows of the store, steps of policies, and whether anyone still waits for it.
//!
//! Whoever asks the core creates a budget for each answer; the core spends it where it reads and where it asks policies.
//! Counted, never timed, so that the same question ends at the same place on every machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use crate::limits::Limits;
use crate::refusal::{Corrupt, Stopped};

/// Tells work that nobody waits for its answer any more. Copies share the flag.
#[derive(Debug, Clone, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// Ends the work at its next read.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether nobody waits any more.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What one answer may still cost.
#[derive(Debug)]
pub struct Budget {
    /// Nothing for work of the daemon itself, which nobody asked for.
    limits: Option<(usize, u32)>,
    rows: AtomicUsize,
    steps: AtomicU32,
    cancellation: Cancellation,
}

impl Budget {
    /// The budget of an answer that only reads.
    pub fn of_query(limits: &Limits, cancellation: Cancellation) -> Self {
        Self::new(limits.rows_per_answer, limits.policy_steps_per_answer, cancellation)
    }

    /// The budget of a request that may change something. It never ends half-way, whatever it reads, and the steps
    /// cannot be set so low that a vote is refused which would count.
    pub fn of_submission(limits: &Limits) -> Self {
        let steps = limits.policy_steps_per_answer.max(quorate_policy::REQUEST_STEP_LIMIT.saturating_mul(2));
        Self::new(usize::MAX, steps, Cancellation::default())
    }

    /// The budget of work that the daemon does by itself: no limit.
    pub fn unmetered() -> Self {
        Self { limits: None, ..Self::new(usize::MAX, u32::MAX, Cancellation::default()) }
    }

    fn new(rows: usize, steps: u32, cancellation: Cancellation) -> Self {
        let limits = Some((rows, steps));
        Self { limits, rows: AtomicUsize::new(0), steps: AtomicU32::new(0), cancellation }
    }

    /// Returns an error if nobody waits for the answer any more.
    ///
    /// # Errors
    /// [`Stopped::Cancelled`].
    pub fn check(&self) -> Result<(), Corrupt> {
        if self.cancellation.is_cancelled() { Err(Corrupt::Stopped(Stopped::Cancelled)) } else { Ok(()) }
    }

    /// Counts rows that were read.
    ///
    /// # Errors
    /// [`Stopped::Rows`] if those are more than the answer may cost, or [`Stopped::Cancelled`].
    pub fn take_rows(&self, rows: usize) -> Result<(), Corrupt> {
        self.check()?;
        let Some((limit, _)) = self.limits else { return Ok(()) };
        let taken = self.rows_taken().saturating_add(rows);
        self.rows.store(taken, Ordering::Relaxed);
        if taken > limit { Err(Corrupt::Stopped(Stopped::Rows(limit))) } else { Ok(()) }
    }

    /// Rows that were read so far.
    pub fn rows_taken(&self) -> usize {
        self.rows.load(Ordering::Relaxed)
    }

    /// Takes steps away. False if there were fewer, and then none is left.
    pub fn take_steps(&self, steps: usize) -> bool {
        self.with_steps(|policies| policies.spend(steps))
    }

    /// Steps that were taken so far.
    pub fn steps_taken(&self) -> u32 {
        self.steps.load(Ordering::Relaxed)
    }

    /// Steps that are left.
    pub fn steps_left(&self) -> u32 {
        self.limits.map_or(u32::MAX, |(_, limit)| limit.saturating_sub(self.steps_taken()))
    }

    /// Runs something at the cost of the steps that are left.
    pub fn with_steps<T>(&self, run: impl FnOnce(&mut quorate_policy::Budget) -> T) -> T {
        let given = self.steps_left();
        let mut policies = quorate_policy::Budget::new(given);
        let result = run(&mut policies);
        let taken = given.saturating_sub(policies.left());
        if self.limits.is_some() {
            self.steps.store(self.steps_taken().saturating_add(taken), Ordering::Relaxed);
        }
        result
    }
}

/// Cancels work when it is dropped, as the future of a request is when its client goes away.
#[derive(Debug)]
pub struct CancelOnDrop(pub Cancellation);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(rows_per_answer: usize, policy_steps_per_answer: u32) -> (Budget, Cancellation) {
        let cancellation = Cancellation::default();
        let limits = Limits { rows_per_answer, policy_steps_per_answer, ..Limits::default() };
        (Budget::of_query(&limits, cancellation.clone()), cancellation)
    }

    #[test]
    fn rows_and_steps_end_where_they_are_used_up() {
        let (budget, _) = budget(3, 10);
        assert_eq!(budget.take_rows(3), Ok(()));
        assert_eq!((budget.rows_taken(), budget.steps_taken()), (3, 0));
        assert_eq!(budget.take_rows(1), Err(Corrupt::Stopped(Stopped::Rows(3))));
        assert!(budget.take_steps(10));
        assert!(!budget.take_steps(1));
        assert_eq!((budget.steps_taken(), budget.steps_left()), (10, 0));
        let own = Budget::unmetered();
        assert_eq!(
            (own.take_rows(usize::MAX), own.take_steps(1), own.steps_left()),
            (Ok(()), true, u32::MAX)
        );
    }

    #[test]
    fn nothing_is_read_for_a_client_who_went_away() {
        let (budget, cancellation) = budget(3, 10);
        drop(CancelOnDrop(cancellation));
        assert_eq!(budget.check(), Err(Corrupt::Stopped(Stopped::Cancelled)));
        assert_eq!(budget.take_rows(1), Err(Corrupt::Stopped(Stopped::Cancelled)));
    }
}
