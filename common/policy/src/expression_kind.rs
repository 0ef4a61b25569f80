//! The purposes of expressions.

use serde::Serialize;

/// The purpose of an expression, which determines the roots that it may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ExpressionKind {
    /// Selects the requests of a policy; reads `activity`, `wallet`, `eth` and so on.
    Condition,
    /// Determines who must approve; reads `approvers` and `credentials`.
    Consensus,
    /// Determines when a policy is active; reads `time`.
    Time,
}

impl ExpressionKind {
    /// Returns the name of the policy member that contains such an expression.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Condition => "condition",
            Self::Consensus => "consensus",
            Self::Time => "time",
        }
    }
}
