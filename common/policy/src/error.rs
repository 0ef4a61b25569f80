//! Why an expression came out neither true nor false.

use std::fmt;

/// A failed evaluation. The policy it belongs to is skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvaluationError {
    /// Byte of the source at which the failing part stands.
    pub offset: usize,
    /// What went wrong there.
    pub reason: EvaluationReason,
}

impl std::error::Error for EvaluationError {}

impl fmt::Display for EvaluationError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} (at {})", self.reason, self.offset)
    }
}

/// What can go wrong while an expression runs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluationReason {
    /// The root or member exists in the language but not for this request.
    #[error("missing field: {0}")]
    MissingField(String),
    /// The map has no such key.
    #[error("missing key: {0}")]
    MissingKey(String),
    /// The field holds a value outside the domain of its type.
    #[error("value is outside the domain of its type")]
    Unreadable,
    /// A position before the start or at or after the end, or a slice that runs backwards.
    #[error("position is out of range")]
    OutOfRange,
    /// A value whose type is known only now has the wrong one.
    #[error("expected {expected}, found {found}")]
    Type {
        /// The types that would do.
        expected: &'static str,
        /// The type that is there.
        found: &'static str,
    },
    /// The evaluation used up its steps.
    #[error("evaluation takes too many steps")]
    Steps,
    /// Lists to be compared are nested deeper than [`NESTING_LIMIT`](crate::NESTING_LIMIT).
    #[error("value is nested too deeply")]
    Nesting,
    /// The plan of the expression is inconsistent; a fault of this package.
    #[error("internal fault of the evaluator")]
    Internal,
}
