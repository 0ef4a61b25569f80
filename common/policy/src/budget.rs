//! Step budgets, which bound the work of a decision. Counting steps instead of time makes every machine stop
//! at the same step.

/// The number of steps that evaluations may still take.
#[derive(Debug)]
pub struct Budget {
    remaining: u32,
}

impl Budget {
    /// Creates a budget of `steps` steps.
    pub fn new(steps: u32) -> Self {
        Self { remaining: steps }
    }

    /// Returns the number of remaining steps.
    pub fn remaining(&self) -> u32 {
        self.remaining
    }

    /// Calls `run` with at most `most` of the remaining steps and subtracts the steps it spends.
    pub(crate) fn within<T>(&mut self, most: u32, run: impl FnOnce(&mut Self) -> T) -> T {
        let given = self.remaining.min(most);
        let mut part = Self::new(given);
        let result = run(&mut part);
        self.remaining = self.remaining.saturating_sub(given.saturating_sub(part.remaining));
        result
    }

    /// Subtracts steps. Returns `false` and empties the budget if fewer steps remain.
    pub fn spend(&mut self, steps: usize) -> bool {
        let remaining = u32::try_from(steps).ok().and_then(|steps| self.remaining.checked_sub(steps));
        self.remaining = remaining.unwrap_or_default();
        remaining.is_some()
    }

    /// Returns whether no steps remain.
    pub fn is_spent(&self) -> bool {
        self.remaining == 0
    }
}
