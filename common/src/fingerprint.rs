//! Fingerprints of activities. Approvers sign the fingerprint, and it makes a request run only once.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest, Sha256};

use crate::inline_schema;

const PREFIX: &str = "sha256:";

/// SHA-256 digest of the exact bytes of a request body. The text form is `sha256:` and 64 lowercase hex
/// digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// Computes the fingerprint of a request body, byte for byte as sent.
    pub fn of(body: &[u8]) -> Self {
        Self(Sha256::digest(body).into())
    }

    /// Creates a fingerprint from its digest.
    pub const fn from_bytes(digest: [u8; 32]) -> Self {
        Self(digest)
    }

    /// Returns the 32 bytes of the digest.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns the digest as 64 lowercase hex digits, without the prefix.
    pub fn hex(&self) -> String {
        const_hex::encode(self.0)
    }
}

/// Error returned for a text that is not `sha256:` and 64 hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected `sha256:` and 64 hex digits")]
pub struct InvalidFingerprint;

impl FromStr for Fingerprint {
    type Err = InvalidFingerprint;

    fn from_str(text: &str) -> Result<Self, InvalidFingerprint> {
        let digits = text.strip_prefix(PREFIX).ok_or(InvalidFingerprint)?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(InvalidFingerprint);
        }
        const_hex::decode_to_array(digits).map(Self).map_err(|_| InvalidFingerprint)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        f.write_str(&self.hex())
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

inline_schema!(Fingerprint, {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$", "maxLength": 71});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_the_published_clients() {
        let body = br#"{"organizationId":"00000000-0000-4000-8000-000000000001"}"#;
        let text = "sha256:d2d5c37920bfde68c8b84d52721b7764a99fd88056fd84a97d6a2b02fabab704";
        assert_eq!(Fingerprint::of(body).to_string(), text);
        assert_eq!(text.parse(), Ok(Fingerprint::of(body)));
        for bad in [
            "",
            "d2d5",
            "sha256:",
            "sha256:0xd2",
            "SHA256:d2d5c37920bfde68c8b84d52721b7764a99fd88056fd84a97d6a2b02fabab704",
        ] {
            assert_eq!(bad.parse::<Fingerprint>(), Err(InvalidFingerprint), "{bad}");
        }
    }
}
