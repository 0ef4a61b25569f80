//! Verification tokens: proof that somebody received a code at a contact.

use base64ct::{Base64UrlUnpadded, Encoding};
use p256::ecdsa::signature::Verifier;
use p256::ecdsa::{Signature, VerifyingKey};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{OrganizationId, VerificationTokenId};
use crate::wire_enum;

/// Header of verification tokens. Only tokens with exactly these bytes are accepted.
pub(super) const HEADER: &str = r#"{"typ":"JWT","alg":"ES256"}"#;

/// Maximum length of a verification token in bytes.
const LIMIT_BYTES: usize = 4096;

wire_enum! {
    /// The way on which a code reaches its receiver.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum OtpType {
        /// Email.
        Email = "OTP_TYPE_EMAIL",
        /// SMS.
        Sms = "OTP_TYPE_SMS",
    }
}

/// The claims of a verification token, in the order in which clients know them.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerificationClaims {
    /// Id of the token.
    pub id: VerificationTokenId,
    /// How the code was sent.
    pub verification_type: OtpType,
    /// Email address or phone number that received the code.
    pub contact: String,
    /// Organization that issued the token. Its sub-organizations accept the token as well.
    pub organization_id: OrganizationId,
    /// Public key of the client, lowercase hex. Tokens of `VERIFY_OTP` version 1 may have none.
    pub public_key: Option<String>,
    /// Time at which the token ends.
    pub exp: TokenEnd,
}

/// The time at which a verification token ends. Clients expect another form in each version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum TokenEnd {
    /// Seconds since 1970: tokens of `VERIFY_OTP` version 1.
    Seconds(u64),
    /// Milliseconds since 1970, in decimal digits: tokens of `VERIFY_OTP` version 2.
    Millis(String),
}

impl TokenEnd {
    /// Returns the time in milliseconds since 1970; zero if the digits are not a number.
    pub fn millis(&self) -> u64 {
        match self {
            Self::Seconds(seconds) => seconds.saturating_mul(1000),
            Self::Millis(digits) => digits.parse().unwrap_or_default(),
        }
    }
}

impl VerificationClaims {
    /// Reads a token, and verifies its signature with the key that signs tokens: a P-256 point in hex. Does not
    /// check the time. Returns `None` if the token is not one of this service.
    pub fn read(token: &str, quorum_key: &str) -> Option<Self> {
        let (input, signature) = token.rsplit_once('.').filter(|_| token.len() <= LIMIT_BYTES)?;
        let (header, claims) = input.split_once('.')?;
        let decode = |part: &str| Base64UrlUnpadded::decode_vec(part).ok();
        if decode(header)? != HEADER.as_bytes() {
            return None;
        }
        let key = VerifyingKey::from_sec1_bytes(&const_hex::decode(quorum_key).ok()?).ok()?;
        let signature = Signature::from_slice(&decode(signature)?).ok()?;
        key.verify(input.as_bytes(), &signature).ok()?;
        serde_json::from_slice(&decode(claims)?).ok()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::super::{SessionClaims, UnsignedToken};
    use super::*;
    use crate::ids::UserId;
    use base64ct::Base64Unpadded;
    use p256::ecdsa::SigningKey;
    use p256::ecdsa::signature::Signer;
    use proptest::prelude::*;

    fn key() -> SigningKey {
        SigningKey::from_slice(&[7; 32]).unwrap()
    }

    fn public(key: &SigningKey) -> String {
        const_hex::encode(key.verifying_key().to_sec1_point(false).as_bytes())
    }

    fn signed(token: &UnsignedToken, key: &SigningKey) -> String {
        let signature: Signature = key.sign(token.statement());
        token.signed(signature.to_der().as_bytes()).unwrap()
    }

    fn claims(contact: &str) -> VerificationClaims {
        VerificationClaims {
            id: VerificationTokenId::from_bytes([1; 16]),
            verification_type: OtpType::Email,
            contact: contact.to_owned(),
            organization_id: OrganizationId::from_bytes([2; 16]),
            public_key: Some("02".repeat(33)),
            exp: TokenEnd::Millis("1800000000000".to_owned()),
        }
    }

    #[test]
    fn claims_are_texts_in_the_order_of_the_clients() {
        let token = UnsignedToken::verification(&claims("a@b.example")).unwrap();
        let (header, payload) = token.input.split_once('.').unwrap();
        assert_eq!(Base64UrlUnpadded::decode_vec(header).unwrap(), HEADER.as_bytes());
        let payload = String::from_utf8(Base64UrlUnpadded::decode_vec(payload).unwrap()).unwrap();
        let key = "02".repeat(33);
        assert_eq!(
            payload,
            format!(
                "{{\"id\":\"01010101-0101-0101-0101-010101010101\",\"verification_type\":\"OTP_TYPE_EMAIL\",\
                 \"contact\":\"a@b.example\",\"organization_id\":\"02020202-0202-0202-0202-020202020202\",\
                 \"public_key\":\"{key}\",\"exp\":\"1800000000000\"}}"
            )
        );
    }

    #[test]
    fn altered_tokens_and_tokens_of_other_keys_are_rejected() {
        let (key, other) = (key(), SigningKey::from_slice(&[8; 32]).unwrap());
        let token = signed(&UnsignedToken::verification(&claims("a@b.example")).unwrap(), &key);
        assert_eq!(VerificationClaims::read(&token, &public(&key)), Some(claims("a@b.example")));
        assert_eq!(VerificationClaims::read(&token, &public(&other)), None);
        for index in 0..token.len() {
            let mut altered = token.clone().into_bytes();
            if let Some(byte) = altered.get_mut(index) {
                *byte = if *byte == b'A' { b'B' } else { b'A' };
            }
            let altered = String::from_utf8(altered).unwrap();
            assert_eq!(VerificationClaims::read(&altered, &public(&key)), None, "byte {index}");
        }
        for text in ["", ".", "..", "a.b.c", &format!("{token}."), &format!("{token}=")] {
            assert_eq!(VerificationClaims::read(text, &public(&key)), None, "{text}");
        }
    }

    #[test]
    fn session_tokens_are_not_verification_tokens() {
        let key = key();
        let session = SessionClaims {
            exp: 1_800_000_000,
            public_key: "02".repeat(33),
            session_type: String::new(),
            user_id: UserId::from_bytes([3; 16]),
            organization_id: OrganizationId::from_bytes([2; 16]),
            session_profile_id: None,
            scope: None,
        };
        let token = signed(&UnsignedToken::session(&session).unwrap(), &key);
        assert_eq!(VerificationClaims::read(&token, &public(&key)), None);
    }

    #[test]
    fn ends_are_read_in_both_forms() {
        assert_eq!(TokenEnd::Seconds(2).millis(), 2000);
        assert_eq!(TokenEnd::Millis("2000".to_owned()).millis(), 2000);
        assert_eq!(TokenEnd::Millis("soon".to_owned()).millis(), 0);
    }

    proptest! {
        #[test]
        fn every_contact_survives_plain_base64(contact in ".*") {
            let token = UnsignedToken::verification(&claims(&contact)).unwrap();
            let (_, payload) = token.input.split_once('.').unwrap();
            let json = Base64Unpadded::decode_vec(payload).unwrap();
            prop_assert!(json.is_ascii());
            prop_assert_eq!(serde_json::from_slice::<VerificationClaims>(&json).unwrap(), claims(&contact));
        }
    }
}
