//! The user's own keys, wherever they are: one file per kind of source, behind one interface. Secrets are wiped on
//! drop. They are never shown or logged, and never read from arguments or the environment.

mod agent;
mod credentials;
mod encrypted;
mod error;
pub(crate) mod file;
pub(crate) mod lock_request;
pub(crate) mod passphrase;
pub(crate) mod security_key;
mod selector;
mod source;
mod sources;
mod token;

pub(crate) use credentials::CredentialsKey;
pub(crate) use error::{Cause, KeyError};
pub(crate) use selector::Selector;
pub(crate) use source::{Description, KeySource, Secret, sign};
pub(crate) use sources::{Listed, Sources};

use quorate_common::stamp::ApiKeyCurve;

/// How long an unlocked key stays unlocked without a key press, in milliseconds: 5 minutes.
pub(crate) const IDLE_MILLIS: u64 = 5 * 60_000;
/// Time between two ticks after which the process or the machine must have been suspended, in milliseconds.
pub(crate) const SUSPENDED_MILLIS: u64 = 10_000;

/// Returns the curve name used on the command line and in key files.
pub(crate) const fn curve_name(curve: ApiKeyCurve) -> &'static str {
    match curve {
        ApiKeyCurve::P256 => "p256",
        ApiKeyCurve::Secp256k1 => "secp256k1",
        ApiKeyCurve::Ed25519 => "ed25519",
    }
}

/// Returns a public key in the form used for comparison: hex in lower case, the base64url of a passkey
/// unchanged.
pub(crate) fn canonical(public_key: &str) -> String {
    if public_key.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        public_key.to_ascii_lowercase()
    } else {
        public_key.to_owned()
    }
}
