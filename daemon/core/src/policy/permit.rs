//! The permit: leave to execute one activity, once. Minted by the decision, spent by the execution.

/// Leave to execute one activity, once.
pub struct Permit {
    _only_here: (),
}

impl Permit {
    pub(super) const fn mint() -> Self {
        Self { _only_here: () }
    }

    /// Uses the permit up.
    pub fn spend(self) {}
}
