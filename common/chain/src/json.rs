//! Strict JSON for payloads and contract interfaces: no duplicate members, numbers keep every digit, and
//! depth and size are bounded.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Maximum nesting depth of objects and lists. Order trees in use have 24 levels of lists.
const DEPTH_LIMIT: usize = 32;
/// Maximum number of values in one text. Objects, lists and all nested values count.
const VALUE_LIMIT: usize = 65_536;
/// Maximum length of a path in an error, in bytes. Longer paths are shortened to their end.
const PATH_LIMIT_BYTES: usize = 256;

/// A value as it is written in the text.
#[derive(Debug)]
pub(crate) enum Json<'a> {
    Null,
    Bool(bool),
    /// The digits, unchanged.
    Number(&'a str),
    Text(String),
    List(Vec<Json<'a>>),
    Object(Members<'a>),
}

impl<'a> Json<'a> {
    /// Returns the member of an object with this name.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        self.as_object()?.get(name)
    }

    /// Returns the text of a string.
    pub(crate) fn as_str(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// Returns the elements of a list.
    pub(crate) fn as_list(&self) -> Option<&[Self]> {
        if let Self::List(elements) = self { Some(elements) } else { None }
    }

    /// Returns the members of an object.
    pub(crate) fn as_object(&self) -> Option<&Members<'a>> {
        if let Self::Object(members) = self { Some(members) } else { None }
    }

    /// Returns a number that has no sign, fraction or exponent.
    pub(crate) fn as_u64(&self) -> Option<u64> {
        if let Self::Number(digits) = self { digits.parse().ok() } else { None }
    }
}

/// Values by member name.
pub(crate) type Members<'a> = BTreeMap<String, Json<'a>>;

/// Error returned for an invalid JSON payload, with its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// Path from the outermost value, such as `message.to[1]`; empty for the whole payload. It contains only
    /// names that the format or the payload's types declare.
    pub path: String,
    /// Predicate that follows the path, such as `is missing`. It never repeats a value of the payload.
    pub reason: String,
}

impl fmt::Display for JsonError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => write!(formatter, "it {}", self.reason),
            path => write!(formatter, "`{path}` {}", self.reason),
        }
    }
}

impl std::error::Error for JsonError {}

impl JsonError {
    /// Creates an error for the value at `path`, which must be ASCII.
    pub(crate) fn at(path: &str, reason: impl Into<String>) -> Self {
        let start = path.len().saturating_sub(PATH_LIMIT_BYTES);
        let path = match path.get(start..) {
            Some(end) if start > 0 => format!("...{end}"),
            _ => path.to_owned(),
        };
        Self { path, reason: reason.into() }
    }

    /// Creates an error for the whole payload.
    fn whole(reason: &str) -> Self {
        Self::at("", reason)
    }
}

/// Parses one value.
///
/// # Errors
/// [`JsonError`] if the text is not JSON, has a duplicate member, or exceeds a limit.
pub(crate) fn parse(text: &str) -> Result<Json<'_>, JsonError> {
    let raw: &RawValue = serde_json::from_str(text).map_err(|_| unreadable())?;
    Reader { remaining: VALUE_LIMIT }.value(raw, DEPTH_LIMIT)
}

/// Parses one object.
///
/// # Errors
/// [`JsonError`] as for [`parse`], or if the value is not an object.
pub(crate) fn object(text: &str) -> Result<Members<'_>, JsonError> {
    match parse(text)? {
        Json::Object(members) => Ok(members),
        _ => Err(JsonError::whole("is not an object")),
    }
}

fn unreadable() -> JsonError {
    JsonError::whole("is not JSON")
}

struct Reader {
    /// Number of values that may still be read.
    remaining: usize,
}

impl Reader {
    /// Converts a raw value. The library has already checked that the text is one value.
    fn value<'a>(&mut self, raw: &'a RawValue, depth: usize) -> Result<Json<'a>, JsonError> {
        let text = raw.get();
        let too_many = || JsonError::whole(&format!("has more than {VALUE_LIMIT} values"));
        self.remaining = self.remaining.checked_sub(1).ok_or_else(too_many)?;
        let nested_depth = || {
            let too_deep = || JsonError::whole(&format!("nests deeper than {DEPTH_LIMIT} levels"));
            depth.checked_sub(1).ok_or_else(too_deep)
        };
        match text.as_bytes().first() {
            Some(b'{') => {
                let depth = nested_depth()?;
                let UncheckedMembers { members, has_duplicate } =
                    serde_json::from_str(text).map_err(|_| unreadable())?;
                if has_duplicate {
                    return Err(JsonError::whole("has a duplicate member"));
                }
                let members = members.into_iter().map(|(name, raw)| Ok((name, self.value(raw, depth)?)));
                members.collect::<Result<_, _>>().map(Json::Object)
            }
            Some(b'[') => {
                let depth = nested_depth()?;
                let elements: Vec<&RawValue> = serde_json::from_str(text).map_err(|_| unreadable())?;
                let elements = elements.into_iter().map(|raw| self.value(raw, depth));
                elements.collect::<Result<_, _>>().map(Json::List)
            }
            Some(b'"') => serde_json::from_str(text).map(Json::Text).map_err(|_| unreadable()),
            Some(b't') => Ok(Json::Bool(true)),
            Some(b'f') => Ok(Json::Bool(false)),
            Some(b'n') => Ok(Json::Null),
            _ => Ok(Json::Number(text)),
        }
    }
}

/// Members of an object that may have duplicates.
struct UncheckedMembers<'a> {
    members: BTreeMap<String, &'a RawValue>,
    has_duplicate: bool,
}

impl<'de> Deserialize<'de> for UncheckedMembers<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = UncheckedMembers<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<UncheckedMembers<'de>, A::Error> {
        let mut read = UncheckedMembers { members: BTreeMap::new(), has_duplicate: false };
        while let Some((name, value)) = map.next_entry()? {
            read.has_duplicate |= read.members.insert(name, value).is_some();
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

    use super::{DEPTH_LIMIT, Json, JsonError, VALUE_LIMIT, parse};

    fn check(text: &str, reason: &str) {
        let error = parse(text).unwrap_err();
        assert_eq!((error.path.as_str(), error.reason.as_str()), ("", reason), "{text:.40}");
    }

    #[test]
    fn rejects_ambiguous_json() {
        for text in [
            "",
            " ",
            "{",
            "{} {}",
            "{\"a\":1,}",
            "{'a':1}",
            "{1:1}",
            "NaN",
            "-",
            "01",
            "+1",
            ".5",
            "\u{feff}{}",
            "\"\\ud800\"",
            "[\"\\ud800\"]",
            "{\"\\ud800\":1}",
            "\"\n\"",
            "[1,]",
            "tru",
            "nul",
        ] {
            check(text, "is not JSON");
        }
        for text in ["{\"a\":1,\"a\":1}", "{\"a\":1,\"\\u0061\":2}", "[{\"x\":{\"a\":null,\"a\":1}}]"] {
            check(text, "has a duplicate member");
        }
    }

    #[test]
    fn depth_and_number_of_values_are_bounded() {
        let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(&nested(DEPTH_LIMIT)).is_ok());
        check(&nested(DEPTH_LIMIT + 1), "nests deeper than 32 levels");
        check(&nested(100_000), "nests deeper than 32 levels");
        let list = |number: usize| format!("[0{}]", ",0".repeat(number - 1));
        assert!(parse(&list(VALUE_LIMIT - 1)).is_ok());
        check(&list(VALUE_LIMIT), "has more than 65536 values");
    }

    #[test]
    fn numbers_keep_their_digits() {
        let digits = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
        for text in [digits, "1.0", "-0", "1e400", "0"] {
            let padded = format!(" [ {text}\n]\t");
            let Json::List(read) = parse(&padded).unwrap() else { panic!("not a list") };
            assert!(matches!(read.as_slice(), [Json::Number(read)] if *read == text), "{text}");
        }
    }

    #[test]
    fn long_paths_are_shortened() {
        let error = JsonError::at(&"a".repeat(1000), "is missing");
        assert_eq!(error.to_string(), format!("`...{}` is missing", "a".repeat(256)));
    }
}
