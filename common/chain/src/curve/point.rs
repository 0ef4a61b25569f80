//! Encoded points of the ECDSA curves.

/// A point in both encodings of SEC 1 section 2.3.3.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Point {
    /// `02` or `03`, then X.
    pub(super) compressed: [u8; 33],
    /// `04`, then X and Y.
    pub(super) uncompressed: [u8; 65],
}

impl Point {
    /// Copies a point from its encodings.
    pub(super) fn new(compressed: &[u8], uncompressed: &[u8]) -> Option<Self> {
        Some(Self { compressed: compressed.try_into().ok()?, uncompressed: uncompressed.try_into().ok()? })
    }
}

/// Error returned for a text or bytes that are not a public key of the curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid public key")]
pub struct InvalidPublicKey;
