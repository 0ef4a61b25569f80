//! Keys that another program or device holds, such as an SSH agent: their public keys as they are registered, and
//! stamps from their signatures.

use super::{ApiKeyCurve, InvalidPublicKey, Scheme, Stamp, StampKey};

/// Error returned for a signature that is not one of the key over the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the signature does not verify under the key")]
pub struct InvalidSignature;

/// The public key of an API key whose secret another program or device holds.
pub struct ExternalKey {
    key: StampKey,
    curve: ApiKeyCurve,
    public_key: String,
}

impl ExternalKey {
    /// Parses a P-256 key from its point (SEC 1 §2.3.4), compressed or not.
    ///
    /// # Errors
    /// [`InvalidPublicKey`] if the bytes are not a point of the curve.
    pub fn p256(point: &[u8]) -> Result<Self, InvalidPublicKey> {
        let key = p256::ecdsa::VerifyingKey::from_sec1_bytes(point).map_err(|_| InvalidPublicKey)?;
        Self::parse(ApiKeyCurve::P256, key.to_sec1_point(true).as_bytes())
    }

    /// Parses an Ed25519 key (RFC 8032 §5.1.2).
    ///
    /// # Errors
    /// [`InvalidPublicKey`] if the bytes are not a key, or one of small order.
    pub fn ed25519(bytes: &[u8]) -> Result<Self, InvalidPublicKey> {
        Self::parse(ApiKeyCurve::Ed25519, bytes)
    }

    fn parse(curve: ApiKeyCurve, bytes: &[u8]) -> Result<Self, InvalidPublicKey> {
        let public_key = const_hex::encode(bytes);
        Ok(Self { key: StampKey::parse(curve, &public_key)?, curve, public_key })
    }

    /// Returns the public key in lowercase hex, as it is registered.
    pub fn public_key(&self) -> &str {
        &self.public_key
    }

    /// Returns the curve of the key.
    pub const fn curve(&self) -> ApiKeyCurve {
        self.curve
    }

    /// Creates the stamp of a body from its signature: 64 bytes, for ECDSA `r` and `s` in big-endian order. The stamp is
    /// verified first, so that a signature by another key or over other bytes never becomes one.
    ///
    /// # Errors
    /// [`InvalidSignature`] if the signature does not verify.
    pub fn stamp(&self, body: &[u8], signature: &[u8]) -> Result<Stamp, InvalidSignature> {
        let (scheme, signature) = match self.curve {
            ApiKeyCurve::P256 => {
                let raw = p256::ecdsa::Signature::from_slice(signature).map_err(|_| InvalidSignature)?;
                (Scheme::P256, const_hex::encode(raw.to_der().as_bytes()))
            }
            // No constructor creates a key on this curve.
            ApiKeyCurve::Secp256k1 => return Err(InvalidSignature),
            ApiKeyCurve::Ed25519 => (Scheme::Ed25519, const_hex::encode(signature)),
        };
        if !self.key.verify(scheme, body, &signature) {
            return Err(InvalidSignature);
        }
        Ok(Stamp { public_key: self.public_key.clone(), scheme, signature })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    /// The key and a signature of RFC 6979 §A.2.5 (P-256, SHA-256).
    const POINT: &str = "0460fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb67903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299";
    const SAMPLE: &str = "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8";

    /// The first test of RFC 8032 §7.1: an empty message.
    const EDWARDS: &str = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
    const EMPTY: &str = "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b";

    #[test]
    fn published_signatures_become_stamps() {
        let key = ExternalKey::p256(&const_hex::decode(POINT).unwrap()).unwrap();
        let compressed = ExternalKey::p256(&const_hex::decode(key.public_key()).unwrap()).unwrap();
        assert_eq!(key.public_key(), compressed.public_key());
        assert_eq!(key.public_key(), "0360fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6");
        let stamp = key.stamp(b"sample", &const_hex::decode(SAMPLE).unwrap()).unwrap();
        assert!(super::super::verify(&stamp, b"sample"));
        // Both numbers have their highest bit set, so each is 33 bytes long in DER.
        assert!(stamp.signature.starts_with("3046022100efd4"), "{}", stamp.signature);

        let key = ExternalKey::ed25519(&const_hex::decode(EDWARDS).unwrap()).unwrap();
        let stamp = key.stamp(b"", &const_hex::decode(EMPTY).unwrap()).unwrap();
        assert!(super::super::verify(&stamp, b""));
    }

    #[test]
    fn other_signatures_never_become_stamps() {
        let key = ExternalKey::p256(&const_hex::decode(POINT).unwrap()).unwrap();
        let signature = const_hex::decode(SAMPLE).unwrap();
        let rejects = |body: &[u8], signature: &[u8]| {
            assert!(key.stamp(body, signature).is_err(), "{}", const_hex::encode(signature));
        };
        rejects(b"sample.", &signature);
        rejects(b"sample", &const_hex::decode(EMPTY).unwrap());
        rejects(b"sample", &[0; 64]);
        for length in [0, 1, 63] {
            rejects(b"sample", signature.get(..length).unwrap());
        }
        rejects(b"sample", &[signature.as_slice(), &[0]].concat());

        let key = ExternalKey::ed25519(&const_hex::decode(EDWARDS).unwrap()).unwrap();
        assert!(key.stamp(b"", &signature).is_err());
        assert!(ExternalKey::ed25519(&[0; 32]).is_err(), "a key of small order");
        assert!(ExternalKey::p256(&[0]).is_err(), "the point at infinity");
    }
}
