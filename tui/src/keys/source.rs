//! The interface of key sources, and the check of what they sign.

use quorate_common::stamp::{self, ApiKeyCurve, Stamp};

use super::error::KeyError;

/// What unlocks a key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Secret {
    #[default]
    Passphrase,
    /// PIN of a token.
    Pin,
    /// PIN of a security key, which must also be touched for each signature.
    PinAndTouch,
}

impl Secret {
    /// Returns the word for prompts.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Passphrase => "Passphrase",
            Self::Pin | Self::PinAndTouch => "PIN",
        }
    }

    /// Returns whether each signature needs a touch of the key.
    pub(crate) const fn needs_touch(self) -> bool {
        matches!(self, Self::PinAndTouch)
    }
}

/// What a key is, without any secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Description {
    /// The selector that finds the key, as the user wrote it.
    pub(crate) name: String,
    /// Public key as it is registered: lower-case hex, or base64url of the COSE key of a passkey.
    pub(crate) public_key: String,
    pub(crate) curve: ApiKeyCurve,
    /// What the console must prompt for; `None` if it never does.
    pub(crate) secret: Option<Secret>,
    /// What is risky about the way to the key.
    pub(crate) warning: Option<String>,
}

/// A key that stamps requests.
pub(crate) trait KeySource: Send + Sync {
    /// Returns what the key is.
    fn describe(&self) -> &Description;

    /// Returns whether a secret must be entered before the key signs.
    fn is_locked(&self) -> bool;

    /// Returns the stamp of exactly these bytes. `secret` unlocks the key if it is locked. Call [`sign`], which verifies
    /// the stamp.
    fn stamp(&self, body: &[u8], secret: &str) -> Result<Stamp, KeyError>;

    /// Cancels a signature that waits for a person.
    fn cancel(&self) {}

    /// Wipes everything that unlocks the key.
    fn lock(&self);
}

/// Signs exactly these bytes. A stamp is returned only if it verifies under the described key, whatever the source
/// answered.
pub(crate) fn sign(source: &dyn KeySource, body: &[u8], secret: &str) -> Result<Stamp, KeyError> {
    let stamp = source.stamp(body, secret)?;
    let is_own = stamp.public_key == source.describe().public_key;
    if is_own && stamp::verify(&stamp, body) { Ok(stamp) } else { Err(KeyError::unverified()) }
}
