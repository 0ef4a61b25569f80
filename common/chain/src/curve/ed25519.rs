//! Ed25519: `ed25519-dalek` signs, AWS-LC checks.
//!
//! Signs the message itself; there is no pre-hashed form here.

use aws_lc_rs::signature::{ED25519, ParsedPublicKey};
use ed25519_dalek::{Signer, SigningKey, VerifyingKey};
use zeroize::Zeroizing;

use super::{InvalidKey, InvalidPublicKey, PublicKey, Signature, SigningFault};

#[derive(Clone)]
pub(super) struct Key {
    signer: SigningKey,
    checker: ParsedPublicKey,
    public: PublicKey,
}

impl Key {
    pub(super) fn from_bytes(bytes: &[u8; 32]) -> Result<Self, InvalidKey> {
        let signer = SigningKey::from_bytes(bytes);
        let public = signer.verifying_key().to_bytes();
        let checker = ParsedPublicKey::new(&ED25519, public).map_err(|_| InvalidKey)?;
        Ok(Self { signer, checker, public: PublicKey::ed25519(public) })
    }

    pub(super) fn to_bytes(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.signer.to_bytes())
    }

    pub(super) fn public(&self) -> &PublicKey {
        &self.public
    }

    /// Signs a message (RFC 8032, section 5.1.6).
    pub(super) fn sign(&self, message: &[u8]) -> Result<Signature, SigningFault> {
        let bytes = self.signer.sign(message).to_bytes();
        self.checker.verify_sig(message, &bytes).map_err(|_| SigningFault::Disputed)?;
        Ok(Signature::from_halves(&bytes, 0))
    }
}

/// Reads the encoding of a point; the bytes are kept as given.
pub(super) fn read_point(bytes: &[u8]) -> Result<[u8; 32], InvalidPublicKey> {
    let bytes: [u8; 32] = bytes.try_into().map_err(|_| InvalidPublicKey)?;
    VerifyingKey::from_bytes(&bytes).map_err(|_| InvalidPublicKey)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, reason = "tests")]

    use super::{Key, SigningFault};

    fn key(fill: u8) -> Key {
        Key::from_bytes(&[fill; 32]).unwrap_or_else(|_| panic!("no key"))
    }

    /// Stands for a fault in the computation: signer and checker no longer agree.
    #[test]
    fn a_disputed_signature_is_withheld() {
        let mut torn = key(1);
        torn.checker = key(2).checker;
        assert_eq!(torn.sign(&[3; 32]), Err(SigningFault::Disputed));
        assert!(key(1).sign(&[3; 32]).is_ok());
    }
}
