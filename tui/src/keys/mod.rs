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

/// A public key as it is compared: hex in lower case, the base64url of a passkey as it stands.
pub(crate) fn canonical(public_key: &str) -> String {
    if public_key.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        public_key.to_ascii_lowercase()
    } else {
        public_key.to_owned()
    }
}
