//! P-256 with ECDSA: signs with `p256` and verifies each signature with AWS-LC.
//!
//! The value s is never normalized: verifiers of this curve accept both halves of its range.

use ::p256::ecdsa::{SigningKey, VerifyingKey};
use aws_lc_rs::digest::{Digest, SHA256};
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, ParsedPublicKey};
use zeroize::Zeroizing;

use super::point::{InvalidPublicKey, Point};
use super::{InvalidKey, Signature, SigningError};

#[derive(Clone)]
pub(super) struct Key {
    signer: SigningKey,
    verifier: ParsedPublicKey,
}

impl Key {
    pub(super) fn from_bytes(bytes: &[u8; 32]) -> Result<(Self, Point), InvalidKey> {
        let signer = SigningKey::from_slice(bytes).map_err(|_| InvalidKey)?;
        let point = point(signer.verifying_key()).ok_or(InvalidKey)?;
        let verifier =
            ParsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point.uncompressed).map_err(|_| InvalidKey)?;
        Ok((Self { signer, verifier }, point))
    }

    pub(super) fn to_bytes(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.signer.to_bytes().into())
    }

    /// Signs a digest with a deterministic nonce (RFC 6979).
    pub(super) fn sign(&self, digest: &[u8; 32]) -> Result<Signature, SigningError> {
        let (signature, recovery) = self.signer.sign_prehash_recoverable(digest);
        let bytes: [u8; 64] = signature.to_bytes().into();
        // The verifier only needs 32 bytes. The hash function that produced them does not matter.
        Digest::import_less_safe(digest, &SHA256)
            .and_then(|digest| self.verifier.verify_digest_sig(&digest, &bytes))
            .map_err(|_| SigningError::VerificationFailed)?;
        Ok(Signature::from_halves(&bytes, recovery.to_byte()))
    }
}

/// Parses a compressed or uncompressed point.
pub(super) fn read_point(bytes: &[u8]) -> Result<Point, InvalidPublicKey> {
    VerifyingKey::from_sec1_bytes(bytes).ok().as_ref().and_then(point).ok_or(InvalidPublicKey)
}

fn point(key: &VerifyingKey) -> Option<Point> {
    Point::new(key.to_sec1_point(true).as_bytes(), key.to_sec1_point(false).as_bytes())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, reason = "tests")]

    use super::{Key, SigningError};

    fn key(fill: u8) -> Key {
        Key::from_bytes(&[fill; 32]).unwrap_or_else(|_| panic!("invalid key")).0
    }

    /// Simulates a computation error: the signer and the verifier use different keys.
    #[test]
    fn unverified_signatures_are_not_returned() {
        let mut mismatched = key(1);
        mismatched.verifier = key(2).verifier;
        assert_eq!(mismatched.sign(&[3; 32]), Err(SigningError::VerificationFailed));
        assert!(key(1).sign(&[3; 32]).is_ok());
    }
}
