//! secp256k1 with ECDSA and with BIP-340 signatures: signs with `k256` and verifies each signature with
//! libsecp256k1.
//!
//! ECDSA signatures always have s ≤ n/2.

use ::secp256k1::{Keypair, SECP256K1, Scalar, XOnlyPublicKey};
use k256::ecdsa::signature::hazmat::PrehashSigner;
use k256::ecdsa::{RecoveryId, SigningKey, VerifyingKey};
use k256::schnorr;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::point::{InvalidPublicKey, Point};
use super::{InvalidKey, Signature, SigningError};

#[derive(Clone)]
pub(super) struct Key {
    signer: SigningKey,
    verifier: ::secp256k1::PublicKey,
}

impl Key {
    pub(super) fn from_bytes(bytes: &[u8; 32]) -> Result<(Self, Point), InvalidKey> {
        let signer = SigningKey::from_slice(bytes).map_err(|_| InvalidKey)?;
        let point = point(signer.verifying_key()).ok_or(InvalidKey)?;
        let verifier = ::secp256k1::PublicKey::from_slice(&point.uncompressed).map_err(|_| InvalidKey)?;
        Ok((Self { signer, verifier }, point))
    }

    pub(super) fn to_bytes(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.signer.to_bytes().into())
    }

    /// Signs a digest (BIP-340) without additional randomness. For a Taproot output, the tweaked key signs.
    pub(super) fn sign_schnorr(
        &self,
        digest: &[u8; 32],
        is_taproot: bool,
    ) -> Result<Signature, SigningError> {
        let secret = self.to_bytes();
        let error = |_| SigningError::VerificationFailed;
        let mut pair = Keypair::from_seckey_slice(SECP256K1, secret.as_slice()).map_err(error)?;
        if is_taproot {
            let (internal, _) = pair.x_only_public_key();
            let tweak = tweak(&internal).ok_or(SigningError::VerificationFailed)?;
            let tweaked = pair.add_xonly_tweak(SECP256K1, &tweak);
            pair.non_secure_erase();
            pair = tweaked.map_err(error)?;
        }
        let (verifier, _) = pair.x_only_public_key();
        let secret = Zeroizing::new(pair.secret_bytes());
        pair.non_secure_erase();
        let signer = schnorr::SigningKey::from_slice(secret.as_slice())
            .map_err(|_| SigningError::VerificationFailed)?;
        let signature = signer.sign_prehash(digest).map_err(|_| SigningError::VerificationFailed)?;
        let bytes = signature.to_bytes();
        verify_schnorr(&verifier, digest, &bytes).map_err(error)?;
        Ok(Signature::from_halves(&bytes, 0))
    }

    /// Signs a digest with a deterministic nonce (RFC 6979). `k256` normalizes s to at most n/2 and adjusts
    /// the recovery id.
    pub(super) fn sign(&self, digest: &[u8; 32]) -> Result<Signature, SigningError> {
        let (signature, recovery) = self.signer.sign_prehash_recoverable(digest);
        let bytes: [u8; 64] = signature.to_bytes().into();
        ::secp256k1::ecdsa::Signature::from_compact(&bytes)
            .and_then(|signature| {
                let message = ::secp256k1::Message::from_digest(*digest);
                signature.verify(&message, &self.verifier)
            })
            .map_err(|_| SigningError::VerificationFailed)?;
        Ok(Signature::from_halves(&bytes, recovery.to_byte()))
    }
}

/// Verifies a signature with libsecp256k1 (BIP-340, "Verification").
fn verify_schnorr(
    key: &XOnlyPublicKey,
    digest: &[u8; 32],
    signature: &[u8; 64],
) -> Result<(), ::secp256k1::Error> {
    ::secp256k1::schnorr::Signature::from_slice(signature)?
        .verify(&::secp256k1::Message::from_digest(*digest), key)
}

/// Returns the tweak of a key for a Taproot output without a script tree (BIP-341).
fn tweak(internal: &XOnlyPublicKey) -> Option<Scalar> {
    let tag = Sha256::digest(b"TapTweak");
    let hash = Sha256::new().chain_update(tag).chain_update(tag).chain_update(internal.serialize());
    Scalar::from_be_bytes(hash.finalize().into()).ok()
}

/// Returns the x coordinate of the tweaked key.
pub(super) fn taproot_output(point: &Point) -> Option<[u8; 32]> {
    let key = ::secp256k1::PublicKey::from_slice(&point.compressed).ok()?;
    let (internal, _) = key.x_only_public_key();
    let (output, _) = internal.add_tweak(::secp256k1::SECP256K1, &tweak(&internal)?).ok()?;
    Some(output.serialize())
}

/// Parses a compressed or uncompressed point.
pub(super) fn read_point(bytes: &[u8]) -> Result<Point, InvalidPublicKey> {
    VerifyingKey::from_sec1_bytes(bytes).ok().as_ref().and_then(point).ok_or(InvalidPublicKey)
}

/// Recovers the public key from a signature.
pub(super) fn recover(digest: &[u8; 32], signature: &Signature) -> Option<Point> {
    let parts = ::k256::ecdsa::Signature::from_scalars(signature.r, signature.s).ok()?;
    let recovery = RecoveryId::from_byte(signature.v).filter(|id| !id.is_x_reduced())?;
    let is_low = parts.normalize_s() == parts;
    let key = is_low.then(|| VerifyingKey::recover_from_prehash(digest, &parts, recovery).ok())??;
    point(&key)
}

fn point(key: &VerifyingKey) -> Option<Point> {
    Point::new(key.to_sec1_point(true).as_bytes(), key.to_sec1_point(false).as_bytes())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, reason = "tests")]

    use serde::Deserialize;

    use super::{Key, SigningError, XOnlyPublicKey, verify_schnorr};
    use crate::vectors::{bytes, rows};

    #[derive(Deserialize)]
    struct Row {
        case: String,
        private: Option<String>,
        public: String,
        digest: String,
        signature: String,
        valid: bool,
    }

    /// Verifies published signatures. They cannot be reproduced, because the first four were created with
    /// randomness.
    #[test]
    fn verifier_matches_the_bip340_vectors() {
        for row in rows::<Row>(include_str!("../../../../assets/vectors/chain/bip340.json")) {
            let key = XOnlyPublicKey::from_slice(&bytes::<32>(&row.public));
            let verdict =
                key.and_then(|key| verify_schnorr(&key, &bytes(&row.digest), &bytes(&row.signature)));
            assert_eq!(verdict.is_ok(), row.valid, "{}", row.case);
            if let Some(private) = &row.private {
                let (_, point) = Key::from_bytes(&bytes(private)).unwrap_or_else(|_| panic!("invalid key"));
                assert!(const_hex::encode(point.compressed).ends_with(&row.public), "{}", row.case);
            }
        }
    }

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
