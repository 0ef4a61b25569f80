//! Tokens that the service signs: JSON Web Tokens (RFC 7519) with ES256 in the compact form (RFC 7515).
//!
//! Browsers decode the claims of these tokens with plain base64. The claims are therefore written in ASCII
//! without the four characters that could produce `-` or `_`, the two letters in which base64url differs
//! (RFC 4648, section 5).

mod identity;
mod verification;

pub use identity::IdClaims;
pub use verification::{OtpType, TokenEnd, VerificationClaims};

use std::io;

use base64ct::{Base64UrlUnpadded, Encoding};
use serde::{Deserialize, Serialize};
use serde_json::ser::{CompactFormatter, Formatter, Serializer};
use sha2::{Digest, Sha256};

use crate::ids::{OrganizationId, SessionProfileId, UserId};

/// Type of a session without a profile, as the claim `session_type` names it.
pub const READ_WRITE_SESSION: &str = "SESSION_TYPE_READ_WRITE";

/// Header of session tokens.
const SESSION_HEADER: &str = r#"{"alg":"ES256","typ":"JWT"}"#;

/// The claims of a session token, in the order in which clients know them.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionClaims {
    /// Time at which the session ends, in seconds since 1970.
    pub exp: u64,
    /// Public key that stamps the requests of the session, lowercase hex.
    pub public_key: String,
    /// [`READ_WRITE_SESSION`], or the name of the session profile.
    pub session_type: String,
    /// User whose session it is.
    pub user_id: UserId,
    /// Organization of the user.
    pub organization_id: OrganizationId,
    /// Session profile that limits the session.
    pub session_profile_id: Option<SessionProfileId>,
    /// Condition that each activity of the session must meet, in the policy language.
    pub scope: Option<String>,
}

/// A token without its signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsignedToken {
    /// Header and claims in base64url, joined by a full stop: the input of the signature (RFC 7515, section 2).
    input: String,
    /// Bytes that are signed with ECDSA and SHA-256.
    statement: Vec<u8>,
}

impl UnsignedToken {
    /// Creates a session token. Clients verify its signature over the SHA-256 digest of the SHA-256 digest of
    /// the input.
    ///
    /// # Errors
    /// Errors of the JSON library. No claims cause one.
    pub fn session(claims: &SessionClaims) -> Result<Self, serde_json::Error> {
        let input = signing_input(SESSION_HEADER, claims)?;
        let statement = Sha256::digest(&input).to_vec();
        Ok(Self { input, statement })
    }

    /// Creates a verification token. Clients verify its signature as ES256 defines it (RFC 7518, section 3.4).
    ///
    /// # Errors
    /// Errors of the JSON library. No claims cause one.
    pub fn verification(claims: &VerificationClaims) -> Result<Self, serde_json::Error> {
        let input = signing_input(verification::HEADER, claims)?;
        let statement = input.clone().into_bytes();
        Ok(Self { input, statement })
    }

    /// Returns the bytes to sign with ECDSA on P-256 and SHA-256.
    pub fn statement(&self) -> &[u8] {
        &self.statement
    }

    /// Returns the token with a signature of the statement in DER, or `None` if that is not a signature.
    pub fn signed(&self, signature: &[u8]) -> Option<String> {
        let signature = p256::ecdsa::Signature::from_der(signature).ok()?;
        let fixed = Base64UrlUnpadded::encode_string(&signature.to_bytes());
        Some(format!("{}.{fixed}", self.input))
    }
}

/// Encodes the header and the claims, and joins them.
fn signing_input(header: &str, claims: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut json = Vec::new();
    claims.serialize(&mut Serializer::with_formatter(&mut json, PlainBase64(CompactFormatter)))?;
    let encoded = [header.as_bytes(), &json].map(Base64UrlUnpadded::encode_string);
    Ok(encoded.join("."))
}

/// Writes JSON whose base64 text has neither the 63rd nor the 64th letter of the alphabet.
///
/// Such a letter encodes six bits `11111x`. In ASCII, only the low six bits of a byte can be that: those of
/// `>`, `?`, `~` and DEL. They are escaped, and so is everything outside of ASCII.
struct PlainBase64(CompactFormatter);

impl Formatter for PlainBase64 {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        for character in fragment.chars() {
            if character.is_ascii() && !matches!(character, '>' | '?' | '~' | '\u{7f}') {
                self.0.write_string_fragment(writer, character.encode_utf8(&mut [0; 4]))?;
            } else {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    write!(writer, "\\u{unit:04x}")?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use base64ct::Base64Unpadded;
    use p256::ecdsa::SigningKey;
    use p256::ecdsa::signature::Signer;
    use p256::ecdsa::signature::hazmat::PrehashVerifier;
    use proptest::prelude::*;

    fn claims(name: &str) -> SessionClaims {
        SessionClaims {
            exp: 1_800_000_900,
            public_key: "02".repeat(33),
            session_type: name.to_owned(),
            user_id: UserId::from_bytes([1; 16]),
            organization_id: OrganizationId::from_bytes([2; 16]),
            session_profile_id: Some(SessionProfileId::from_bytes([3; 16])),
            scope: Some(format!("activity.action == '{name}' && 2 > 1")),
        }
    }

    #[test]
    fn claims_are_in_the_order_of_the_clients() {
        let plain = SessionClaims { session_profile_id: None, scope: None, ..claims(READ_WRITE_SESSION) };
        let token = UnsignedToken::session(&plain).unwrap();
        let (header, payload) = token.input.split_once('.').unwrap();
        assert_eq!(Base64UrlUnpadded::decode_vec(header).unwrap(), SESSION_HEADER.as_bytes());
        let payload = String::from_utf8(Base64UrlUnpadded::decode_vec(payload).unwrap()).unwrap();
        let key = "02".repeat(33);
        assert_eq!(
            payload,
            format!(
                "{{\"exp\":1800000900,\"public_key\":\"{key}\",\"session_type\":\"SESSION_TYPE_READ_WRITE\",\
                 \"user_id\":\"01010101-0101-0101-0101-010101010101\",\
                 \"organization_id\":\"02020202-0202-0202-0202-020202020202\"}}"
            )
        );
    }

    #[test]
    fn signatures_cover_the_double_digest() {
        let key = SigningKey::from_slice(&[7; 32]).unwrap();
        let token = UnsignedToken::session(&claims("one")).unwrap();
        let signature: p256::ecdsa::Signature = key.sign(token.statement());
        let text = token.signed(signature.to_der().as_bytes()).unwrap();
        let (input, fixed) = text.rsplit_once('.').unwrap();
        let fixed = Base64UrlUnpadded::decode_vec(fixed).unwrap();
        let signature = p256::ecdsa::Signature::from_slice(&fixed).unwrap();
        let digest = Sha256::digest(Sha256::digest(input));
        key.verifying_key().verify_prehash(&digest, &signature).unwrap();
        assert_eq!(token.signed(b"no signature"), None);
    }

    proptest! {
        #[test]
        fn every_text_survives_plain_base64(name in ".*") {
            let token = UnsignedToken::session(&claims(&name)).unwrap();
            let (_, payload) = token.input.split_once('.').unwrap();
            let json = Base64Unpadded::decode_vec(payload).unwrap();
            prop_assert!(json.is_ascii());
            prop_assert_eq!(serde_json::from_slice::<SessionClaims>(&json).unwrap(), claims(&name));
        }
    }
}
