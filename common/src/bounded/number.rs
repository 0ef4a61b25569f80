//! Numbers that are written as decimal strings.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::inline_schema;

/// An unsigned 64-bit number that is written to JSON as a decimal string. JSON numbers are accepted too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Decimal(pub u64);

impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DecimalVisitor)
    }
}

struct DecimalVisitor;

impl de::Visitor<'_> for DecimalVisitor {
    type Value = Decimal;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an unsigned 64-bit number in decimal")
    }

    fn visit_u64<E>(self, number: u64) -> Result<Decimal, E> {
        Ok(Decimal(number))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Decimal, E> {
        u64::try_from(number)
            .map(Decimal)
            .map_err(|_| E::invalid_value(de::Unexpected::Signed(number), &self))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Decimal, E> {
        decimal(text).map(Decimal).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
    }
}

/// Parses decimal digits without sign and without leading zeros.
fn decimal(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    let minimal = text == "0" || !text.starts_with('0');
    if plain && minimal { text.parse().ok() } else { None }
}

inline_schema!(Decimal, {"type": "string", "pattern": "^(0|[1-9][0-9]*)$", "maxLength": 20});

/// Lifetime of a credential in seconds, written as a positive decimal string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExpirationSeconds(pub u64);

impl Serialize for ExpirationSeconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Decimal(self.0).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ExpirationSeconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Decimal::deserialize(deserializer) {
            Ok(Decimal(seconds)) if seconds > 0 => Ok(Self(seconds)),
            _ => Err(de::Error::custom("invalid api key expiration")),
        }
    }
}

inline_schema!(ExpirationSeconds, {"type": "string", "pattern": "^[1-9][0-9]*$", "maxLength": 20});

/// An integer from `MIN` to `MAX`, which are not negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Between<const MIN: i32, const MAX: i32>(i32);

impl<const MIN: i32, const MAX: i32> Between<MIN, MAX> {
    /// Returns the number.
    pub fn size(self) -> usize {
        usize::try_from(self.0).unwrap_or_default()
    }
}

impl<'de, const MIN: i32, const MAX: i32> Deserialize<'de> for Between<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = i32::deserialize(deserializer)?;
        let error = || de::Error::custom(format!("must be from {MIN} to {MAX}"));
        (MIN..=MAX).contains(&number).then_some(Self(number)).ok_or_else(error)
    }
}

inline_schema!(Between<const MIN: i32, const MAX: i32>, {"type": "integer", "minimum": MIN, "maximum": MAX});

/// A lifetime of 1 to `MAX` seconds, written as a decimal string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Lifetime<const MAX: u64>(Decimal);

impl<const MAX: u64> Lifetime<MAX> {
    /// Returns the lifetime in seconds.
    pub const fn seconds(self) -> u64 {
        self.0.0
    }
}

impl<'de, const MAX: u64> Deserialize<'de> for Lifetime<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let seconds = Decimal::deserialize(deserializer)?;
        let error = || de::Error::custom(format!("must be from 1 to {MAX} seconds"));
        (1..=MAX).contains(&seconds.0).then_some(Self(seconds)).ok_or_else(error)
    }
}

inline_schema!(Lifetime<const MAX: u64>, {"type": "string", "pattern": "^[1-9][0-9]*$", "maxLength": 20});
