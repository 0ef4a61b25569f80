//! The budget of an answer: rows of the store, policy steps, and cancellation when the client disconnects.
//!
//! The caller of the core creates a budget for each answer; the core spends it when it reads records and
//! evaluates policies. A budget counts and does not measure time, so that a request stops at the same point
//! on every machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use crate::error::{Corrupt, Stopped};
use crate::limits::Limits;

/// A flag that cancels work whose answer nobody waits for any more. Clones share the flag.
#[derive(Debug, Clone, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// Cancels the work at its next read.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether the work was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The remaining budget of one answer.
#[derive(Debug)]
pub struct Budget {
    /// Maximum rows and steps; `None` for work of the daemon itself, which is not limited.
    limits: Option<(usize, u32)>,
    rows: AtomicUsize,
    steps: AtomicU32,
    cancellation: Cancellation,
}

impl Budget {
    /// Returns the budget of an answer to a query.
    pub fn of_query(limits: &Limits, cancellation: Cancellation) -> Self {
        Self::new(limits.rows_per_answer, limits.policy_steps_per_answer, cancellation)
    }

    /// Returns the budget of a submitted request. Its rows are not limited, so that it never stops half-way.
    /// Its steps have a lower bound, so that under each setting a vote that would count is accepted.
    pub fn of_submission(limits: &Limits) -> Self {
        let steps = limits.policy_steps_per_answer.max(quorate_policy::REQUEST_STEP_LIMIT.saturating_mul(2));
        Self::new(usize::MAX, steps, Cancellation::default())
    }

    /// Returns the unlimited budget of work that the daemon does by itself.
    pub fn unmetered() -> Self {
        Self { limits: None, ..Self::new(usize::MAX, u32::MAX, Cancellation::default()) }
    }

    fn new(rows: usize, steps: u32, cancellation: Cancellation) -> Self {
        let limits = Some((rows, steps));
        Self { limits, rows: AtomicUsize::new(0), steps: AtomicU32::new(0), cancellation }
    }

    /// Checks that the work was not cancelled.
    ///
    /// # Errors
    /// [`Stopped::Cancelled`] if it was cancelled.
    pub fn check(&self) -> Result<(), Corrupt> {
        if self.cancellation.is_cancelled() { Err(Corrupt::Stopped(Stopped::Cancelled)) } else { Ok(()) }
    }

    /// Counts rows that were read.
    ///
    /// # Errors
    /// [`Stopped::Rows`] if they exceed the limit of the answer, or [`Stopped::Cancelled`].
    pub fn take_rows(&self, rows: usize) -> Result<(), Corrupt> {
        self.check()?;
        let Some((limit, _)) = self.limits else { return Ok(()) };
        let read = self.rows_taken().saturating_add(rows);
        self.rows.store(read, Ordering::Relaxed);
        if read > limit { Err(Corrupt::Stopped(Stopped::Rows(limit))) } else { Ok(()) }
    }

    /// Returns the number of rows that were read so far.
    pub fn rows_taken(&self) -> usize {
        self.rows.load(Ordering::Relaxed)
    }

    /// Spends steps. Returns `false` if fewer were left; then none are left.
    pub fn take_steps(&self, steps: usize) -> bool {
        self.with_steps(|policies| policies.spend(steps))
    }

    /// Returns the number of steps that were spent so far.
    pub fn steps_taken(&self) -> u32 {
        self.steps.load(Ordering::Relaxed)
    }

    /// Returns the number of steps that are left.
    pub fn steps_left(&self) -> u32 {
        self.limits.map_or(u32::MAX, |(_, limit)| limit.saturating_sub(self.steps_taken()))
    }

    /// Calls `run` with the remaining steps, and subtracts those that it spends.
    pub fn with_steps<T>(&self, run: impl FnOnce(&mut quorate_policy::Budget) -> T) -> T {
        let available = self.steps_left();
        let mut policies = quorate_policy::Budget::new(available);
        let result = run(&mut policies);
        let spent = available.saturating_sub(policies.remaining());
        if self.limits.is_some() {
            self.steps.store(self.steps_taken().saturating_add(spent), Ordering::Relaxed);
        }
        result
    }
}

/// Cancels work when it is dropped, as the future of a request is when its client disconnects.
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
    fn refuses_more_rows_and_steps_than_the_limits() {
        let (budget, _) = budget(3, 10);
        assert_eq!(budget.take_rows(3), Ok(()));
        assert_eq!((budget.rows_taken(), budget.steps_taken()), (3, 0));
        assert_eq!(budget.take_rows(1), Err(Corrupt::Stopped(Stopped::Rows(3))));
        assert!(budget.take_steps(10));
        assert!(!budget.take_steps(1));
        assert_eq!((budget.steps_taken(), budget.steps_left()), (10, 0));
        let unmetered = Budget::unmetered();
        assert_eq!(
            (unmetered.take_rows(usize::MAX), unmetered.take_steps(1), unmetered.steps_left()),
            (Ok(()), true, u32::MAX)
        );
    }

    #[test]
    fn cancelled_work_cannot_read_rows() {
        let (budget, cancellation) = budget(3, 10);
        drop(CancelOnDrop(cancellation));
        assert_eq!(budget.check(), Err(Corrupt::Stopped(Stopped::Cancelled)));
        assert_eq!(budget.take_rows(1), Err(Corrupt::Stopped(Stopped::Cancelled)));
    }
}
