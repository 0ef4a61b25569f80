//! JSON with one meaning: no member twice, and no deeper nesting than [`MAX_DEPTH`].

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::{Flaw, MAX_INTERFACE};

/// How deep objects and lists may nest.
const MAX_DEPTH: usize = 64;

/// Reads the text of an interface.
pub(super) fn parse(text: &str) -> Result<Value, Flaw> {
    // A character has at most four bytes.
    if text.len() > MAX_INTERFACE.saturating_mul(4) || text.chars().count() > MAX_INTERFACE {
        return Err(Flaw::TooLong);
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = Strict { depth: 0 }.deserialize(&mut deserializer).map_err(|_| Flaw::NotJson)?;
    deserializer.end().map_err(|_| Flaw::NotJson)?;
    Ok(value)
}

/// The text of a member; none if there is no such member, or no text.
pub(super) fn text<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name).and_then(Value::as_str)
}

/// The elements of a member; none if there is no such member, or no list.
pub(super) fn list<'v>(value: &'v Value, name: &str) -> Option<&'v [Value]> {
    value.get(name).and_then(Value::as_array).map(Vec::as_slice)
}

#[derive(Clone, Copy)]
struct Strict {
    depth: usize,
}

impl Strict {
    fn deeper<E: Error>(self) -> Result<Self, E> {
        let depth = self.depth.saturating_add(1);
        if depth > MAX_DEPTH { Err(E::custom("nested too deep")) } else { Ok(Self { depth }) }
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut list = Vec::new();
        while let Some(element) = elements.next_element_seed(inner)? {
            list.push(element);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut map = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            let value = members.next_value_seed(inner)?;
            if map.insert(name, value).is_some() {
                return Err(A::Error::custom("a member twice"));
            }
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn texts_have_one_meaning() {
        for bad in ["", "[", "[] []", "{\"a\":1,\"a\":1}", "[{\"b\":{\"a\":1,\"\\u0061\":2}}]", "nan"] {
            assert_eq!(parse(bad), Err(Flaw::NotJson), "{bad}");
        }
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(&nested(MAX_DEPTH)).is_ok());
        assert_eq!(parse(&nested(MAX_DEPTH + 1)), Err(Flaw::NotJson));
        let text = r#"{"a": [1, -2, 0.5, null, true, "é"], "b": {}}"#;
        assert_eq!(parse(text).unwrap(), serde_json::from_str::<Value>(text).unwrap());
    }

    #[test]
    fn lengths_are_counted_in_characters() {
        let text = |length: usize| format!("\"{}\"", "é".repeat(length.saturating_sub(2)));
        assert!(parse(&text(MAX_INTERFACE)).is_ok());
        assert_eq!(parse(&text(MAX_INTERFACE + 1)), Err(Flaw::TooLong));
    }
}
