//! Members of a request that are read, and never written again.

use quorate_common::bounded::Text;
use quorate_common::inline_schema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use zeroize::Zeroizing;

/// A text of at most `MAX` bytes that only the execution of its request reads. It is written as an empty text, so
/// that neither the stored activity nor an answer contains it.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretText<const MAX: usize>(Zeroizing<String>);

impl<const MAX: usize> SecretText<MAX> {
    /// Returns the text.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl<const MAX: usize> Serialize for SecretText<MAX> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("")
    }
}

impl<'de, const MAX: usize> Deserialize<'de> for SecretText<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Text::<MAX>::deserialize(deserializer).map(|text| Self(Zeroizing::new(text.into_string())))
    }
}

inline_schema!(SecretText<const MAX: usize>, {"type": "string", "maxLength": MAX});

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn texts_are_read_and_never_written() {
        let text: SecretText<4> = serde_json::from_str("\"code\"").unwrap();
        assert_eq!(text.reveal(), "code");
        assert_eq!(serde_json::to_string(&text).unwrap(), "\"\"");
        assert!(serde_json::from_str::<SecretText<4>>("\"codes\"").is_err());
    }
}
