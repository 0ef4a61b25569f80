//! JSON as a signed body needs it: one meaning only. Doubled members, deep nesting and trailing text
//! are refused; explicit nulls count as absent and member names are brought to lowerCamelCase, as the
//! proto3 JSON mapping demands.

use std::fmt;

use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// How deep objects and lists may nest.
pub const DEPTH_LIMIT: usize = 64;

/// Why bytes are not an acceptable value. Never echoes what was sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// Not JSON, not one value, a member twice, or nested too deep.
    #[error("bad request body")]
    Unreadable,
    /// A required member is not there. Holds its name.
    #[error("invalid request body: missing field `{0}`")]
    Missing(String),
    /// A member has a wrong type or breaks a rule of its own.
    #[error("{reason}")]
    Member {
        /// Dotted path of the member, for example `parameters.users[0].userName`.
        path: String,
        /// What was expected, in the words of the member's type.
        reason: String,
    },
}

/// Reads one JSON value. See the module for what is refused.
pub fn parse(bytes: &[u8]) -> Result<Value, Flaw> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = Strict { depth: 0 }.deserialize(&mut deserializer).map_err(|_| Flaw::Unreadable)?;
    deserializer.end().map_err(|_| Flaw::Unreadable)?;
    Ok(value)
}

/// Turns a value into a typed one; `path` names where the value stands in the body.
pub fn typed<T: DeserializeOwned>(value: Value, path: &str) -> Result<T, Flaw> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let place = error.path().to_string();
        flaw(path, &place, &error.into_inner().to_string())
    })
}

/// Texts of rules that clients know word for word, so no place is added to them.
const VERBATIM: [&str; 12] = [
    "invalid curve",
    "curve required",
    "invalid path",
    "invalid path format",
    "invalid address format",
    "invalid payload encoding",
    "invalid hash function",
    "invalid email address",
    "invalid api key expiration",
    "missing wallet params",
    "invalid authenticator attestation",
    "missing parameter: user authenticator attestation",
];

/// A flaw of the member at `place` below `base`, in the words of the member's type.
pub fn flaw(base: &str, place: &str, message: &str) -> Flaw {
    let path = match (base, place) {
        ("", place) => place.to_owned(),
        (base, ".") => base.to_owned(),
        (base, place) => format!("{base}.{place}"),
    };
    if let Some(name) = message.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`')) {
        return Flaw::Missing(name.to_owned());
    }
    if VERBATIM.contains(&message) {
        return Flaw::Member { path, reason: message.to_owned() };
    }
    let rule = if message.starts_with("unknown variant") {
        "unknown name".to_owned()
    } else if message.starts_with("invalid type") || message.starts_with("invalid value") {
        // The text before `expected` repeats the value that was sent.
        let expected = message.rsplit_once("expected ").map_or("another type", |(_, expected)| expected);
        format!("expected {expected}")
    } else {
        message.to_owned()
    };
    Flaw::Member { reason: format!("invalid request body: `{path}`: {rule}"), path }
}

/// `user_name` becomes `userName`; other names stay.
fn camel(name: String) -> String {
    if !name.contains('_') {
        return name;
    }
    let mut out = String::with_capacity(name.len());
    let mut upper = false;
    for letter in name.chars() {
        match letter {
            '_' => upper = true,
            letter if upper => {
                out.extend(letter.to_uppercase());
                upper = false;
            }
            letter => out.push(letter),
        }
    }
    out
}

struct Strict {
    depth: usize,
}

impl Strict {
    fn deeper<E: serde::de::Error>(&self) -> Result<Self, E> {
        if self.depth >= DEPTH_LIMIT {
            return Err(E::custom("nested too deep"));
        }
        Ok(Self { depth: self.depth.saturating_add(1) })
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

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = seq.next_element_seed(self.deeper()?)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            let value = map.next_value_seed(self.deeper()?)?;
            if object.insert(camel(name), value).is_some() {
                return Err(serde::de::Error::custom("a member stands twice"));
            }
        }
        object.retain(|_, value| !value.is_null());
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use serde::Deserialize;
    use serde_json::json;

    #[test]
    fn refuses_what_has_two_meanings() {
        let deep = format!("{}1{}", "[".repeat(DEPTH_LIMIT + 1), "]".repeat(DEPTH_LIMIT + 1));
        for bad in [
            "",
            "{",
            "{} {}",
            "{\"a\":1,}",
            "{'a':1}",
            "NaN",
            "\u{feff}{}",
            "1e999",
            "{\"a\":1,\"a\":1}",
            "{\"a\":1,\"\\u0061\":1}",
            "{\"x\":{\"a\":1,\"a\":2}}",
            "{\"user_name\":1,\"userName\":2}",
            "{\"a\":null,\"a\":1}",
            "\"\\ud800\"",
            &deep,
        ] {
            assert_eq!(parse(bad.as_bytes()), Err(Flaw::Unreadable), "{bad}");
        }
        assert_eq!(parse(&[b'"', 0xff, b'"']), Err(Flaw::Unreadable));
    }

    #[test]
    fn reads_as_proto_json_does() {
        let body = br#"{"user_name":"a","b":null,"c":[null,{"d":null}]}"#;
        assert_eq!(parse(body).unwrap(), json!({"userName": "a", "c": [null, {}]}));
    }

    #[derive(Deserialize, Debug)]
    #[serde(rename_all = "camelCase")]
    #[allow(dead_code, reason = "only parsed")]
    struct Sample {
        user_name: String,
        count: Vec<u32>,
    }

    #[test]
    fn names_the_member_and_not_its_value() {
        let check = |value: Value, expected: &str| {
            assert_eq!(typed::<Sample>(value, "parameters").unwrap_err().to_string(), expected);
        };
        check(json!({"count": []}), "invalid request body: missing field `userName`");
        check(
            json!({"userName": 7, "count": []}),
            "invalid request body: `parameters.userName`: expected a string",
        );
        check(
            json!({"userName": "a", "count": [1, "secret"]}),
            "invalid request body: `parameters.count[1]`: expected u32",
        );
        check(
            json!({"userName": "a", "count": [1.0]}),
            "invalid request body: `parameters.count[0]`: expected u32",
        );
    }
}
