//! Attested stamps: a key that is registered nowhere signs the body, and a token attests whose key it is.

use serde::{Deserialize, Serialize};

use super::{ApiKeyCurve, Scheme, Stamp, StampError, StampKey};
use crate::stamp_header::members;
use crate::wire_enum;

wire_enum! {
    /// What attests the key of a stamp.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    pub enum AttestationType {
        /// An ID token that was requested for the key.
        IdToken = "STAMP_ATTESTED_SCHEME_P256_OIDC",
        /// A verification token that is bound to the key.
        VerificationToken = "STAMP_ATTESTED_SCHEME_P256_VERIFICATION_TOKEN",
    }
}

impl AttestationType {
    /// Returns the scheme by which the stamp is stored.
    const fn scheme(self) -> Scheme {
        match self {
            Self::IdToken => Scheme::AttestedIdToken,
            Self::VerificationToken => Scheme::AttestedVerificationToken,
        }
    }
}

/// An attested stamp, as its header contains it. Nothing is verified.
#[derive(Clone)]
pub struct AttestedStamp {
    /// What attests the key.
    pub attestation_type: AttestationType,
    /// Token that attests the key. It is a bearer token.
    pub attestation: String,
    /// Public key as the client wrote it: compressed P-256, hex.
    pub public_key: String,
    signature: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Members {
    public_key_attestation: String,
    scheme: String,
    public_key: String,
    signature: String,
}

impl AttestedStamp {
    /// Parses the header value: base64 of a JSON object, in either alphabet, padded or not.
    ///
    /// # Errors
    /// [`StampError::Malformed`] if the header holds no JSON object, [`StampError::Members`] if a member is
    /// invalid.
    pub fn read(header: &str) -> Result<Self, StampError> {
        let members: Members = members(header)?;
        let types = [AttestationType::IdToken, AttestationType::VerificationToken];
        let attestation_type = types.into_iter().find(|one| one.name() == members.scheme);
        Ok(Self {
            attestation_type: attestation_type.ok_or(StampError::Members)?,
            attestation: members.public_key_attestation,
            public_key: members.public_key,
            signature: members.signature,
        })
    }

    /// Returns whether the key signed these bytes: ECDSA over P-256 and SHA-256, in DER.
    pub fn is_signed(&self, body: &[u8]) -> bool {
        StampKey::parse(ApiKeyCurve::P256, &self.public_key)
            .is_ok_and(|key| key.verify(Scheme::P256, body, &self.signature))
    }

    /// Returns the stamp as it is stored with the request, without the token.
    pub fn stamp(&self) -> Stamp {
        Stamp {
            public_key: self.public_key.to_ascii_lowercase(),
            scheme: self.attestation_type.scheme(),
            signature: self.signature.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

    use base64ct::{Base64UrlUnpadded, Encoding};
    use p256::ecdsa::signature::Signer;
    use p256::ecdsa::{Signature, SigningKey};
    use serde_json::{Value, json};

    use super::*;
    use crate::stamp::LIMIT_BYTES;

    fn header(members: &Value) -> String {
        Base64UrlUnpadded::encode_string(members.to_string().as_bytes())
    }

    fn members(body: &[u8]) -> Value {
        let key = SigningKey::from_slice(&[5; 32]).unwrap();
        let signature: Signature = key.sign(body);
        json!({
            "publicKeyAttestation": "a.b.c",
            "scheme": "STAMP_ATTESTED_SCHEME_P256_OIDC",
            "publicKey": const_hex::encode(key.verifying_key().to_sec1_point(true).as_bytes()),
            "signature": const_hex::encode(signature.to_der().as_bytes()),
        })
    }

    #[test]
    fn stamps_are_read_and_verified() {
        let stamp = AttestedStamp::read(&header(&members(b"body"))).unwrap();
        assert!(stamp.is_signed(b"body"));
        assert!(!stamp.is_signed(b"bodz"));
        assert_eq!(stamp.attestation, "a.b.c");
        let stored = stamp.stamp();
        assert_eq!(stored.scheme.name(), "STAMP_ATTESTED_SCHEME_P256_OIDC");
        // No registered key made it, so it is no stamp of one.
        assert!(!super::super::verify(&stored, b"body"));
        assert_eq!(Scheme::from_name(stored.scheme.name()), None);
        assert!(super::super::verify_attested(&stored, b"body"));
        assert!(!super::super::verify_attested(&stored, b"bodz"));
        assert_eq!(Scheme::attested_from_name(stored.scheme.name()), Some(stored.scheme));
        let registered = Stamp { scheme: Scheme::P256, ..stored };
        assert!(!super::super::verify_attested(&registered, b"body"));
        assert_eq!(Scheme::attested_from_name(Scheme::P256.name()), None);
    }

    #[test]
    fn malformed_headers_are_rejected() {
        let mut other_scheme = members(b"body");
        other_scheme["scheme"] = "SIGNATURE_SCHEME_TK_API_P256".into();
        let mut without_token = members(b"body");
        without_token.as_object_mut().unwrap().remove("publicKeyAttestation");
        for (text, expected) in [
            (header(&other_scheme), StampError::Members),
            (header(&without_token), StampError::Members),
            (header(&json!([])), StampError::Malformed),
            ("%".to_owned(), StampError::Malformed),
            ("A".repeat(LIMIT_BYTES + 4), StampError::Malformed),
        ] {
            assert_eq!(AttestedStamp::read(&text).map(|_| ()), Err(expected));
        }
    }
}
