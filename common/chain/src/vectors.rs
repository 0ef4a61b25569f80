//! Reads the vector files under `assets/vectors` for the tests of this crate.
//!
//! Each file is an object with a source and rows. The expected values come from the named standard or from an
//! independent implementation.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::curve::{Curve, SecretKey};

#[derive(Deserialize)]
struct File<T> {
    rows: Vec<T>,
}

/// Returns the rows of a vector file, which must have at least one.
pub(crate) fn rows<T: DeserializeOwned>(text: &str) -> Vec<T> {
    let file: File<T> = serde_json::from_str(text).unwrap();
    assert!(!file.rows.is_empty(), "the vector file has no rows");
    file.rows
}

/// Decodes hexadecimal digits.
pub(crate) fn bytes<const N: usize>(hex: &str) -> [u8; N] {
    const_hex::decode_to_array(hex).unwrap()
}

/// Returns the secret key with these hexadecimal digits.
pub(crate) fn secret(curve: Curve, hex: &str) -> SecretKey {
    SecretKey::from_bytes(curve, &bytes(hex)).unwrap_or_else(|_| panic!("invalid key of {curve}"))
}

/// Returns the policy value that vectors write as `{"int": "-1"}`, `{"uint": "1"}`, `{"address": "0x…"}` or
/// `{"map": {…}}`, or as `null` for [`quorate_policy::Value::Unreadable`].
pub(crate) fn policy_value(written: &serde_json::Value) -> quorate_policy::Value {
    use quorate_policy::{Integer, Value};
    use serde_json::Value as Json;

    match written {
        Json::Null => Value::Unreadable,
        Json::Bool(value) => Value::Bool(*value),
        Json::String(text) => Value::text(text.clone()),
        Json::Array(list) => list.iter().map(policy_value).collect(),
        Json::Number(_) => panic!("a number without a type"),
        Json::Object(members) => {
            let (kind, content) = members.iter().next().unwrap();
            let number = || Integer::from_decimal(content.as_str().unwrap()).unwrap();
            match kind.as_str() {
                "int" => Value::int(number()),
                "uint" => Value::uint(number()),
                "address" => Value::folded(content.as_str().unwrap().to_owned()),
                "map" => policy_map(content.as_object().unwrap()),
                other => panic!("unknown type of value: {other}"),
            }
        }
    }
}

/// Returns a map of policy values.
pub(crate) fn policy_map(entries: &serde_json::Map<String, serde_json::Value>) -> quorate_policy::Value {
    quorate_policy::Value::map(entries.iter().map(|(name, value)| (name.as_str(), policy_value(value))))
}
