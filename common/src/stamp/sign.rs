//! Creates stamps. Clients such as the console do this; the daemon stamps only for its authentication proxy.

use k256::ecdsa::signature::hazmat::PrehashSigner;
use p256::ecdsa::signature::Signer;
use sha2::{Digest, Sha256};

use super::{ApiKeyCurve, Scheme, Stamp};

/// Error returned for bytes that are not a secret key of the curve. It contains no part of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a secret key of its curve")]
pub struct InvalidSecretKey;

enum Key {
    P256(p256::ecdsa::SigningKey),
    Secp256k1(k256::ecdsa::SigningKey),
    Ed25519(ed25519_dalek::SigningKey),
}

/// A secret key that stamps requests. The key is wiped when the stamper is dropped.
pub struct Stamper {
    key: Key,
    public_key: String,
}

impl Stamper {
    /// Creates a stamper from a 32-byte scalar (big-endian) or, for Ed25519, from a 32-byte seed.
    ///
    /// # Errors
    /// [`InvalidSecretKey`] if the bytes are not a secret key of the curve.
    pub fn new(curve: ApiKeyCurve, secret: &[u8; 32]) -> Result<Self, InvalidSecretKey> {
        let (key, public_key) = match curve {
            ApiKeyCurve::P256 => {
                let key = p256::ecdsa::SigningKey::from_slice(secret).map_err(|_| InvalidSecretKey)?;
                let public = const_hex::encode(key.verifying_key().to_sec1_point(true).as_bytes());
                (Key::P256(key), public)
            }
            ApiKeyCurve::Secp256k1 => {
                let key = k256::ecdsa::SigningKey::from_slice(secret).map_err(|_| InvalidSecretKey)?;
                let public = const_hex::encode(key.verifying_key().to_sec1_point(true).as_bytes());
                (Key::Secp256k1(key), public)
            }
            ApiKeyCurve::Ed25519 => {
                let key = ed25519_dalek::SigningKey::from_bytes(secret);
                let public = const_hex::encode(key.verifying_key().as_bytes());
                (Key::Ed25519(key), public)
            }
        };
        Ok(Self { key, public_key })
    }

    /// Returns the public key in lowercase hex, as it is registered.
    pub fn public_key(&self) -> &str {
        &self.public_key
    }

    /// Returns the curve of the key.
    pub const fn curve(&self) -> ApiKeyCurve {
        match self.key {
            Key::P256(_) => ApiKeyCurve::P256,
            Key::Secp256k1(_) => ApiKeyCurve::Secp256k1,
            Key::Ed25519(_) => ApiKeyCurve::Ed25519,
        }
    }

    /// Stamps a request body, byte for byte.
    ///
    /// # Errors
    /// [`InvalidSecretKey`] if the library fails to sign.
    pub fn stamp(&self, body: &[u8]) -> Result<Stamp, InvalidSecretKey> {
        let (scheme, signature) = match &self.key {
            Key::P256(key) => {
                let signature: p256::ecdsa::Signature = key.try_sign(body).map_err(|_| InvalidSecretKey)?;
                (Scheme::P256, signature.to_der().as_bytes().to_vec())
            }
            Key::Secp256k1(key) => {
                let digest = Sha256::digest(body);
                let signature: k256::ecdsa::Signature =
                    key.sign_prehash(&digest).map_err(|_| InvalidSecretKey)?;
                (Scheme::Secp256k1, signature.to_der().as_bytes().to_vec())
            }
            Key::Ed25519(key) => {
                (Scheme::Ed25519, ed25519_dalek::Signer::sign(key, body).to_bytes().to_vec())
            }
        };
        Ok(Stamp { public_key: self.public_key.clone(), scheme, signature: const_hex::encode(signature) })
    }
}
