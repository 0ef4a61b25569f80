//! Ed25519: signs with `ed25519-dalek` and verifies each signature with AWS-LC.
//!
//! The message itself is signed; the pre-hashed variant is not supported.

use aws_lc_rs::signature::{ED25519, ParsedPublicKey};
use ed25519_dalek::{Signer, SigningKey, VerifyingKey};
use zeroize::Zeroizing;

use super::point::InvalidPublicKey;
use super::{InvalidKey, Signature, SigningError};

#[derive(Clone)]
pub(super) struct Key {
    signer: SigningKey,
    verifier: ParsedPublicKey,
}

impl Key {
    pub(super) fn from_bytes(bytes: &[u8; 32]) -> Result<(Self, [u8; 32]), InvalidKey> {
        let signer = SigningKey::from_bytes(bytes);
        let public = signer.verifying_key().to_bytes();
        let verifier = ParsedPublicKey::new(&ED25519, public).map_err(|_| InvalidKey)?;
        Ok((Self { signer, verifier }, public))
    }

    pub(super) fn to_bytes(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.signer.to_bytes())
    }

    /// Signs a message (RFC 8032, section 5.1.6).
    pub(super) fn sign(&self, message: &[u8]) -> Result<Signature, SigningError> {
        let bytes = self.signer.sign(message).to_bytes();
        self.verifier.verify_sig(message, &bytes).map_err(|_| SigningError::VerificationFailed)?;
        Ok(Signature::from_halves(&bytes, 0))
    }
}

/// Parses an encoded point. The bytes are returned unchanged.
pub(super) fn read_point(bytes: &[u8]) -> Result<[u8; 32], InvalidPublicKey> {
    let bytes: [u8; 32] = bytes.try_into().map_err(|_| InvalidPublicKey)?;
    VerifyingKey::from_bytes(&bytes).map_err(|_| InvalidPublicKey)?;
    Ok(bytes)
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
