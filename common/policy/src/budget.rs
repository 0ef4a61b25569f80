//! How much work a decision may still cause. Counted in steps, so that every machine stops at the same one.

/// Steps that evaluations may still take.
#[derive(Debug)]
pub struct Budget {
    left: u32,
}

impl Budget {
    /// A budget of so many steps.
    pub fn new(steps: u32) -> Self {
        Self { left: steps }
    }

    /// Steps that are left.
    pub fn left(&self) -> u32 {
        self.left
    }

    /// Runs something that may take at most `most` of the steps that are left.
    pub(crate) fn within<T>(&mut self, most: u32, run: impl FnOnce(&mut Self) -> T) -> T {
        let given = self.left.min(most);
        let mut part = Self::new(given);
        let result = run(&mut part);
        self.left = self.left.saturating_sub(given.saturating_sub(part.left));
        result
    }

    /// Takes steps away. False if there were fewer, and then none is left.
    pub fn spend(&mut self, steps: usize) -> bool {
        let left = u32::try_from(steps).ok().and_then(|steps| self.left.checked_sub(steps));
        self.left = left.unwrap_or_default();
        left.is_some()
    }

    /// Whether a part asked for more than there was.
    pub fn is_spent(&self) -> bool {
        self.left == 0
    }
}
