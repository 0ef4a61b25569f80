//! The purposes of expressions.

use serde::Serialize;

use crate::named_enum;

named_enum! {
    /// The purpose of an expression, which determines the roots that it may read. Its name is that of the policy
    /// member that contains such an expression.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum ExpressionKind {
        /// Selects the requests of a policy; reads `activity`, `wallet`, `eth` and so on.
        Condition = "condition",
        /// Determines who must approve; reads `approvers` and `credentials`.
        Consensus = "consensus",
        /// Determines when a policy is active; reads `time`.
        Time = "time",
    }
}
