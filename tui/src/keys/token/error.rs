//! Errors of PKCS #11 tokens.

use cryptoki::error::{Error, RvError};

use crate::keys::error::{Cause, KeyError};

/// Why a key of a token cannot be found or cannot sign.
#[derive(Debug, thiserror::Error)]
pub(in crate::keys) enum TokenError {
    #[error(
        "no PKCS #11 module: set pkcs11_module in config.toml to the absolute path of the module of your token"
    )]
    NoModule,
    #[error("pkcs11_module {0}: not an absolute path")]
    Relative(String),
    #[error("PKCS #11 module {path}: {reason}")]
    Module { path: String, reason: String },
    #[error("no token is labelled {0}: connect it, or list your keys with `quorate key ls`")]
    Absent(String),
    #[error("{count} tokens are labelled {token}: connect only one of them")]
    Tokens { token: String, count: usize },
    #[error("token {token} has no public key labelled {label}; list your keys with `quorate key ls`")]
    NoKey { token: String, label: String },
    #[error("{count} keys of token {token} are labelled {label}: give each its own label")]
    Ambiguous { token: String, label: String, count: usize },
    /// The key cannot stamp requests.
    #[error("{0}")]
    Unusable(String),
    #[error("wrong PIN of token {0}; after a few wrong ones the token locks itself")]
    Pin(String),
    #[error(
        "the PIN of token {0} is locked after too many wrong ones; unlock it with the tools of the token"
    )]
    PinLocked(String),
    #[error("token {0} was removed; nothing was sent")]
    Removed(String),
    #[error("token {token} no longer has the private key labelled {label}; nothing was sent")]
    Gone { token: String, label: String },
    /// The module reported another error.
    #[error("token {token}: {error}")]
    Other { token: String, error: Error },
}

impl TokenError {
    /// Converts an error of the module for this token.
    pub(super) fn of(token: &str, error: Error) -> Self {
        let token = token.to_owned();
        match error {
            Error::Pkcs11(RvError::PinIncorrect | RvError::PinLenRange | RvError::PinInvalid, _) => {
                Self::Pin(token)
            }
            Error::Pkcs11(RvError::PinLocked, _) => Self::PinLocked(token),
            Error::Pkcs11(
                RvError::TokenNotPresent
                | RvError::DeviceRemoved
                | RvError::SlotIdInvalid
                | RvError::SessionHandleInvalid,
                _,
            ) => Self::Removed(token),
            error => Self::Other { token, error },
        }
    }
}

impl From<TokenError> for KeyError {
    fn from(error: TokenError) -> Self {
        let cause = match &error {
            TokenError::NoModule
            | TokenError::Relative(_)
            | TokenError::Tokens { .. }
            | TokenError::Ambiguous { .. }
            | TokenError::Unusable(_) => Cause::Usage,
            TokenError::Absent(_)
            | TokenError::NoKey { .. }
            | TokenError::Removed(_)
            | TokenError::Gone { .. } => Cause::NotFound,
            TokenError::Pin(_) | TokenError::PinLocked(_) => Cause::Denied,
            TokenError::Module { .. } | TokenError::Other { .. } => Cause::Failed,
        };
        Self::new(cause, &error)
    }
}
