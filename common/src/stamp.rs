//! Stamps, which prove who sent a request: parsing, verifying and creating the `X-Stamp` header.
//!
//! A stamp always signs the exact body. P-256 signatures are verified with AWS-LC, because verification is
//! the largest cost of a request. Keys are parsed once and kept.

use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1, ParsedPublicKey};
use base64ct::{Base64UrlUnpadded, Encoding};
use k256::ecdsa::signature::hazmat::PrehashVerifier;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use sha3::Keccak256;

use crate::stamp_header::members;
use crate::webauthn::{Assertion, PasskeyKey};
use crate::wire_enum;

mod attested;
mod external;
mod sign;

pub use attested::{AttestationType, AttestedStamp};
pub use external::{ExternalKey, InvalidSignature};
pub use sign::{InvalidSecretKey, Stamper};

pub use crate::stamp_header::{InvalidPublicKey, LIMIT_BYTES, StampError};

/// Name of the header that carries a stamp of an API key.
pub const HEADER: &str = "X-Stamp";
/// Name of the header that carries a stamp of a passkey.
pub const WEBAUTHN_HEADER: &str = "X-Stamp-Webauthn";

/// Curve of an API key.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
pub enum ApiKeyCurve {
    /// NIST P-256 (FIPS 186-5).
    #[serde(rename = "API_KEY_CURVE_P256")]
    P256,
    /// secp256k1 (SEC 2).
    #[serde(rename = "API_KEY_CURVE_SECP256K1")]
    Secp256k1,
    /// Ed25519 (RFC 8032).
    #[serde(rename = "API_KEY_CURVE_ED25519")]
    Ed25519,
}

wire_enum! {
    /// Signature scheme of a stamp.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Scheme {
        /// ECDSA P-256 over SHA-256 of the body, DER.
        P256 = "SIGNATURE_SCHEME_TK_API_P256",
        /// ECDSA secp256k1 over SHA-256 of the body, DER.
        Secp256k1 = "SIGNATURE_SCHEME_TK_API_SECP256K1",
        /// Ed25519 over the body, raw 64 bytes.
        Ed25519 = "SIGNATURE_SCHEME_TK_API_ED25519",
        /// ECDSA secp256k1 over the body as an Ethereum personal message (ERC-191 version 0x45), DER.
        Secp256k1Eip191 = "SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191",
        /// Assertion of a passkey over the body, as JSON text. It has its own header and never appears in
        /// `X-Stamp`.
        Webauthn = "SIGNATURE_SCHEME_TK_WEBAUTHN",
        /// ECDSA P-256 over SHA-256 of the body, DER, by a key that an ID token attested. It has its own header. Without
        /// the token it proves nothing, so it is never a stamp of a registered key.
        AttestedIdToken = "STAMP_ATTESTED_SCHEME_P256_OIDC",
        /// The same with a verification token.
        AttestedVerificationToken = "STAMP_ATTESTED_SCHEME_P256_VERIFICATION_TOKEN",
    }
}

impl Scheme {
    /// Returns the scheme of API keys or passkeys with this wire identifier.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::P256, Self::Secp256k1, Self::Ed25519, Self::Secp256k1Eip191, Self::Webauthn]
            .into_iter()
            .find(|scheme| scheme.name() == name)
    }

    /// Returns the scheme of attested stamps with this wire identifier.
    pub fn attested_from_name(name: &str) -> Option<Self> {
        [Self::AttestedIdToken, Self::AttestedVerificationToken]
            .into_iter()
            .find(|scheme| scheme.name() == name)
    }

    /// Returns the curve of the API keys that use this scheme, or `None` if it is not one of API keys.
    pub const fn curve(self) -> Option<ApiKeyCurve> {
        match self {
            Self::P256 => Some(ApiKeyCurve::P256),
            Self::Secp256k1 | Self::Secp256k1Eip191 => Some(ApiKeyCurve::Secp256k1),
            Self::Ed25519 => Some(ApiKeyCurve::Ed25519),
            Self::Webauthn | Self::AttestedIdToken | Self::AttestedVerificationToken => None,
        }
    }
}

/// A stamp of an API key or a passkey, as it is stored with the request that it signs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// Public key: lowercase hex for an API key, base64url of the COSE key for a passkey.
    pub public_key: String,
    /// Scheme of the signature.
    pub scheme: Scheme,
    /// Signature as in the header: hex for an API key, the JSON text of the assertion for a passkey.
    pub signature: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Members {
    public_key: String,
    scheme: String,
    signature: String,
}

impl Stamp {
    /// Parses the header value: base64 of a JSON object, in either alphabet, padded or not. The signature is
    /// not verified.
    ///
    /// # Errors
    /// [`StampError::Malformed`] if the header holds no JSON object, [`StampError::Members`] if a member is
    /// invalid.
    pub fn read(header: &str) -> Result<Self, StampError> {
        let members: Members = members(header)?;
        Ok(Self {
            public_key: members.public_key.to_ascii_lowercase(),
            scheme: Scheme::from_name(&members.scheme)
                .filter(|scheme| scheme.curve().is_some())
                .ok_or(StampError::Members)?,
            signature: members.signature,
        })
    }

    /// Returns the name of the header that carries the stamp.
    pub const fn header_name(&self) -> &'static str {
        match self.scheme {
            Scheme::Webauthn => WEBAUTHN_HEADER,
            _ => HEADER,
        }
    }

    /// Returns the header value: base64url of the JSON object, without padding.
    pub fn header(&self) -> String {
        if self.scheme == Scheme::Webauthn {
            return Base64UrlUnpadded::encode_string(self.signature.as_bytes());
        }
        let members = Members {
            public_key: self.public_key.clone(),
            scheme: self.scheme.name().to_owned(),
            signature: self.signature.clone(),
        };
        Base64UrlUnpadded::encode_string(&serde_json::to_vec(&members).unwrap_or_default())
    }
}

/// Returns whether a stored stamp is a valid signature over `body`.
pub fn verify(stamp: &Stamp, body: &[u8]) -> bool {
    let Stamp { public_key, scheme, signature } = stamp;
    if let Some(curve) = scheme.curve() {
        return StampKey::parse(curve, public_key).is_ok_and(|key| key.verify(*scheme, body, signature));
    }
    *scheme == Scheme::Webauthn
        && Assertion::read(signature).is_ok_and(|assertion| {
            PasskeyKey::parse(public_key).is_ok_and(|key| key.verify(&assertion, body).is_ok())
        })
}

/// Returns whether the key of a stored attested stamp signed `body`. Whose key it is, only its token proved, which is not
/// stored.
pub fn verify_attested(stamp: &Stamp, body: &[u8]) -> bool {
    matches!(stamp.scheme, Scheme::AttestedIdToken | Scheme::AttestedVerificationToken)
        && StampKey::parse(ApiKeyCurve::P256, &stamp.public_key)
            .is_ok_and(|key| key.verify(Scheme::P256, body, &stamp.signature))
}

/// Parsed public key of an API key.
pub enum StampKey {
    /// P-256 key, parsed for AWS-LC.
    P256(ParsedPublicKey),
    /// secp256k1 key.
    Secp256k1(k256::ecdsa::VerifyingKey),
    /// Ed25519 key, not of small order.
    Ed25519(ed25519_dalek::VerifyingKey),
}

impl StampKey {
    /// Parses a key from hex: a compressed point (SEC 1, 33 bytes), or 32 bytes for Ed25519.
    ///
    /// # Errors
    /// [`InvalidPublicKey`] if the text is not such a key, if the point is not on the curve, or if an Ed25519
    /// key has small order. Under a key of small order, one signature is valid for every message.
    pub fn parse(curve: ApiKeyCurve, hex: &str) -> Result<Self, InvalidPublicKey> {
        let plain = hex.bytes().all(|byte| byte.is_ascii_hexdigit());
        let bytes = const_hex::decode(hex).ok().filter(|_| plain).ok_or(InvalidPublicKey)?;
        match curve {
            ApiKeyCurve::P256 => {
                compressed(&bytes)?;
                p256::PublicKey::from_sec1_bytes(&bytes).map_err(|_| InvalidPublicKey)?;
                let key =
                    ParsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, &bytes).map_err(|_| InvalidPublicKey)?;
                Ok(Self::P256(key))
            }
            ApiKeyCurve::Secp256k1 => {
                compressed(&bytes)?;
                k256::ecdsa::VerifyingKey::from_sec1_bytes(&bytes)
                    .map(Self::Secp256k1)
                    .map_err(|_| InvalidPublicKey)
            }
            ApiKeyCurve::Ed25519 => {
                let bytes: [u8; 32] = bytes.try_into().map_err(|_| InvalidPublicKey)?;
                let key = ed25519_dalek::VerifyingKey::from_bytes(&bytes).map_err(|_| InvalidPublicKey)?;
                if key.is_weak() { Err(InvalidPublicKey) } else { Ok(Self::Ed25519(key)) }
            }
        }
    }

    /// Returns whether `signature` (hex, as in a stamp) is a signature of this key over `body` under
    /// `scheme`.
    ///
    /// ECDSA signatures with s in the upper half are valid, since the published clients produce them.
    pub fn verify(&self, scheme: Scheme, body: &[u8], signature: &str) -> bool {
        if !signature.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return false;
        }
        let Ok(signature) = const_hex::decode(signature) else { return false };
        match (self, scheme) {
            (Self::P256(key), Scheme::P256) => key.verify_sig(body, &signature).is_ok(),
            (Self::Secp256k1(key), Scheme::Secp256k1) => secp256k1(key, &Sha256::digest(body), &signature),
            (Self::Secp256k1(key), Scheme::Secp256k1Eip191) => {
                secp256k1(key, &personal_message(body), &signature)
            }
            (Self::Ed25519(key), Scheme::Ed25519) => ed25519_dalek::Signature::from_slice(&signature)
                .is_ok_and(|signature| key.verify_strict(body, &signature).is_ok()),
            _ => false,
        }
    }
}

fn compressed(bytes: &[u8]) -> Result<(), InvalidPublicKey> {
    match bytes {
        [2 | 3, rest @ ..] if rest.len() == 32 => Ok(()),
        _ => Err(InvalidPublicKey),
    }
}

fn secp256k1(key: &k256::ecdsa::VerifyingKey, digest: &[u8], der: &[u8]) -> bool {
    k256::ecdsa::Signature::from_der(der)
        .is_ok_and(|signature| key.verify_prehash(digest, &signature.normalize_s()).is_ok())
}

/// Computes Keccak-256 of the body as an Ethereum personal message (ERC-191).
fn personal_message(body: &[u8]) -> [u8; 32] {
    let mut hash = Keccak256::new();
    hash.update(b"\x19Ethereum Signed Message:\n");
    hash.update(body.len().to_string());
    hash.update(body);
    hash.finalize().into()
}

#[cfg(test)]
mod tests;
