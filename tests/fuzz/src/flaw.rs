//! What every complaint about a text must be: short, and about a place in that text.

use quorate_policy::{Flaw, Position};

/// Longest message about a text. It goes into an answer, so it must not grow with the text.
const MESSAGE_LIMIT_BYTES: usize = 1_000;

/// Asserts that a flaw lies within its text, between two characters, and says so in few words.
pub(crate) fn check(text: &str, flaw: &Flaw) {
    let Position { offset, line, column } = flaw.position;
    assert!(text.is_char_boundary(offset), "the flaw lies outside of the text or within a character");
    let (before, _) = text.split_at(offset);
    assert_eq!(line, before.split('\n').count(), "the line is that of the offset");
    let tail = before.rsplit('\n').next().unwrap_or_default();
    assert_eq!(column, tail.chars().count() + 1, "the column is that of the offset");
    assert!(flaw.to_string().len() < MESSAGE_LIMIT_BYTES, "the message grows with the text");
}
