//! The user's own keys: encrypted files, and passphrase input without echo. Secrets are wiped on drop. They
//! are never shown or logged, and never read from arguments or the environment.

pub(crate) mod file;
pub(crate) mod passphrase;

use quorate_common::stamp::ApiKeyCurve;

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
