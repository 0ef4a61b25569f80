//! CBOR (RFC 8949) as authenticators write it: definite lengths, unique map keys, no tags, no floating-point
//! numbers, little nesting.
//!
//! Anything else is rejected. No memory is reserved for a length that is only claimed.

use minicbor::Decoder;
use minicbor::data::Type;

/// Maximum nesting depth of maps and lists. Attestation objects need three levels.
pub(super) const DEPTH_LIMIT: usize = 8;
/// Maximum number of members of a map and of items of a list.
pub(super) const ITEMS_LIMIT: u64 = 64;

/// Error returned for bytes that are not such CBOR, or that lack an expected member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct InvalidCbor;

impl From<minicbor::decode::Error> for InvalidCbor {
    fn from(_: minicbor::decode::Error) -> Self {
        Self
    }
}

/// A value, borrowed from the bytes that it was parsed from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value<'a> {
    /// An integer from -2^64 to 2^64 - 1.
    Integer(i128),
    Bytes(&'a [u8]),
    Text(&'a str),
    List(Vec<Value<'a>>),
    Map(Map<'a>),
    /// A boolean, null or undefined. No member used here has such a value.
    Simple,
}

/// Key of a map member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Name<'a> {
    /// A label, as in COSE keys.
    Number(i128),
    /// A text, as in attestation objects.
    Text(&'a str),
}

impl From<i128> for Name<'_> {
    fn from(number: i128) -> Self {
        Self::Number(number)
    }
}

impl<'a> From<&'a str> for Name<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

/// Members in the order in which they were written. Readers remove the members that they expect, so that the
/// remaining ones are unexpected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Map<'a>(Vec<(Name<'a>, Value<'a>)>);

impl<'a> Map<'a> {
    /// Returns whether no member is left.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes a member and returns its value, if there is such a member.
    pub(super) fn take(&mut self, name: impl Into<Name<'a>>) -> Option<Value<'a>> {
        let name = name.into();
        let position = self.0.iter().position(|(other, _)| *other == name)?;
        Some(self.0.swap_remove(position).1)
    }

    /// Removes a member that must be a byte string.
    pub(super) fn bytes(&mut self, name: impl Into<Name<'a>>) -> Result<&'a [u8], InvalidCbor> {
        if let Some(Value::Bytes(bytes)) = self.take(name) { Ok(bytes) } else { Err(InvalidCbor) }
    }

    /// Removes a member that must be a text.
    pub(super) fn text(&mut self, name: impl Into<Name<'a>>) -> Result<&'a str, InvalidCbor> {
        if let Some(Value::Text(text)) = self.take(name) { Ok(text) } else { Err(InvalidCbor) }
    }

    /// Removes a member that must be an integer.
    pub(super) fn integer(&mut self, name: impl Into<Name<'a>>) -> Result<i128, InvalidCbor> {
        if let Some(Value::Integer(number)) = self.take(name) { Ok(number) } else { Err(InvalidCbor) }
    }

    /// Removes a member that must be a list.
    pub(super) fn list(&mut self, name: impl Into<Name<'a>>) -> Result<Vec<Value<'a>>, InvalidCbor> {
        if let Some(Value::List(items)) = self.take(name) { Ok(items) } else { Err(InvalidCbor) }
    }

    /// Removes a member that must be a map.
    pub(super) fn map(&mut self, name: impl Into<Name<'a>>) -> Result<Map<'a>, InvalidCbor> {
        if let Some(Value::Map(map)) = self.take(name) { Ok(map) } else { Err(InvalidCbor) }
    }
}

/// Parses a map that takes up all of `bytes`.
pub(super) fn map(bytes: &[u8]) -> Result<Map<'_>, InvalidCbor> {
    let (map, rest) = leading_map(bytes)?;
    if rest.is_empty() { Ok(map) } else { Err(InvalidCbor) }
}

/// Parses the map at the start of `bytes` and returns it with the remaining bytes.
pub(super) fn leading_map(bytes: &[u8]) -> Result<(Map<'_>, &[u8]), InvalidCbor> {
    let mut decoder = Decoder::new(bytes);
    let Value::Map(map) = value(&mut decoder, DEPTH_LIMIT)? else { return Err(InvalidCbor) };
    let rest = bytes.get(decoder.position()..).ok_or(InvalidCbor)?;
    Ok((map, rest))
}

/// Parses one value with at most `depth` levels of maps and lists.
fn value<'a>(decoder: &mut Decoder<'a>, depth: usize) -> Result<Value<'a>, InvalidCbor> {
    match decoder.datatype()? {
        Type::Array => {
            let depth = depth.checked_sub(1).ok_or(InvalidCbor)?;
            let count = count(decoder.array()?)?;
            // The list grows as items are read: a claimed length reserves no memory.
            let mut items = Vec::new();
            for _ in 0..count {
                items.push(value(decoder, depth)?);
            }
            Ok(Value::List(items))
        }
        Type::Map => {
            let depth = depth.checked_sub(1).ok_or(InvalidCbor)?;
            let count = count(decoder.map()?)?;
            let mut members: Vec<(Name<'a>, Value<'a>)> = Vec::new();
            for _ in 0..count {
                let name = name(decoder)?;
                if members.iter().any(|(other, _)| *other == name) {
                    return Err(InvalidCbor);
                }
                members.push((name, value(decoder, depth)?));
            }
            Ok(Value::Map(Map(members)))
        }
        Type::Bytes => Ok(Value::Bytes(decoder.bytes()?)),
        Type::String => Ok(Value::Text(decoder.str()?)),
        Type::Bool => decoder.bool().map(|_| Value::Simple).map_err(InvalidCbor::from),
        Type::Null => decoder.null().map(|()| Value::Simple).map_err(InvalidCbor::from),
        Type::Undefined => decoder.undefined().map(|()| Value::Simple).map_err(InvalidCbor::from),
        _ => Ok(Value::Integer(integer(decoder)?)),
    }
}

/// Parses a map key: a number or a text (CTAP 2, canonical CBOR).
fn name<'a>(decoder: &mut Decoder<'a>) -> Result<Name<'a>, InvalidCbor> {
    match decoder.datatype()? {
        Type::String => Ok(Name::Text(decoder.str()?)),
        _ => Ok(Name::Number(integer(decoder)?)),
    }
}

/// Parses an integer; any other value is an error.
fn integer(decoder: &mut Decoder<'_>) -> Result<i128, InvalidCbor> {
    Ok(i128::from(decoder.int()?))
}

/// Checks a declared number of items. Indefinite lengths are an error.
fn count(declared: Option<u64>) -> Result<u64, InvalidCbor> {
    declared.filter(|count| *count <= ITEMS_LIMIT).ok_or(InvalidCbor)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn read(hex: &str) -> Option<Value<'static>> {
        let bytes = const_hex::decode(hex).unwrap().leak();
        let mut decoder = Decoder::new(bytes);
        let value = value(&mut decoder, DEPTH_LIMIT).ok()?;
        (decoder.position() == bytes.len()).then_some(value)
    }

    /// Examples of RFC 8949, appendix A.
    #[test]
    fn parses_examples_of_the_standard() {
        let integers = |numbers: &[i128]| Value::List(numbers.iter().copied().map(Value::Integer).collect());
        for (hex, expected) in [
            ("00", Value::Integer(0)),
            ("17", Value::Integer(23)),
            ("1818", Value::Integer(24)),
            ("1903e8", Value::Integer(1000)),
            ("1bffffffffffffffff", Value::Integer(18_446_744_073_709_551_615)),
            ("20", Value::Integer(-1)),
            ("3863", Value::Integer(-100)),
            ("3bffffffffffffffff", Value::Integer(-18_446_744_073_709_551_616)),
            ("40", Value::Bytes(b"")),
            ("4401020304", Value::Bytes(&[1, 2, 3, 4])),
            ("60", Value::Text("")),
            ("6449455446", Value::Text("IETF")),
            ("62c3bc", Value::Text("\u{fc}")),
            ("80", integers(&[])),
            ("83010203", integers(&[1, 2, 3])),
            ("a0", Value::Map(Map::default())),
            (
                "a201020304",
                Value::Map(Map(vec![
                    (Name::Number(1), Value::Integer(2)),
                    (Name::Number(3), Value::Integer(4)),
                ])),
            ),
            ("a1616101", Value::Map(Map(vec![(Name::Text("a"), Value::Integer(1))]))),
            ("f4", Value::Simple),
            ("f5", Value::Simple),
            ("f6", Value::Simple),
            ("f7", Value::Simple),
        ] {
            assert_eq!(read(hex), Some(expected), "{hex}");
        }
    }

    /// More examples of appendix A, and of appendix F, which lists encodings that are not well-formed.
    #[test]
    fn rejects_what_no_authenticator_writes() {
        for hex in [
            // Floating-point numbers, unassigned values, tags.
            "f93c00",
            "fa47c35000",
            "fb3ff199999999999a",
            "f0",
            "f8ff",
            "c074323031332d30332d32315432303a30343a30305a",
            "c11a514b67b0",
            "c249010000000000000000",
            "d818456449455446",
            // Indefinite lengths.
            "5f42010243030405ff",
            "7f657374726561646d696e67ff",
            "9f",
            "9fff",
            "bf",
            "bfff",
            "9f018202039f0405ffff",
            "83018202039f0405ff",
            "bf61610161629f0203ffff",
            "826161bf61626163ff",
            // Truncated values, reserved values, or a lone break.
            "",
            "18",
            "1903",
            "41",
            "61",
            "5bffffffffffffffff010203",
            "7b7fffffffffffffff010203",
            "81",
            "8200",
            "a1",
            "a20102",
            "a100",
            "1c",
            "3d",
            "5e",
            "7c",
            "9d",
            "be",
            "ff",
            "81ff",
            "a1ff",
            "a1ff00",
            "a100ff",
            // Duplicate keys, and keys of other types.
            "a201000100",
            "a20100180100",
            "a2616100616100",
            "a1410100",
            "a1800000",
            "a1f400",
        ] {
            assert_eq!(read(hex), None, "{hex}");
        }
    }

    #[test]
    fn members_are_removed_once() {
        let bytes = const_hex::decode("a301020341ff616161").unwrap();
        assert_eq!(map(&bytes), Err(InvalidCbor));
        let bytes = const_hex::decode("a301020341ff61616162").unwrap();
        let mut members = map(&bytes).unwrap();
        assert_eq!(members.text("a"), Ok("b"));
        assert_eq!(members.text("a"), Err(InvalidCbor));
        assert_eq!(members.bytes(3), Ok([0xff].as_slice()));
        assert!(!members.is_empty());
        assert_eq!(members.bytes(1), Err(InvalidCbor), "a member of another type is not returned");
        assert!(members.is_empty());
        assert_eq!(leading_map(&[0xa0, 7]), Ok((Map::default(), [7].as_slice())));
        assert_eq!(map(&[0xa0, 7]), Err(InvalidCbor));
        assert_eq!(map(&[0x80]), Err(InvalidCbor));
    }
}
