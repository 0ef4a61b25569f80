//! JSON of payloads and of interfaces of contracts, with one meaning only: no member stands twice, numbers keep every digit, and depth and size are bounded.
//!
//! Knows nothing of what the values are for.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// How deep objects and lists may nest. Trees of orders in use have 24 levels of lists.
const DEPTH_LIMIT: usize = 32;
/// Most values of one text, with objects and lists and all that is in them.
const VALUE_LIMIT: usize = 65_536;
/// Longest path that is told, in bytes. Of a longer one its end is.
const PATH_LIMIT_BYTES: usize = 256;

/// A value as it is written.
#[derive(Debug)]
pub(crate) enum Json<'a> {
    Null,
    Bool(bool),
    /// The digits as they stand.
    Number(&'a str),
    Text(String),
    List(Vec<Json<'a>>),
    Object(Members<'a>),
}

impl<'a> Json<'a> {
    /// The member of an object.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        self.as_object()?.get(name)
    }

    /// The letters of a text.
    pub(crate) fn as_str(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// The elements of a list.
    pub(crate) fn as_list(&self) -> Option<&[Self]> {
        if let Self::List(elements) = self { Some(elements) } else { None }
    }

    /// The members of an object.
    pub(crate) fn as_object(&self) -> Option<&Members<'a>> {
        if let Self::Object(members) = self { Some(members) } else { None }
    }

    /// A number without sign, fraction and exponent.
    pub(crate) fn as_u64(&self) -> Option<u64> {
        if let Self::Number(digits) = self { digits.parse().ok() } else { None }
    }
}

/// Values by their names.
pub(crate) type Members<'a> = BTreeMap<String, Json<'a>>;

/// What is wrong with a payload in JSON, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// Names and places from the outermost value, as `message.to[1]`; empty for the whole. Holds no names but those that
    /// the format or its types declare.
    pub path: String,
    /// In words that go on after the path. Never tells what was sent.
    pub reason: String,
}

impl fmt::Display for Flaw {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => write!(formatter, "it {}", self.reason),
            path => write!(formatter, "`{path}` {}", self.reason),
        }
    }
}

impl std::error::Error for Flaw {}

impl Flaw {
    /// Of the value at that path, which is ASCII.
    pub(crate) fn at(path: &str, reason: impl Into<String>) -> Self {
        let start = path.len().saturating_sub(PATH_LIMIT_BYTES);
        let path = match path.get(start..) {
            Some(end) if start > 0 => format!("...{end}"),
            _ => path.to_owned(),
        };
        Self { path, reason: reason.into() }
    }

    /// Of the whole.
    fn whole(reason: &str) -> Self {
        Self::at("", reason)
    }
}

/// Reads one value.
///
/// # Errors
/// What is wrong with the text as a whole.
pub(crate) fn parse(text: &str) -> Result<Json<'_>, Flaw> {
    let raw: &RawValue = serde_json::from_str(text).map_err(|_| unreadable())?;
    Reader { left: VALUE_LIMIT }.value(raw, DEPTH_LIMIT)
}

/// Reads one object.
///
/// # Errors
/// What is wrong with the text as a whole.
pub(crate) fn object(text: &str) -> Result<Members<'_>, Flaw> {
    match parse(text)? {
        Json::Object(members) => Ok(members),
        _ => Err(Flaw::whole("is not an object")),
    }
}

fn unreadable() -> Flaw {
    Flaw::whole("is not JSON")
}

struct Reader {
    /// How many more values may come.
    left: usize,
}

impl Reader {
    /// The library has seen to it that the text is one value; this tells which.
    fn value<'a>(&mut self, raw: &'a RawValue, depth: usize) -> Result<Json<'a>, Flaw> {
        let text = raw.get();
        let spent = || Flaw::whole(&format!("has more than {VALUE_LIMIT} values"));
        self.left = self.left.checked_sub(1).ok_or_else(spent)?;
        let deeper = || {
            let too_deep = || Flaw::whole(&format!("nests deeper than {DEPTH_LIMIT} levels"));
            depth.checked_sub(1).ok_or_else(too_deep)
        };
        match text.as_bytes().first() {
            Some(b'{') => {
                let depth = deeper()?;
                let Doubtful { members, is_doubled } =
                    serde_json::from_str(text).map_err(|_| unreadable())?;
                if is_doubled {
                    return Err(Flaw::whole("has a member twice"));
                }
                let members = members.into_iter().map(|(name, raw)| Ok((name, self.value(raw, depth)?)));
                members.collect::<Result<_, _>>().map(Json::Object)
            }
            Some(b'[') => {
                let depth = deeper()?;
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

/// Members of an object that may have one twice.
struct Doubtful<'a> {
    members: BTreeMap<String, &'a RawValue>,
    is_doubled: bool,
}

impl<'de> Deserialize<'de> for Doubtful<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Doubtful<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Doubtful<'de>, A::Error> {
        let mut read = Doubtful { members: BTreeMap::new(), is_doubled: false };
        while let Some((name, value)) = map.next_entry()? {
            read.is_doubled |= read.members.insert(name, value).is_some();
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

    use super::{DEPTH_LIMIT, Flaw, Json, VALUE_LIMIT, parse};

    fn check(text: &str, reason: &str) {
        let flaw = parse(text).unwrap_err();
        assert_eq!((flaw.path.as_str(), flaw.reason.as_str()), ("", reason), "{text:.40}");
    }

    #[test]
    fn only_one_meaning_is_read() {
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
            check(text, "has a member twice");
        }
    }

    #[test]
    fn depth_and_number_are_bounded() {
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
            let Json::List(read) = parse(&padded).unwrap() else { panic!("no list") };
            assert!(matches!(read.as_slice(), [Json::Number(read)] if *read == text), "{text}");
        }
    }

    #[test]
    fn long_paths_are_cut() {
        let flaw = Flaw::at(&"a".repeat(1000), "is missing");
        assert_eq!(flaw.to_string(), format!("`...{}` is missing", "a".repeat(256)));
    }
}
