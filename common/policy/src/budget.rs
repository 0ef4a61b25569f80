//! How much work a decision may still cause. Counted in steps, so that every machine stops at the same one.

/// Steps that are left.
#[derive(Debug)]
pub(crate) struct Budget {
    left: u32,
}

impl Budget {
    /// Of so many steps.
    pub(crate) fn new(steps: u32) -> Self {
        Self { left: steps }
    }

    /// Takes steps away. False if there were fewer, and then none is left.
    pub(crate) fn spend(&mut self, steps: usize) -> bool {
        let left = u32::try_from(steps).ok().and_then(|steps| self.left.checked_sub(steps));
        self.left = left.unwrap_or_default();
        left.is_some()
    }

    /// Whether a part asked for more than there was.
    pub(crate) fn is_spent(&self) -> bool {
        self.left == 0
    }
}
