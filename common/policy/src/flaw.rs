//! Why a text is no legal expression, and where.

use std::fmt;

use crate::timestamp::TimestampFlaw;

/// Characters of foreign text that a message repeats at most.
const ECHO_LIMIT: usize = 100;

/// A place in the source of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Bytes before it.
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

/// The first thing wrong with an expression. Its `Display` is the reason as it stands in the answer to the policy's author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// Where the reader stopped.
    pub position: Position,
    /// What is wrong there.
    pub reason: FlawReason,
}

impl Flaw {
    pub(crate) fn new(source: &str, offset: usize, reason: FlawReason) -> Self {
        Self { position: Position::locate(source, offset), reason }
    }
}

impl std::error::Error for Flaw {}

impl fmt::Display for Flaw {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Position { offset, line, column } = self.position;
        let reason = &self.reason;
        match reason {
            // Clients know these sentences: they end with a byte offset or a name, and nothing else.
            FlawReason::EndOfText | FlawReason::Token(_) => {
                write!(formatter, "{reason} found at {offset}")
            }
            FlawReason::Character => write!(formatter, "{reason} at {offset}"),
            FlawReason::FieldMissing(_) => write!(formatter, "{reason}"),
            _ => write!(formatter, "{reason} (line {line}, column {column})"),
        }
    }
}

/// What can be wrong with an expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FlawReason {
    /// The text ends where something must follow.
    #[error("parse error: Unrecognized EOF")]
    EndOfText,
    /// A well-formed token where the grammar has no place for it.
    #[error("parse error: Unrecognized token `{0}`")]
    Token(String),
    /// A character that begins no token.
    #[error("parse error: Invalid token")]
    Character,
    /// A string without its closing quote.
    #[error("parse error: string is not closed")]
    OpenText,
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
    /// The types of its parts have more parts together than are compared.
    #[error("types of the expression have more than {0} parts to compare")]
    Types(u32),
    /// A struct literal names a member twice.
    #[error("member is given twice: {0}")]
    MemberTwice(String),
    /// No root, variable or member of that name exists here.
    #[error("field does not exist: {0}")]
    FieldMissing(String),
    /// The type has no function of that name.
    #[error("function does not exist: {0}")]
    FunctionMissing(String),
    /// A function is called with the wrong number of arguments.
    #[error("{function} takes {expected} argument(s)")]
    ArgumentCount {
        /// The function.
        function: String,
        /// How many arguments it takes.
        expected: usize,
    },
    /// A lambda variable has the name of a root.
    #[error("variable has the name of a keyword: {0}")]
    VariableReserved(String),
    /// A lambda variable has the name of an enclosing variable.
    #[error("variable is already in use: {0}")]
    VariableTaken(String),
    /// A value of another type is needed here.
    #[error("type error: expected {expected}, found {found}")]
    Type {
        /// The types that would do.
        expected: &'static str,
        /// The type that is there.
        found: String,
    },
    /// Two types that cannot be compared, or not in this way.
    #[error("type error: cannot apply `{comparison}` to {left} and {right}")]
    Comparison {
        /// The operator as written.
        comparison: &'static str,
        /// Type of the left side.
        left: String,
        /// Type of the right side.
        right: String,
    },
    /// The elements of a list literal have no common type.
    #[error("type error: list mixes {first} and {other}")]
    MixedList {
        /// Common type of the elements before.
        first: String,
        /// Type of the element that differs.
        other: String,
    },
    /// A function whose arguments are checked at creation got something else than literals.
    #[error("{0} takes literal strings only")]
    LiteralNeeded(&'static str),
    /// A literal timestamp is malformed or not in UTC.
    #[error("{0}")]
    Timestamp(#[from] TimestampFlaw),
    /// A literal of `CronSpan` is malformed.
    #[error("{0}")]
    CronSpan(#[from] CronSpanFlaw),
    /// `CronSpan` outside a time expression.
    #[error("CronSpan is only available in time expressions")]
    CronSpanKind,
    /// A selector has no target, or too many.
    #[error("selector has no target or too many")]
    TargetCount,
    /// A target of a selector does not have the type of its subject, or cannot be written as a literal.
    #[error("target is no legal {0}")]
    Target(String),
}

/// What can be wrong with the arguments of `CronSpan`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CronSpanFlaw {
    /// Not exactly five fields separated by spaces.
    #[error("cron must have five fields")]
    FieldCount,
    /// A field is something else than numbers, ranges, lists and `*`.
    #[error("cron field is not a number, range, list or `*`")]
    FieldForm,
    /// A number outside the range of its field, or a range that runs backwards.
    #[error("cron field is out of range")]
    FieldRange,
    /// The duration is not of the form `1d12h30m`.
    #[error("duration must be whole days, hours and minutes in that order")]
    DurationForm,
    /// The duration is zero or longer than seven days.
    #[error("duration must be longer than zero and at most seven days")]
    DurationRange,
    /// The name of the time zone is empty or has characters such names do not have.
    #[error("time zone name is malformed")]
    ZoneForm,
    /// No time zone of that name is in the IANA time zone database.
    #[error("time zone is not known")]
    ZoneUnknown,
}

/// Foreign text, cut to what a message may repeat.
pub(crate) fn echo(text: &str) -> String {
    text.chars().take(ECHO_LIMIT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_counts_lines_and_characters() {
        let source = "a ==\n 'é' in";
        for (offset, line, column) in [(0, 1, 1), (4, 1, 5), (5, 2, 1), (6, 2, 2), (11, 2, 6), (99, 2, 8)] {
            assert_eq!(Position::locate(source, offset), Position { offset, line, column });
        }
    }
}
