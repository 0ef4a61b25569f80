//! Parses the text of an interface and accesses its members by name.

use super::{InterfaceError, MAX_INTERFACE};
use crate::json::{self, Json};

/// Parses the text of an interface.
pub(super) fn parse(text: &str) -> Result<Json<'_>, InterfaceError> {
    // A character has at most four bytes.
    if text.len() > MAX_INTERFACE.saturating_mul(4) || text.chars().count() > MAX_INTERFACE {
        return Err(InterfaceError::TooLong);
    }
    json::parse(text).map_err(|_| InterfaceError::NotJson)
}

/// Returns the text of a member, or `None` if there is no such member or it is not a text.
pub(super) fn text<'v>(value: &'v Json<'_>, name: &str) -> Option<&'v str> {
    value.get(name).and_then(Json::as_str)
}

/// Returns the elements of a member, or `None` if there is no such member or it is not a list.
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
        assert_eq!(parse(&text(MAX_INTERFACE + 1)).unwrap_err(), InterfaceError::TooLong);
        assert_eq!(parse("{\"a\":1,\"a\":1}").unwrap_err(), InterfaceError::NotJson);
    }
}
