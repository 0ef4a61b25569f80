//! Passkeys: what an authenticator answers to a registration, and stamps that are made with it (W3C Web
//! Authentication, Level 2).
//!
//! There is no ceremony and so no state: the challenge of a stamp is derived from the body it stands beside.
//! Which origins and relying parties are welcome is never judged here; the caller is told what was signed.
//! Who made an authenticator is never believed: statements about it are read and not trusted.

use base64ct::{Base64UrlUnpadded, Encoding};
use sha2::{Digest, Sha256};

use crate::stamp;

mod assertion;
mod attestation;
mod authenticator_data;
mod cbor;
mod client_data;
mod public_key;
mod statement;

pub use assertion::{Assertion, AssertionFlaw, Proven};
pub use attestation::{Attestation, AttestationFlaw, NewCredential};
pub use public_key::PasskeyKey;

/// Longest client data. Browsers write some two hundred bytes and an origin.
pub const CLIENT_DATA_LIMIT_BYTES: usize = 8 * 1024;
/// Longest attestation object. The longest statements hold a chain of certificates.
pub const ATTESTATION_LIMIT_BYTES: usize = 64 * 1024;
/// Longest credential id (Web Authentication §4, Credential ID).
pub const CREDENTIAL_ID_LIMIT_BYTES: usize = 1023;

/// The challenge that an assertion over this body bears: base64url of the 64 lowercase hex digits of its
/// SHA-256, 86 characters.
pub fn challenge_of(body: &[u8]) -> String {
    encoded(digits_of(body).as_bytes())
}

/// The 64 digits whose ASCII bytes are the challenge.
fn digits_of(body: &[u8]) -> String {
    const_hex::encode(Sha256::digest(body))
}

/// The one spelling of bytes in what leaves this room: base64url without padding.
fn encoded(bytes: &[u8]) -> String {
    Base64UrlUnpadded::encode_string(bytes)
}

/// Bytes in either alphabet, padded or not. Texts of more than `limit` bytes are not even decoded.
fn decoded(text: &str, limit: usize) -> Option<Vec<u8>> {
    let longest = limit.div_ceil(3).saturating_mul(4);
    if text.len() > longest {
        return None;
    }
    stamp::base64(text).filter(|bytes| bytes.len() <= limit)
}

#[cfg(test)]
mod tests;
