//! What the stamps of API keys and of passkeys have in common.

use base64ct::{Base64Unpadded, Base64UrlUnpadded, Encoding};

/// Maximum length of a stamp header, of passkeys as well. The HTTP listener accepts no longer request head
/// either.
pub const LIMIT_BYTES: usize = 16 * 1024;

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

/// Error returned for a text that is not a public key of its curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a public key of its curve: expected 66 hex digits (compressed), or 64 for Ed25519")]
pub struct InvalidPublicKey;
