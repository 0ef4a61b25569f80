//! Evaluation errors.

/// An error that keeps an expression from being true or false. The policy of the expression is skipped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason} (at {offset})")]
pub struct EvaluationError {
    /// Byte offset of the failing part in the source.
    pub offset: usize,
    /// Reason for the failure.
    pub reason: EvaluationReason,
}

/// Reason for a failed evaluation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluationReason {
    /// The root or member exists in the language but not in the facts of this request.
    #[error("missing field: {0}")]
    MissingField(String),
    /// The map has no such key.
    #[error("missing key: {0}")]
    MissingKey(String),
    /// The field holds a value outside the domain of its type.
    #[error("value is outside the domain of its type")]
    Unreadable,
    /// A negative position, a position past the end, or a slice whose start is after its end.
    #[error("position is out of range")]
    OutOfRange,
    /// A dynamic value has the wrong type.
    #[error("expected {expected}, found {found}")]
    Type {
        /// Accepted types.
        expected: &'static str,
        /// Type of the value.
        found: &'static str,
    },
    /// The evaluation exceeded its step budget.
    #[error("evaluation takes too many steps")]
    Steps,
    /// The compared lists are nested deeper than [`NESTING_LIMIT`](crate::NESTING_LIMIT).
    #[error("value is nested too deeply")]
    Nesting,
    /// The plan of the expression is inconsistent, which is a bug in this crate.
    #[error("internal error of the evaluator")]
    Internal,
}
