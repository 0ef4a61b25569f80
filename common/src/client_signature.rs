//! Statements that a client signs with the key of its verification token, to say what the token is used for.

use serde::Deserialize;
use serde_json::Value;

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

/// What a client signed: the use of a verification token to sign up.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SignUpStatement {
    /// The root user who signs up: credentials and contacts. Earlier clients name it `signup`.
    #[serde(rename = "signupV2", alias = "signup")]
    user: Value,
    /// Verification token that is used.
    pub token_id: VerificationTokenId,
    /// Use of the token.
    #[serde(rename = "type")]
    pub usage: SignUpUsage,
}

/// The only use that a [`SignUpStatement`] states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum SignUpUsage {
    /// The token is used to create an organization.
    #[serde(rename = "USAGE_TYPE_SIGNUP")]
    SignUp,
}

impl SignUpStatement {
    /// Reads a statement. Returns `None` if it has a member twice, a member around the user that is not known, or
    /// another use.
    pub fn read(message: &str) -> Option<Self> {
        Document::read(message.as_bytes()).ok()?.typed().ok()
    }

    /// Returns the root user, as JSON without null members.
    pub const fn user(&self) -> &Value {
        &self.user
    }
}

/// Returns whether a value has no other members than one that is known, at any depth. Values of members may differ.
pub fn has_only(value: &Value, known: &Value) -> bool {
    match (value, known) {
        (Value::Object(members), Value::Object(known)) => {
            members.iter().all(|(name, inner)| known.get(name).is_some_and(|known| has_only(inner, known)))
        }
        (Value::Array(items), Value::Array(known)) => {
            items.len() == known.len() && items.iter().zip(known).all(|(item, known)| has_only(item, known))
        }
        (value, _) => !value.is_object() && !value.is_array(),
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
    fn sign_ups_are_read_strictly() {
        let message = r#"{"type":"USAGE_TYPE_SIGNUP","signupV2":{"email":"a@b.example","apiKeys":[]},"tokenId":"01010101-0101-0101-0101-010101010101"}"#;
        let statement = SignUpStatement::read(message).unwrap();
        assert_eq!(statement.user()["email"], "a@b.example");
        assert_eq!(SignUpStatement::read(&message.replace("signupV2", "signup")), Some(statement));
        for (from, to) in [
            ("USAGE_TYPE_SIGNUP", "USAGE_TYPE_LOGIN"),
            ("\"signupV2\"", "\"signupV3\""),
            ("{\"type\"", "{\"more\":1,\"type\""),
            ("{\"type\"", "{\"signup\":{},\"type\""),
            ("\"email\":", "\"email\":\"c@d.example\",\"email\":"),
        ] {
            let altered = message.replace(from, to);
            assert_ne!(altered, message);
            assert_eq!(SignUpStatement::read(&altered), None, "{altered}");
        }
    }

    #[test]
    fn unknown_members_are_found_at_any_depth() {
        let known = serde_json::json!({"a": [{"b": "c"}], "d": "e"});
        for (value, is_known) in [
            (serde_json::json!({"a": [{"b": "other"}]}), true),
            (serde_json::json!({"a": [{"b": 1}], "d": "e"}), true),
            (serde_json::json!({"a": [{"b": "c", "x": 1}]}), false),
            (serde_json::json!({"a": [{"b": {}}]}), false),
            (serde_json::json!({"a": []}), false),
            (serde_json::json!({"x": null}), false),
            (serde_json::json!([]), false),
        ] {
            assert_eq!(has_only(&value, &known), is_known, "{value}");
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
