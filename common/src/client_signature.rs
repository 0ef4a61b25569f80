//! Statements that a client signs with the key of its verification token, to say what the token is used for.

use serde::Deserialize;
use serde_json::Value;

use crate::ids::VerificationTokenId;
use crate::json::Document;
use crate::stamp::{ApiKeyCurve, Scheme, StampKey};

/// Maximum length of the statement in bytes.
pub const MESSAGE_LIMIT: usize = 16 * 1024;

/// Why the signature of a client is not accepted. The texts name what the client controls, and no value of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ClientSignatureError {
    /// The request contains no signature.
    #[error("`clientSignature` is required, because the token is bound to a key")]
    Missing,
    /// The scheme is not the only one that is accepted.
    #[error("`scheme` must be CLIENT_SIGNATURE_SCHEME_API_P256")]
    Scheme,
    /// The signer is not the key of the token.
    #[error("`publicKey` is not the key of the verification token")]
    Key,
    /// The signature is not r and s in hex.
    #[error("`signature` must be r and s, 32 bytes each, in hexadecimal")]
    Form,
    /// The signature does not verify.
    #[error("`signature` does not verify over the bytes of `message` with the key of the verification token")]
    Signature,
    /// The message is not a [`LoginStatement`].
    #[error(
        "`message` must have the members `login.publicKey`, `tokenId` and `type` (USAGE_TYPE_LOGIN), and no other"
    )]
    Login,
    /// The message is not a [`SignUpStatement`].
    #[error(
        "`message` must have the members `signupV2`, `tokenId` and `type` (USAGE_TYPE_SIGNUP), and no other"
    )]
    SignUp,
    /// The message names another token.
    #[error("`tokenId` of `message` is not the claim `id` of the verification token")]
    Token,
    /// The message names another key for the session.
    #[error("`login.publicKey` of `message` is not `publicKey` of the request")]
    PublicKey,
    /// The message describes another user. Contains the first member that differs.
    #[error("`signupV2.{0}` of `message` differs from the root user of the request")]
    User(&'static str),
    /// The message describes a user with members that are not known.
    #[error("`signupV2` of `message` has an unknown member")]
    UnknownMember,
}

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

/// Verifies an ECDSA signature of a message with SHA-256: r and s, 32 bytes each, in hex. `public_key` is a compressed
/// P-256 point in hex.
///
/// # Errors
/// [`ClientSignatureError::Form`] if the signature has another form, and [`ClientSignatureError::Signature`] if it does
/// not verify.
pub fn verify(message: &str, public_key: &str, signature: &str) -> Result<(), ClientSignatureError> {
    let mut bytes = [0; 64];
    const_hex::decode_to_slice(signature, &mut bytes).map_err(|_| ClientSignatureError::Form)?;
    // Numbers outside of the curve's order have the right form, and verify nothing.
    let der = p256::ecdsa::Signature::from_slice(&bytes).ok();
    let der = der.map(|signature| const_hex::encode(signature.to_der().as_bytes()));
    let key = StampKey::parse(ApiKeyCurve::P256, public_key).ok();
    let is_signed = key.zip(der).is_some_and(|(key, der)| key.verify(Scheme::P256, message.as_bytes(), &der));
    if is_signed { Ok(()) } else { Err(ClientSignatureError::Signature) }
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
        let der = const_hex::encode(signature.to_der().as_bytes());
        let (form, wrong) = (Err(ClientSignatureError::Form), Err(ClientSignatureError::Signature));
        assert_eq!(verify(MESSAGE, &public, &raw), Ok(()));
        assert_eq!(verify("another message", &public, &raw), wrong);
        assert_eq!(verify(MESSAGE, "", &raw), wrong);
        assert_eq!(verify(MESSAGE, &public, &"00".repeat(64)), wrong);
        assert_eq!(verify(MESSAGE, &public, &"ff".repeat(64)), wrong);
        for other in [&der, &raw[2..], &format!("{raw}00"), &format!("0x{}", &raw[2..]), "", "zz"] {
            assert_eq!(verify(MESSAGE, &public, other), form, "{other}");
        }
    }
}
