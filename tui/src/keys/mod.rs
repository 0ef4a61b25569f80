//! The user's own keys: encrypted files, and passphrases asked for without echo. Secrets are wiped when
//! they are dropped and never shown, logged or taken from arguments or the environment.

pub(crate) mod file;
pub(crate) mod passphrase;

use quorate_common::stamp::ApiKeyCurve;

/// The curve as named on the command line and in key files.
pub(crate) const fn curve_name(curve: ApiKeyCurve) -> &'static str {
    match curve {
        ApiKeyCurve::P256 => "p256",
        ApiKeyCurve::Secp256k1 => "secp256k1",
        ApiKeyCurve::Ed25519 => "ed25519",
    }
}
