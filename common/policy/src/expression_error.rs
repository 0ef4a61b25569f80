//! Errors in the text of an expression, with their position.

use std::fmt;

use crate::timestamp::TimestampError;

/// Maximum number of characters of untrusted text in a message.
const ECHO_LIMIT: usize = 100;

/// A position in the source of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Byte offset, counted from 0.
    pub offset: usize,
    /// Line, counted from 1.
    pub line: usize,
    /// Column in Unicode scalar values, counted from 1.
    pub column: usize,
}

impl Position {
    pub(crate) fn locate(source: &str, offset: usize) -> Self {
        let before = source.get(..offset).unwrap_or(source);
        let tail = before.rsplit('\n').next().unwrap_or_default();
        Self { offset, line: before.split('\n').count(), column: tail.chars().count().saturating_add(1) }
    }
}

/// The first error in an expression. Its `Display` is the text that the response to the author of the policy
/// contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    /// Position of the error.
    pub position: Position,
    /// Reason for the error.
    pub reason: ErrorReason,
}

/// The result of reading an expression.
pub(crate) type Result<T, E = ExpressionError> = std::result::Result<T, E>;

impl ExpressionError {
    pub(crate) fn new(source: &str, offset: usize, reason: ErrorReason) -> Self {
        Self { position: Position::locate(source, offset), reason }
    }
}

impl std::error::Error for ExpressionError {}

impl fmt::Display for ExpressionError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Position { offset, line, column } = self.position;
        let reason = &self.reason;
        match reason {
            // The wire defines these messages: they end with a byte offset or a name, without line and
            // column.
            ErrorReason::EndOfText | ErrorReason::Token(_) => {
                write!(formatter, "{reason} found at {offset}")
            }
            ErrorReason::Character => write!(formatter, "{reason} at {offset}"),
            ErrorReason::FieldMissing(_) => write!(formatter, "{reason}"),
            _ => write!(formatter, "{reason} (line {line}, column {column})"),
        }
    }
}

/// Reason for an error in an expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorReason {
    /// The text ends although more is expected.
    #[error("parse error: Unrecognized EOF")]
    EndOfText,
    /// A well-formed token that the grammar does not allow here.
    #[error("parse error: Unrecognized token `{0}`")]
    Token(String),
    /// A character that cannot begin a token.
    #[error("parse error: Invalid token")]
    Character,
    /// A string without its closing quote.
    #[error("parse error: string is not closed")]
    UnclosedText,
    /// An integer outside −2^127 … 2^256 − 1.
    #[error("parse error: integer is out of range")]
    IntegerRange,
    /// The expression is longer than [`EXPRESSION_LIMIT_BYTES`](crate::EXPRESSION_LIMIT_BYTES).
    #[error("expression is longer than {0} bytes")]
    Length(usize),
    /// The expression nests deeper than [`NESTING_LIMIT`](crate::NESTING_LIMIT).
    #[error("expression is nested deeper than {0} levels")]
    Nesting(usize),
    /// A list or struct literal is longer than [`LIST_LIMIT`](crate::LIST_LIMIT).
    #[error("list or struct has more than {0} elements")]
    ListLength(usize),
    /// The types of the expression have too many parts to compare.
    #[error("types of the expression have more than {0} parts to compare")]
    Types(u32),
    /// A struct literal has a duplicate member.
    #[error("member is given twice: {0}")]
    DuplicateMember(String),
    /// No root, variable or member has this name.
    #[error("field does not exist: {0}")]
    FieldMissing(String),
    /// The type has no function with this name.
    #[error("function does not exist: {0}")]
    FunctionMissing(String),
    /// A function is called with the wrong number of arguments.
    #[error("{function} takes {expected} argument(s)")]
    ArgumentCount {
        /// Name of the function.
        function: String,
        /// Number of arguments that the function takes.
        expected: usize,
    },
    /// A lambda variable has the name of a root.
    #[error("variable has the name of a keyword: {0}")]
    VariableReserved(String),
    /// A lambda variable has the name of an enclosing variable.
    #[error("variable is already in use: {0}")]
    VariableInUse(String),
    /// The value has the wrong type.
    #[error("type error: expected {expected}, found {found}")]
    Type {
        /// Accepted types.
        expected: &'static str,
        /// Type of the value.
        found: String,
    },
    /// Two types that the operator cannot compare.
    #[error("type error: cannot apply `{comparison}` to {left} and {right}")]
    Comparison {
        /// The operator.
        comparison: &'static str,
        /// Type of the left side.
        left: String,
        /// Type of the right side.
        right: String,
    },
    /// The elements of a list literal have no common type.
    #[error("type error: list mixes {first} and {other}")]
    MixedList {
        /// Common type of the preceding elements.
        first: String,
        /// Type of the element that differs.
        other: String,
    },
    /// A function that takes literals only is called with another argument.
    #[error("{0} takes literal strings only")]
    LiteralRequired(&'static str),
    /// A timestamp literal is malformed or not in UTC.
    #[error("{0}")]
    Timestamp(#[from] TimestampError),
    /// An argument of `CronSpan` is malformed.
    #[error("{0}")]
    CronSpan(#[from] CronSpanError),
    /// `CronSpan` is used outside a time expression.
    #[error("CronSpan is only available in time expressions")]
    CronSpanKind,
    /// A selector has no targets or too many.
    #[error("selector has no target or too many")]
    TargetCount,
    /// A target of a selector does not have the type of the subject, or cannot be written as a literal.
    #[error("target is no legal {0}")]
    Target(String),
}

/// Error in an argument of `CronSpan`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CronSpanError {
    /// The cron expression does not have five fields separated by spaces.
    #[error("cron must have five fields")]
    FieldCount,
    /// A field is not a number, a range, a list or `*`.
    #[error("cron field is not a number, range, list or `*`")]
    FieldFormat,
    /// A number is outside the range of its field, or a range ends before it starts.
    #[error("cron field is out of range")]
    FieldRange,
    /// The duration does not have the format `1d12h30m`.
    #[error("duration must be whole days, hours and minutes in that order")]
    DurationFormat,
    /// The duration is zero or longer than seven days.
    #[error("duration must be longer than zero and at most seven days")]
    DurationRange,
    /// The name of the time zone is empty, too long, or contains invalid characters.
    #[error("time zone name is malformed")]
    ZoneFormat,
    /// The IANA time zone database has no time zone with this name.
    #[error("time zone is not known")]
    ZoneUnknown,
}

/// Truncates untrusted text to the length that a message may contain.
pub(crate) fn echo(text: &str) -> String {
    text.chars().take(ECHO_LIMIT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn position_counts_lines_and_characters() {
        let source = "a ==\n 'é' in";
        for (offset, line, column) in [(0, 1, 1), (4, 1, 5), (5, 2, 1), (6, 2, 2), (11, 2, 6), (99, 2, 8)] {
            assert_eq!(Position::locate(source, offset), Position { offset, line, column });
        }
    }
}
