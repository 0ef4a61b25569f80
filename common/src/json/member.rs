//! Looks for one member of a JSON object, before the whole is read.

use std::fmt;

use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::Number;
use serde_json::value::RawValue;

use super::JsonError;
use super::normal::camel;

/// Value of one member of an object, as [`member`] finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Member {
    /// The member is missing or null.
    Absent,
    /// The value is a string.
    Text(String),
    /// The value has another type.
    Other,
}

/// Finds one member of a JSON object without storing the rest.
///
/// The bytes are not fully checked: `Document::read` may still reject them, but it never finds another
/// value for this member.
///
/// # Errors
///
/// [`JsonError::Unreadable`] if the bytes are not one JSON object, or if the member appears twice.
pub fn member(bytes: &[u8], name: &'static str) -> Result<Member, JsonError> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let found = deserializer.deserialize_map(Find(name)).map_err(|_| JsonError::Unreadable)?;
    deserializer.end().map_err(|_| JsonError::Unreadable)?;
    Ok(found)
}

/// Finds the value of the member with this name.
struct Find(&'static str);

impl Find {
    fn is_named(&self, name: &str) -> bool {
        let mut camel_case = String::new();
        camel(name, &mut camel_case);
        camel_case == self.0
    }
}

impl<'de> Visitor<'de> for Find {
    type Value = Member;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Member, A::Error> {
        let mut found = None;
        while let Some(name) = map.next_key::<String>()? {
            if !self.is_named(&name) {
                map.next_value::<IgnoredAny>()?;
            } else if found.replace(read(map.next_value()?).map_err(A::Error::custom)?).is_some() {
                return Err(A::Error::custom("duplicate member"));
            }
        }
        Ok(found.unwrap_or(Member::Absent))
    }
}

/// Reads the value of the matching member.
fn read(value: &RawValue) -> serde_json::Result<Member> {
    match value.get().as_bytes() {
        [b'"', ..] => serde_json::from_str(value.get()).map(Member::Text),
        [b'n', ..] => Ok(Member::Absent),
        // A number that is too large for any type is not acceptable.
        [b'-' | b'0'..=b'9', ..] => serde_json::from_str::<Number>(value.get()).map(|_| Member::Other),
        _ => Ok(Member::Other),
    }
}
