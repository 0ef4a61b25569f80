//! The public key of a log, as text: its name, its id and the key (C2SP signed-note).

use std::fmt;
use std::str::FromStr;

use base64ct::{Base64, Encoding};
use ed25519_dalek::{Signature, VerifyingKey};
use signed_note::{Verifier, key_id};

use super::LogError;

/// First byte of an Ed25519 key.
const ED25519: u8 = 1;

/// The key with which the checkpoints of a log are verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifierKey {
    name: String,
    key: VerifyingKey,
}

impl VerifierKey {
    /// Creates the key of the log with this name.
    pub const fn new(name: String, key: VerifyingKey) -> Self {
        Self { name, key }
    }

    /// Returns the name of the log.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the id that signatures state.
    pub fn id(&self) -> u32 {
        key_id(&self.name, &self.encoded())
    }

    fn encoded(&self) -> Vec<u8> {
        [&[ED25519], self.key.as_bytes().as_slice()].concat()
    }
}

impl Verifier for VerifierKey {
    fn name(&self) -> &str {
        &self.name
    }

    fn key_id(&self) -> u32 {
        self.id()
    }

    fn verify(&self, text: &[u8], signature: &[u8]) -> bool {
        Signature::from_slice(signature)
            .is_ok_and(|signature| self.key.verify_strict(text, &signature).is_ok())
    }
}

impl fmt::Display for VerifierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{:08x}+{}", self.name, self.id(), Base64::encode_string(&self.encoded()))
    }
}

impl FromStr for VerifierKey {
    type Err = LogError;

    fn from_str(text: &str) -> Result<Self, LogError> {
        let parsed = || {
            let (name, rest) = text.split_once('+')?;
            let (_, key) = rest.split_once('+')?;
            let key = Base64::decode_vec(key).ok()?;
            let (&ED25519, key) = key.split_first()? else { return None };
            let key = VerifyingKey::from_bytes(key.try_into().ok()?).ok()?;
            Some(Self::new(name.to_owned(), key))
        };
        // Only the one form that is written is read, which includes the id.
        parsed().filter(|key| key.to_string() == text).ok_or(LogError::Malformed)
    }
}
