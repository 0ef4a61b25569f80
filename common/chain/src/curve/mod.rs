//! Keys and signatures of three curves behind one interface.
//!
//! Each curve has its own module, which signs with one library and verifies with an independent one. This
//! module never hashes a message: the caller passes the digest (ECDSA) or the bytes (Ed25519). A signature
//! that the second library rejects is never returned.

mod ed25519;
mod p256;
mod point;
mod public;
mod secp256k1;
mod signature;

pub use point::InvalidPublicKey;
pub use public::PublicKey;
pub use signature::{Message, Scheme, Signature, SigningError};
use zeroize::Zeroizing;

use self::public::Inner;

use crate::wire_name::wire_name;

/// Maximum number of candidates that [`SecretKey::generate`] draws. A candidate is invalid with a probability
/// below 2^-31, so that running out of candidates means that the source of randomness is broken.
const GENERATION_ATTEMPTS: usize = 8;

wire_name! {
    /// Elliptic curve of a key.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Curve: "invalid curve" {
        /// secp256k1 (SEC 2, section 2.4.1), with ECDSA.
        Secp256k1 = "CURVE_SECP256K1",
        /// Ed25519 (RFC 8032, section 5.1).
        Ed25519 = "CURVE_ED25519",
        /// P-256, also called secp256r1 (FIPS 186-4, D.1.2.3), with ECDSA.
        P256 = "CURVE_P256",
    }
}

/// A parsed secret key, ready for signing.
///
/// It has no text form and is wiped when dropped. Signing costs one signature and one verification; nothing
/// is parsed or derived again. The secret is stored inline, not on the heap, so that the owner of the value
/// controls the memory that holds it.
#[derive(Clone)]
pub struct SecretKey {
    key: Key,
    public: PublicKey,
}

#[derive(Clone)]
enum Key {
    Secp256k1(secp256k1::Key),
    Ed25519(ed25519::Key),
    P256(p256::Key),
}

impl SecretKey {
    /// Parses a key: a big-endian scalar in 1..n for the ECDSA curves, the 32-byte private key of RFC 8032
    /// section 5.1.5 for Ed25519.
    ///
    /// # Errors
    /// [`InvalidKey`] if an ECDSA scalar is zero or not below the group order.
    pub fn from_bytes(curve: Curve, bytes: &[u8; 32]) -> Result<Self, InvalidKey> {
        let (key, inner) = match curve {
            Curve::Secp256k1 => {
                let (key, point) = secp256k1::Key::from_bytes(bytes)?;
                (Key::Secp256k1(key), Inner::Secp256k1(point))
            }
            Curve::Ed25519 => {
                let (key, point) = ed25519::Key::from_bytes(bytes)?;
                (Key::Ed25519(key), Inner::Ed25519(point))
            }
            Curve::P256 => {
                let (key, point) = p256::Key::from_bytes(bytes)?;
                (Key::P256(key), Inner::P256(point))
            }
        };
        Ok(Self { key, public: PublicKey(inner) })
    }

    /// Generates a key. Draws 32 bytes at a time from `fill` until they are a valid key.
    ///
    /// # Errors
    /// [`InvalidKey`] if no candidate was valid, which only a broken `fill` causes.
    pub fn generate(curve: Curve, fill: &mut dyn FnMut(&mut [u8])) -> Result<Self, InvalidKey> {
        for _ in 0..GENERATION_ATTEMPTS {
            let mut candidate = Zeroizing::new([0; 32]);
            fill(candidate.as_mut_slice());
            if let Ok(key) = Self::from_bytes(curve, &candidate) {
                return Ok(key);
            }
        }
        Err(InvalidKey)
    }

    /// Returns the key in the format of [`SecretKey::from_bytes`].
    pub fn to_bytes(&self) -> Zeroizing<[u8; 32]> {
        match &self.key {
            Key::Secp256k1(key) => key.to_bytes(),
            Key::Ed25519(key) => key.to_bytes(),
            Key::P256(key) => key.to_bytes(),
        }
    }

    /// Returns the curve of the key.
    pub fn curve(&self) -> Curve {
        self.public.curve()
    }

    /// Returns the public key, which was computed when this key was created.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// Signs a message, and verifies the signature with an independent implementation before it is returned.
    ///
    /// Nonces are deterministic (RFC 6979 with SHA-256 for ECDSA, RFC 8032 for Ed25519, BIP-340 without
    /// randomness). secp256k1 signatures have s ≤ n/2; P-256 signatures are not normalized.
    ///
    /// # Errors
    /// [`SigningError::UnsupportedMessage`] for a digest with Ed25519 or bytes with ECDSA,
    /// [`SigningError::VerificationFailed`] if the second implementation rejects the signature.
    pub fn sign(&self, message: &Message) -> Result<Signature, SigningError> {
        match (&self.key, message) {
            (Key::Secp256k1(key), Message::Digest(digest)) => key.sign(digest),
            (Key::Secp256k1(key), Message::Schnorr(digest)) => key.sign_schnorr(digest, false),
            (Key::Secp256k1(key), Message::Taproot(digest)) => key.sign_schnorr(digest, true),
            (Key::P256(key), Message::Digest(digest)) => key.sign(digest),
            (Key::Ed25519(key), Message::Bytes(bytes)) => key.sign(bytes),
            _ => Err(SigningError::UnsupportedMessage),
        }
    }
}

/// Error returned for bytes that are not a secret key of the curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid private key")]
pub struct InvalidKey;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

    use aws_lc_rs::signature::{
        ECDSA_P256_SHA256_FIXED, ECDSA_P256K1_SHA256_FIXED, ED25519, UnparsedPublicKey, VerificationAlgorithm,
    };
    use k256::ecdsa::{RecoveryId, VerifyingKey};
    use proptest::prelude::*;
    use serde::Deserialize;
    use sha2::{Digest, Sha256};

    use super::{Curve, InvalidKey, Message, Scheme, SecretKey, Signature, SigningError};
    use crate::derive::{Path, derive};
    use crate::mnemonic::Mnemonic;
    use crate::vectors::{bytes, rows, secret};

    #[derive(Deserialize)]
    struct EcdsaRow {
        case: String,
        curve: Curve,
        private: String,
        digest: String,
        r: String,
        s: String,
        v: String,
    }

    #[test]
    fn ecdsa_vectors() {
        let file = include_str!("../../../../assets/vectors/chain/ecdsa.json");
        for row in rows::<EcdsaRow>(file) {
            let key = secret(row.curve, &row.private);
            let signature = key.sign(&Message::Digest(bytes(&row.digest))).unwrap();
            let parts = (signature.r_hex(), signature.s_hex(), signature.v_hex());
            assert_eq!(parts, (row.r, row.s, row.v), "{} {}", row.curve, row.case);
        }
    }

    #[derive(Deserialize)]
    struct Ed25519Row {
        case: String,
        private: String,
        public: String,
        message: String,
        r: String,
        s: String,
    }

    #[test]
    fn ed25519_vectors() {
        let file = include_str!("../../../../assets/vectors/chain/ed25519.json");
        for row in rows::<Ed25519Row>(file) {
            let key = secret(Curve::Ed25519, &row.private);
            assert_eq!(key.public().compressed_hex(), row.public, "{}", row.case);
            let message = const_hex::decode(&row.message).unwrap();
            let signature = key.sign(&Message::Bytes(message)).unwrap();
            let parts = (signature.r_hex(), signature.s_hex(), signature.v_hex());
            assert_eq!(parts, (row.r, row.s, "00".to_owned()), "{}", row.case);
        }
    }

    #[derive(Deserialize)]
    struct SchnorrRow {
        case: String,
        private: Option<String>,
        path: Option<Path>,
        #[serde(default)]
        taproot: bool,
        digest: String,
        r: String,
        s: String,
    }

    #[test]
    fn schnorr_vectors() {
        let phrase = "abandon ".repeat(11) + "about";
        let seed = Mnemonic::parse(&phrase).unwrap_or_else(|_| panic!()).seed("");
        let file = include_str!("../../../../assets/vectors/chain/schnorr.json");
        for row in rows::<SchnorrRow>(file) {
            let key = match (&row.private, &row.path) {
                (Some(private), _) => secret(Curve::Secp256k1, private),
                (None, path) => {
                    derive(Curve::Secp256k1, &seed, path.as_ref().unwrap()).unwrap_or_else(|_| panic!())
                }
            };
            let scheme = if row.taproot { Scheme::Taproot } else { Scheme::Schnorr };
            let message = Message::Digest(bytes(&row.digest)).under(scheme);
            let signature = key.sign(&message).unwrap();
            let parts = (signature.r_hex(), signature.s_hex(), signature.v_hex());
            assert_eq!(parts, (row.r, row.s, "00".to_owned()), "{}", row.case);
        }
    }

    #[test]
    fn rejects_messages_for_other_curves() {
        let unsupported = Some(SigningError::UnsupportedMessage);
        for curve in [Curve::P256, Curve::Ed25519] {
            let key = secret(curve, &format!("{:064x}", 1));
            assert_eq!(key.sign(&Message::Schnorr([0; 32])).err(), unsupported);
            assert_eq!(key.sign(&Message::Taproot([0; 32])).err(), unsupported);
        }
        let one = format!("{:064x}", 1);
        for curve in [Curve::Secp256k1, Curve::P256] {
            let key = secret(curve, &one);
            assert_eq!(key.sign(&Message::Bytes(vec![0; 32])).err(), unsupported);
        }
        let key = secret(Curve::Ed25519, &one);
        assert_eq!(key.sign(&Message::Digest([0; 32])).err(), unsupported);
    }

    /// Group orders: SEC 2 section 2.4.1, FIPS 186-4 D.1.2.3.
    #[test]
    fn rejects_scalars_outside_the_group_order() {
        const SECP256K1: &str = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";
        const P256: &str = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551";
        let zero = "00".repeat(32);
        let most = "ff".repeat(32);
        for (curve, order) in [(Curve::Secp256k1, SECP256K1), (Curve::P256, P256)] {
            for invalid in [&zero, &most, order] {
                let key = SecretKey::from_bytes(curve, &bytes(invalid));
                assert_eq!(key.err(), Some(InvalidKey), "{curve} {invalid}");
            }
            let mut below: [u8; 32] = bytes(order);
            *below.last_mut().unwrap() -= 1;
            let key = SecretKey::from_bytes(curve, &below).unwrap_or_else(|_| panic!());
            assert_eq!(*key.to_bytes(), below);
            assert_eq!(key.curve(), curve);
        }
        for any in [&zero, &most] {
            assert!(SecretKey::from_bytes(Curve::Ed25519, &bytes(any)).is_ok());
        }
    }

    #[test]
    fn generation_retries_a_limited_number_of_times() {
        for curve in [Curve::Secp256k1, Curve::P256] {
            let mut drawn = 0;
            let key = SecretKey::generate(curve, &mut |bytes| {
                drawn += 1;
                bytes.fill(if drawn < 3 { 0xff } else { 0x11 });
            });
            assert_eq!(*key.unwrap_or_else(|_| panic!()).to_bytes(), [0x11; 32]);
            let mut drawn = 0;
            let broken = SecretKey::generate(curve, &mut |bytes| {
                drawn += 1;
                bytes.fill(0);
            });
            assert_eq!(broken.err(), Some(InvalidKey));
            assert_eq!(drawn, super::GENERATION_ATTEMPTS);
        }
    }

    #[test]
    fn keys_and_signatures_are_send_and_sync() {
        fn check<T: Send + Sync>() {}
        check::<SecretKey>();
        check::<Signature>();
    }

    /// Verifies with AWS-LC and the encoded public key, as an independent verifier does.
    fn verify(key: &SecretKey, message: &[u8], signature: &Signature) -> bool {
        let (algorithm, public): (&'static dyn VerificationAlgorithm, &[u8]) = match key.curve() {
            Curve::Secp256k1 => (&ECDSA_P256K1_SHA256_FIXED, key.public().uncompressed().unwrap()),
            Curve::P256 => (&ECDSA_P256_SHA256_FIXED, key.public().uncompressed().unwrap()),
            Curve::Ed25519 => (&ED25519, key.public().compressed()),
        };
        let signature = [signature.r, signature.s].concat();
        UnparsedPublicKey::new(algorithm, public).verify(message, &signature).is_ok()
    }

    fn key(curve: Curve, candidate: [u8; 32]) -> Option<SecretKey> {
        SecretKey::from_bytes(curve, &candidate).ok()
    }

    proptest! {
        #[test]
        fn independent_verifier_accepts_ecdsa(
            candidate in any::<[u8; 32]>(),
            message in any::<Vec<u8>>(),
        ) {
            let digest = Message::Digest(Sha256::digest(&message).into());
            for curve in [Curve::Secp256k1, Curve::P256] {
                let Some(key) = key(curve, candidate) else { continue };
                let signature = key.sign(&digest).unwrap();
                prop_assert!(verify(&key, &message, &signature));
                prop_assert_eq!(key.sign(&digest), Ok(signature));
            }
        }

        #[test]
        fn independent_verifier_accepts_ed25519(
            candidate in any::<[u8; 32]>(),
            message in any::<Vec<u8>>(),
        ) {
            let key = key(Curve::Ed25519, candidate).unwrap();
            let signature = key.sign(&Message::Bytes(message.clone())).unwrap();
            prop_assert!(verify(&key, &message, &signature));
        }

        #[test]
        fn recovery_id_recovers_the_key(
            candidate in any::<[u8; 32]>(),
            digest in any::<[u8; 32]>(),
        ) {
            let Some(key) = key(Curve::Secp256k1, candidate) else { return Ok(()) };
            let signature = key.sign(&Message::Digest(digest)).unwrap();
            let parts = k256::ecdsa::Signature::from_scalars(signature.r, signature.s).unwrap();
            prop_assert_eq!(parts, parts.normalize_s());
            let id = RecoveryId::from_byte(signature.v).unwrap();
            let recovered = VerifyingKey::recover_from_prehash(&digest, &parts, id).unwrap();
            let recovered = recovered.to_sec1_point(true);
            prop_assert_eq!(recovered.as_bytes(), key.public().compressed());
        }
    }
}
