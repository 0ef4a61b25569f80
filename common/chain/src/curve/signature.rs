//! Messages to sign, and signatures as the API returns them.

/// Message that a key signs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// Digest of a message, for the ECDSA curves.
    Digest([u8; 32]),
    /// Complete message, for Ed25519.
    Bytes(Vec<u8>),
    /// Digest of a message, for BIP-340 on secp256k1.
    Schnorr([u8; 32]),
    /// Digest of a message, for BIP-340 with the tweaked key of a Taproot output (BIP-341, BIP-86).
    Taproot([u8; 32]),
}

/// Signature scheme of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// The usual scheme of the curve: ECDSA or Ed25519.
    Default,
    /// Schnorr signatures of BIP-340.
    Schnorr,
    /// BIP-340 with the tweaked key of a Taproot output (BIP-341, BIP-86).
    Taproot,
}

impl Message {
    /// Returns the message for another scheme. Only a digest changes.
    #[must_use]
    pub fn under(self, scheme: Scheme) -> Self {
        match (self, scheme) {
            (Self::Digest(digest), Scheme::Schnorr) => Self::Schnorr(digest),
            (Self::Digest(digest), Scheme::Taproot) => Self::Taproot(digest),
            (message, _) => message,
        }
    }
}

/// A signature in the three parts that the API returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    /// ECDSA: r, big-endian. Ed25519 (RFC 8032, section 5.1.6) and BIP-340: the first half of the signature.
    pub r: [u8; 32],
    /// ECDSA: s, big-endian. Ed25519 and BIP-340: the second half of the signature.
    pub s: [u8; 32],
    /// ECDSA: the recovery id (SEC 1, section 4.1.6), 0 or 1; the values 2 and 3 belong to points
    /// that occur with probability 2^-127. Ed25519 and BIP-340: 0.
    pub v: u8,
}

impl Signature {
    /// Returns `r` as 64 lower-case hexadecimal digits.
    pub fn r_hex(&self) -> String {
        const_hex::encode(self.r)
    }

    /// Returns `s` as 64 lower-case hexadecimal digits.
    pub fn s_hex(&self) -> String {
        const_hex::encode(self.s)
    }

    /// Returns `v` as two hexadecimal digits, `00` or `01`.
    pub fn v_hex(&self) -> String {
        const_hex::encode([self.v])
    }

    /// Splits the 64 bytes r ‖ s.
    pub(super) fn from_halves(bytes: &[u8; 64], v: u8) -> Self {
        let mut r = [0; 32];
        let mut s = [0; 32];
        let (first, second) = bytes.split_at(r.len());
        r.copy_from_slice(first);
        s.copy_from_slice(second);
        Self { r, s, v }
    }
}

/// Error returned if a key cannot sign a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SigningError {
    /// The message is a digest for Ed25519, bytes for ECDSA, or for BIP-340 on another curve than secp256k1.
    #[error("message does not match the curve of the key")]
    UnsupportedMessage,
    /// A second implementation rejected the signature. The signature is not returned, because one from an
    /// incorrect computation can reveal the key.
    #[error("signature rejected by a second implementation")]
    VerificationFailed,
}
