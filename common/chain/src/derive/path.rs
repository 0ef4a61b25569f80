//! Derivation paths as text, such as `m/44'/60'/0'/0/0`.
//!
//! Paths are independent of the curve. The derivation decides whether a step without the mark is hardened
//! anyway.

use core::fmt;
use core::str::FromStr;

use schemars::json_schema;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize, Serializer};

use crate::inline_schema::inline_schema;

/// Maximum number of steps below the master key.
pub const MAX_DEPTH: usize = 10;

/// Maximum length of a path in bytes: `m` and ten steps such as `/2147483647'`.
pub const MAX_PATH_BYTES: usize = 1 + MAX_DEPTH * 12;

/// Marks the upper half of the child numbers (BIP-32, "Extended keys").
const HARDENED: u32 = 1 << 31;

/// A derivation path. Paths are equal if their texts are equal.
///
/// Grammar: `m`, then up to [`MAX_DEPTH`] times `/`, a decimal index below 2^31 without leading
/// zeros, and `'` if the step is hardened.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path {
    text: String,
    steps: Vec<Step>,
}

/// One step of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Step {
    index: u32,
    hardened: bool,
}

impl Path {
    /// Returns the path as it was entered.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub(super) fn steps(&self) -> &[Step] {
        &self.steps
    }
}

impl Step {
    /// Returns the child number of BIP-32, with the upper bit set for a hardened step.
    pub(super) fn number(self) -> u32 {
        if self.hardened { self.hardened_number() } else { self.index }
    }

    /// Returns the child number as if the step were hardened.
    pub(super) fn hardened_number(self) -> u32 {
        self.index | HARDENED
    }

    fn parse(text: &str) -> Result<Self, InvalidPath> {
        let (digits, hardened) = match text.strip_suffix('\'') {
            Some(digits) => (digits, true),
            None => (text, false),
        };
        // Leading zeros are rejected, so that no two texts name the same key.
        let leading_zero = digits.len() > 1 && digits.starts_with('0');
        // The integer parser alone would accept a sign.
        if leading_zero || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return Err(InvalidPath);
        }
        match digits.parse() {
            Ok(index) if index < HARDENED => Ok(Self { index, hardened }),
            _ => Err(InvalidPath),
        }
    }
}

impl FromStr for Path {
    type Err = InvalidPath;

    fn from_str(text: &str) -> Result<Self, InvalidPath> {
        if text.len() > MAX_PATH_BYTES {
            return Err(InvalidPath);
        }
        let mut parts = text.split('/');
        if parts.next() != Some("m") {
            return Err(InvalidPath);
        }
        let steps: Vec<Step> = parts.map(Step::parse).collect::<Result<_, _>>()?;
        if steps.len() > MAX_DEPTH {
            return Err(InvalidPath);
        }
        Ok(Self { text: text.to_owned(), steps })
    }
}

impl fmt::Display for Path {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl Serialize for Path {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Path {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

inline_schema!(
    Path,
    json_schema!({
        "type": "string",
        "maxLength": MAX_PATH_BYTES,
        "pattern": "^m(/(0|[1-9][0-9]{0,9})'?){0,10}$",
    })
);

/// Error returned for a text that is not a derivation path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid path")]
pub struct InvalidPath;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use proptest::prelude::*;

    use super::{InvalidPath, MAX_PATH_BYTES, Path};

    /// Checks the child numbers of a path, or the error.
    fn check(text: &str, expected: Result<&[u32], InvalidPath>) {
        let path = text.parse::<Path>();
        let numbers = path.as_ref().map(|path| {
            let steps = path.steps().iter();
            steps.map(|step| step.number()).collect::<Vec<_>>()
        });
        assert_eq!(numbers.as_deref().map_err(|error| **error), expected, "{text}");
    }

    const H: u32 = 1 << 31;

    #[test]
    fn accepts_valid_paths() {
        check("m", Ok(&[]));
        check("m/0", Ok(&[0]));
        check("m/0'", Ok(&[H]));
        check("m/44'/60'/0'/0/0", Ok(&[H + 44, H + 60, H, 0, 0]));
        check("m/2147483647'/2147483647", Ok(&[u32::MAX, H - 1]));
        check("m/1/2/3/4/5/6/7/8/9/10", Ok(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]));
    }

    #[test]
    fn rejects_invalid_paths() {
        let deep = format!("m{}", "/0".repeat(300));
        for text in [
            "",
            "/",
            "0",
            "M/0",
            "m/",
            "m//0",
            "m/0/",
            "/m/0",
            "mm/0",
            "m0",
            " m/0",
            "m/0 ",
            "m/ 0",
            "m/-1",
            "m/+1",
            "m/0h",
            "m/0H",
            "m/0''",
            "m/'",
            "m/'0",
            "m/0\u{2019}",
            "m/0x1",
            "m/1e1",
            "m/00",
            "m/01",
            "m/00'",
            "m/\u{0661}",
            "m/\u{ff11}",
            "m/2147483648",
            "m/2147483648'",
            "m/4294967296",
            "m/99999999999999999999999",
            "m/1/2/3/4/5/6/7/8/9/10/11",
            "m/0\0",
            "m\n/0",
            &deep,
        ] {
            check(text, Err(InvalidPath));
        }
        assert_eq!(InvalidPath.to_string(), "invalid path");
    }

    #[test]
    fn length_limit_equals_the_longest_path() {
        let text = format!("m{}", "/2147483647'".repeat(10));
        assert_eq!(text.len(), MAX_PATH_BYTES);
        assert!(text.parse::<Path>().is_ok());
    }

    #[test]
    fn serializes_as_text() {
        let path: Path = serde_json::from_str("\"m/44'/0'\"").unwrap();
        assert_eq!(serde_json::to_string(&path).unwrap(), "\"m/44'/0'\"");
        let error = serde_json::from_str::<Path>("\"m/x\"").unwrap_err();
        assert!(error.to_string().starts_with("invalid path"), "{error}");
    }

    proptest! {
        #[test]
        fn text_round_trips(steps in prop::collection::vec((0..H, any::<bool>()), 0..=10)) {
            let mut text = "m".to_owned();
            for (index, hardened) in &steps {
                text.push('/');
                text.push_str(&index.to_string());
                if *hardened {
                    text.push('\'');
                }
            }
            let path: Path = text.parse().unwrap();
            prop_assert_eq!(path.to_string(), text);
            let numbers: Vec<u32> = path.steps().iter().map(|step| step.number()).collect();
            let expected: Vec<u32> = steps
                .iter()
                .map(|(index, hardened)| if *hardened { index | H } else { *index })
                .collect();
            prop_assert_eq!(numbers, expected);
        }

        #[test]
        fn arbitrary_text_never_panics(text in any::<String>(), tail in "m[/'0-9]{0,140}") {
            for text in [text, tail] {
                if let Ok(path) = text.parse::<Path>() {
                    prop_assert_eq!(path.as_str(), text);
                }
            }
        }
    }
}
