//! Passkeys: registrations of authenticators, and stamps created with them (W3C Web Authentication, Level 2).
//!
//! The module keeps no state between requests: the challenge of a stamp is derived from the request body. It
//! does not decide which origins and relying parties are allowed; it returns the signed values to the caller.
//! Attestation statements about the manufacturer of an authenticator are parsed but not trusted.

use base64ct::{Base64UrlUnpadded, Encoding};
use sha2::{Digest, Sha256};

use crate::stamp_header::base64;

mod assertion;
mod attestation;
mod authenticator_data;
mod cbor;
mod client;
mod client_data;
mod public_key;
mod statement;

pub use assertion::{Assertion, AssertionError, VerifiedAssertion};
pub use attestation::{Attestation, AttestationError, NewCredential};
pub use client::{assertion_client_data, base64url, credential_id, from_base64url, registration_client_data};
pub use public_key::PasskeyKey;

/// Maximum length of client data. Browsers write about two hundred bytes and an origin.
pub const CLIENT_DATA_LIMIT_BYTES: usize = 8 * 1024;
/// Maximum length of an attestation object. The longest statements hold a certificate chain.
pub const ATTESTATION_LIMIT_BYTES: usize = 64 * 1024;
/// Maximum length of a credential id (Web Authentication §4, Credential ID).
pub const CREDENTIAL_ID_LIMIT_BYTES: usize = 1023;

/// Returns the challenge of an assertion over this body: base64url of the 64 lowercase hex digits of its
/// SHA-256 digest, 86 characters.
pub fn challenge_of(body: &[u8]) -> String {
    encoded(digits_of(body).as_bytes())
}

/// Returns the 64 hex digits whose ASCII bytes are the challenge.
fn digits_of(body: &[u8]) -> String {
    const_hex::encode(Sha256::digest(body))
}

/// Encodes bytes as this module always writes them: base64url without padding.
fn encoded(bytes: &[u8]) -> String {
    Base64UrlUnpadded::encode_string(bytes)
}

/// Decodes base64 in either alphabet, padded or not. A text that would decode to more than `limit` bytes is
/// rejected before decoding.
fn decoded(text: &str, limit: usize) -> Option<Vec<u8>> {
    let longest = limit.div_ceil(3).saturating_mul(4);
    if text.len() > longest {
        return None;
    }
    base64(text).filter(|bytes| bytes.len() <= limit)
}

#[cfg(test)]
mod tests;
