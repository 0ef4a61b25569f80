//! The text of an interface, and what stands in it by its names.

use super::{Flaw, MAX_INTERFACE};
use crate::json::{self, Json};

/// Reads the text of an interface.
pub(super) fn parse(text: &str) -> Result<Json<'_>, Flaw> {
    // A character has at most four bytes.
    if text.len() > MAX_INTERFACE.saturating_mul(4) || text.chars().count() > MAX_INTERFACE {
        return Err(Flaw::TooLong);
    }
    json::parse(text).map_err(|_| Flaw::NotJson)
}

/// The text of a member; none if there is no such member, or no text.
pub(super) fn text<'v>(value: &'v Json<'_>, name: &str) -> Option<&'v str> {
    value.get(name).and_then(Json::as_str)
}

/// The elements of a member; none if there is no such member, or no list.
pub(super) fn list<'v, 'a>(value: &'v Json<'a>, name: &str) -> Option<&'v [Json<'a>]> {
    value.get(name).and_then(Json::as_list)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn lengths_are_counted_in_characters() {
        let text = |length: usize| format!("\"{}\"", "é".repeat(length.saturating_sub(2)));
        assert!(parse(&text(MAX_INTERFACE)).is_ok());
        assert_eq!(parse(&text(MAX_INTERFACE + 1)).unwrap_err(), Flaw::TooLong);
        assert_eq!(parse("{\"a\":1,\"a\":1}").unwrap_err(), Flaw::NotJson);
    }
}
