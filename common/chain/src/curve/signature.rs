//! What is signed, and what a signature looks like on the wire.
//!
//! Holds no key and computes nothing.

/// What a key signs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// The digest of a message, for the ECDSA curves.
    Digest([u8; 32]),
    /// The message itself, for Ed25519.
    Bytes(Vec<u8>),
    /// The digest of a message, for secp256k1 under BIP-340.
    Schnorr([u8; 32]),
    /// The same with the key of a Taproot output (BIP-341, BIP-86).
    Taproot([u8; 32]),
}

/// How a key signs digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// As its curve is used everywhere: ECDSA or Ed25519.
    Usual,
    /// BIP-340.
    Schnorr,
    /// BIP-340 with the key of a Taproot output (BIP-341, BIP-86).
    Taproot,
}

impl Message {
    /// This digest signed under another scheme. Whatever is no digest stays as it is.
    #[must_use]
    pub fn under(self, scheme: Scheme) -> Self {
        match (self, scheme) {
            (Self::Digest(digest), Scheme::Schnorr) => Self::Schnorr(digest),
            (Self::Digest(digest), Scheme::Taproot) => Self::Taproot(digest),
            (message, _) => message,
        }
    }
}

/// A signature in the three parts the API returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    /// ECDSA: r, big-endian. Ed25519: the first half of the signature (RFC 8032, section 5.1.6). BIP-340: likewise.
    pub r: [u8; 32],
    /// ECDSA: s, big-endian. Ed25519: the second half of the signature.
    pub s: [u8; 32],
    /// ECDSA: the recovery id (SEC 1, section 4.1.6), 0 or 1; the values 2 and 3 belong to points
    /// that occur with probability 2^-127. Ed25519 and BIP-340: 0.
    pub v: u8,
}

impl Signature {
    /// `r` as 64 lower-case hexadecimal digits.
    pub fn r_hex(&self) -> String {
        const_hex::encode(self.r)
    }

    /// `s` as 64 lower-case hexadecimal digits.
    pub fn s_hex(&self) -> String {
        const_hex::encode(self.s)
    }

    /// `v` as two hexadecimal digits, `00` or `01`.
    pub fn v_hex(&self) -> String {
        const_hex::encode([self.v])
    }

    /// Takes apart the 64 bytes r ‖ s.
    pub(super) fn from_halves(bytes: &[u8; 64], v: u8) -> Self {
        let mut r = [0; 32];
        let mut s = [0; 32];
        let (first, second) = bytes.split_at(r.len());
        r.copy_from_slice(first);
        s.copy_from_slice(second);
        Self { r, s, v }
    }
}

/// Why there is no signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SigningFault {
    /// A digest for Ed25519, bytes for ECDSA, or BIP-340 on another curve than secp256k1.
    #[error("the message does not fit the curve of the key")]
    UnfitMessage,
    /// The implementation that did not make the signature refused it. The signature is withheld:
    /// one made by a faulty computation can reveal the key.
    #[error("a second implementation refused the signature")]
    Disputed,
}
