//! Errors of FIDO2 security keys.

use crate::files::FileError;
use crate::keys::error::{Cause, KeyError};

/// Why a security key cannot be found or cannot sign.
#[derive(Debug, thiserror::Error)]
pub(in crate::keys) enum SecurityKeyError {
    #[error("no security key is attached; attach it, or set security_key in config.toml to its path")]
    Absent,
    #[error("security key {0} is not attached")]
    Detached(String),
    #[error("{0} security keys are attached: attach only the one that you want to use")]
    Several(usize),
    #[error("security key {path}: {reason}")]
    Device { path: String, reason: String },
    #[error("the security key was removed; nothing was sent")]
    Removed,
    #[error("the security key does not answer; attach it again")]
    Silent,
    #[error("another program uses the security key; end it, or try again")]
    Busy,
    #[error("the security key has no PIN: set one with the tools of its maker")]
    NoPin,
    #[error("the PIN of a security key has 4 to 63 characters")]
    PinLength,
    #[error("wrong PIN of the security key; {0}")]
    Pin(TriesLeft),
    #[error("too many wrong PINs in succession: remove the security key and attach it again")]
    PinPaused,
    #[error(
        "the PIN of the security key is blocked after too many wrong ones; only a reset, which erases its keys, unblocks it"
    )]
    PinBlocked,
    #[error("the security key was not touched in time; nothing was sent")]
    Touch,
    #[error("cancelled while the security key waited for a touch; nothing was sent")]
    Cancelled,
    #[error("the request was denied on the security key; nothing was sent")]
    Denied,
    #[error("no attached security key has the key {0}: attach the one that it was created on")]
    Unknown(String),
    #[error("the security key cannot be used: {0}")]
    Unsupported(&'static str),
    #[error("the security key reports the error 0x{0:02x}")]
    Status(u8),
    #[error("the security key sent an invalid answer: {0}")]
    Answer(&'static str),
    #[error("the answer of the security key does not verify under the selected key; nothing was sent")]
    Unverified,
    #[error("invalid key name: use letters, digits, `-`, `_` and `.`, up to 64, a letter or digit first")]
    Name,
    #[error("relying party {0}: expected a domain name in lower case")]
    RelyingParty(String),
    #[error("origin {origin}: expected https:// and {relying_party} or a name below it")]
    Origin { origin: String, relying_party: String },
    #[error("no key of a security key is named {0}; list your keys with `quorate key ls`")]
    Missing(String),
    #[error(transparent)]
    File(#[from] FileError),
    #[error("no random bytes are available")]
    Random,
}

/// How many wrong PINs remain before the PIN is blocked, if the security key reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::keys) struct TriesLeft(pub(super) Option<u8>);

impl std::fmt::Display for TriesLeft {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(1) => formatter.write_str("1 try is left before it is blocked"),
            Some(count) => write!(formatter, "{count} tries are left before it is blocked"),
            None => formatter.write_str("it is blocked after a few wrong ones"),
        }
    }
}

impl From<SecurityKeyError> for KeyError {
    fn from(error: SecurityKeyError) -> Self {
        use SecurityKeyError as Error;
        let cause = match &error {
            Error::Several(_)
            | Error::NoPin
            | Error::Unsupported(_)
            | Error::Name
            | Error::RelyingParty(_)
            | Error::Origin { .. } => Cause::Usage,
            Error::Absent | Error::Detached(_) | Error::Removed | Error::Unknown(_) | Error::Missing(_) => {
                Cause::NotFound
            }
            Error::PinLength
            | Error::Pin(_)
            | Error::PinPaused
            | Error::PinBlocked
            | Error::Touch
            | Error::Cancelled
            | Error::Denied
            | Error::File(FileError::Permissions { .. }) => Cause::Denied,
            Error::Unverified => Cause::Verification,
            Error::Device { .. }
            | Error::Silent
            | Error::Busy
            | Error::Status(_)
            | Error::Answer(_)
            | Error::File(_)
            | Error::Random => Cause::Failed,
        };
        Self::new(cause, &error)
    }
}
