//! The fingerprint of an activity: what approvers sign and what makes a request run once only.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest, Sha256};

const PREFIX: &str = "sha256:";

/// SHA-256 over the exact bytes of a request body. Text form: `sha256:` and 64 lowercase hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// The fingerprint of these body bytes, as sent.
    pub fn of(body: &[u8]) -> Self {
        Self(Sha256::digest(body).into())
    }

    /// The fingerprint with this digest.
    pub const fn from_bytes(digest: [u8; 32]) -> Self {
        Self(digest)
    }

    /// The digest itself.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The digest as 64 lowercase hex digits, without the prefix.
    pub fn hex(&self) -> String {
        const_hex::encode(self.0)
    }
}

/// The text is not `sha256:` and 64 hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected sha256: and 64 hex digits")]
pub struct NotAFingerprint;

impl FromStr for Fingerprint {
    type Err = NotAFingerprint;

    fn from_str(text: &str) -> Result<Self, NotAFingerprint> {
        let digits = text.strip_prefix(PREFIX).ok_or(NotAFingerprint)?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(NotAFingerprint);
        }
        const_hex::decode_to_array(digits).map(Self).map_err(|_| NotAFingerprint)
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

impl schemars::JsonSchema for Fingerprint {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Fingerprint".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "pattern": "^sha256:[0-9a-f]{64}$", "maxLength": 71})
    }
}

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
            assert_eq!(bad.parse::<Fingerprint>(), Err(NotAFingerprint), "{bad}");
        }
    }
}
