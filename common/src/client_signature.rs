//! Statements that a client signs with the key of its verification token, to say what the token is used for.

use serde::Deserialize;

use crate::ids::VerificationTokenId;
use crate::json::Document;
use crate::stamp::{ApiKeyCurve, Scheme, StampKey};

/// Maximum length of the statement in bytes.
pub const MESSAGE_LIMIT: usize = 16 * 1024;

/// What a client signed: the use of a verification token to log in.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LoginStatement {
    /// The login.
    pub login: StatedLogin,
    /// Verification token that is used.
    pub token_id: VerificationTokenId,
    /// Use of the token.
    #[serde(rename = "type")]
    pub usage: LoginUsage,
}

/// A login as a client states it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StatedLogin {
    /// Public key that stamps the requests of the session, in hex.
    pub public_key: String,
}

/// The only use that a [`LoginStatement`] states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum LoginUsage {
    /// The token is used to log in.
    #[serde(rename = "USAGE_TYPE_LOGIN")]
    Login,
}

impl LoginStatement {
    /// Reads a statement. Returns `None` if it has a member twice, a member that is not known, or another use.
    pub fn read(message: &str) -> Option<Self> {
        Document::read(message.as_bytes()).ok()?;
        serde_json::from_str(message).ok()
    }
}

/// Returns whether `signature` is an ECDSA signature of a message with SHA-256: r and s, 32 bytes each, in hex.
/// `public_key` is a compressed P-256 point in hex.
pub fn is_signed(message: &str, public_key: &str, signature: &str) -> bool {
    let der = const_hex::decode(signature)
        .ok()
        .and_then(|bytes| p256::ecdsa::Signature::from_slice(&bytes).ok())
        .map(|signature| const_hex::encode(signature.to_der().as_bytes()));
    let key = StampKey::parse(ApiKeyCurve::P256, public_key);
    key.ok().zip(der).is_some_and(|(key, der)| key.verify(Scheme::P256, message.as_bytes(), &der))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use p256::ecdsa::signature::Signer;
    use p256::ecdsa::{Signature, SigningKey};

    const MESSAGE: &str = r#"{"login":{"publicKey":"02ab"},"tokenId":"01010101-0101-0101-0101-010101010101","type":"USAGE_TYPE_LOGIN"}"#;

    #[test]
    fn statements_are_read_strictly() {
        let statement = LoginStatement::read(MESSAGE).unwrap();
        assert_eq!(statement.login.public_key, "02ab");
        assert_eq!(statement.token_id, VerificationTokenId::from_bytes([1; 16]));
        for (from, to) in [
            ("USAGE_TYPE_LOGIN", "USAGE_TYPE_SIGNUP"),
            ("\"tokenId\"", "\"tokenid\""),
            ("{\"login\"", "{\"more\":1,\"login\""),
            ("{\"publicKey\":\"02ab\"}", "{\"publicKey\":\"02ab\",\"publicKey\":\"02cd\"}"),
            ("{\"publicKey\":\"02ab\"}", "{\"publicKey\":\"02ab\",\"more\":1}"),
        ] {
            let altered = MESSAGE.replace(from, to);
            assert_ne!(altered, MESSAGE);
            assert_eq!(LoginStatement::read(&altered), None, "{altered}");
        }
    }

    #[test]
    fn signatures_are_raw_and_over_the_digest_of_the_message() {
        let key = SigningKey::from_slice(&[7; 32]).unwrap();
        let public = const_hex::encode(key.verifying_key().to_sec1_point(true).as_bytes());
        let signature: Signature = key.sign(MESSAGE.as_bytes());
        let raw = const_hex::encode(signature.to_bytes());
        assert!(is_signed(MESSAGE, &public, &raw));
        assert!(!is_signed("another message", &public, &raw));
        assert!(!is_signed(MESSAGE, &public, &const_hex::encode(signature.to_der().as_bytes())));
        assert!(!is_signed(MESSAGE, &format!("03{}", &public[2..]), "00"));
        assert!(!is_signed(MESSAGE, "", &raw));
    }
}
