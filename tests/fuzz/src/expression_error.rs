//! Checks errors in policy expressions: the message is short, and the position is within the text.

use quorate_policy::{ExpressionError, Position};

/// Maximum length of an error message in bytes. Responses contain it, so it must not grow with the text.
const MESSAGE_LIMIT_BYTES: usize = 1_000;

/// Asserts that the position of an error is within its text, between two characters, and that the message is
/// short.
pub(crate) fn check(text: &str, error: &ExpressionError) {
    let Position { offset, line, column } = error.position;
    assert!(text.is_char_boundary(offset), "the offset is outside the text or within a character");
    let (before, _) = text.split_at(offset);
    assert_eq!(line, before.split('\n').count(), "the line matches the offset");
    let tail = before.rsplit('\n').next().unwrap_or_default();
    assert_eq!(column, tail.chars().count() + 1, "the column matches the offset");
    assert!(error.to_string().len() < MESSAGE_LIMIT_BYTES, "the message grows with the text");
}
