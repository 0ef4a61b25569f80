//! What the stamps of API keys and of passkeys have in common.

use base64ct::{Base64Unpadded, Base64UrlUnpadded, Encoding};
use serde::de::DeserializeOwned;

use crate::json::Document;

/// Maximum length of a stamp header, of passkeys as well. The HTTP listener accepts no longer request head
/// either.
pub const LIMIT_BYTES: usize = 16 * 1024;

/// Reads a header value: base64 of a JSON object, in either alphabet, padded or not.
///
/// # Errors
/// [`StampError::Malformed`] if it holds no JSON object, [`StampError::Members`] if a member is missing or has a
/// wrong type.
pub(crate) fn members<T: DeserializeOwned>(header: &str) -> Result<T, StampError> {
    let json = Some(header).filter(|text| text.len() <= LIMIT_BYTES).and_then(base64);
    let document = json.and_then(|json| Document::read(&json).ok()).filter(Document::is_object);
    document.ok_or(StampError::Malformed)?.typed().map_err(|_| StampError::Members)
}

/// Decodes base64 in either alphabet, padded or not. Within an alphabet it is strict, so that each byte
/// string has few encodings.
pub(crate) fn base64(text: &str) -> Option<Vec<u8>> {
    let bare = text.trim_end_matches('=');
    let padding = text.len().saturating_sub(bare.len());
    if padding > 2 || (padding > 0 && !text.len().is_multiple_of(4)) {
        return None;
    }
    if bare.contains(['+', '/']) {
        Base64Unpadded::decode_vec(bare).ok()
    } else {
        Base64UrlUnpadded::decode_vec(bare).ok()
    }
}

/// Error returned for a header that is not a stamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StampError {
    /// The header is too long, not base64, or not a JSON object.
    #[error("malformed activity stamp")]
    Malformed,
    /// A member is missing or has a wrong type, or the scheme is unknown.
    #[error("could not extract api key stamp")]
    Members,
}

/// Error returned for a text that is not a public key of its curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a public key of its curve: expected 66 hex digits (compressed), or 64 for Ed25519")]
pub struct InvalidPublicKey;
