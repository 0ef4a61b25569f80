//! ID tokens of issuers whose keys the world in memory knows.

use std::sync::Arc;

use base64ct::{Base64UrlUnpadded, Encoding};
use quorate_chain::curve::{Curve, Message, SecretKey};
use quorate_core::error::{Intent, RequestError};
use quorate_core::id_token::IssuerKeys;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::fixture::NOW;

/// Issuer of the identities of the fixture. It has one key.
pub(crate) const ISSUER: &str = "https://issuer.example";
/// Issuer with two keys.
pub(crate) const SEVERAL_KEYS: &str = "https://several.example";

/// Returns the secret key of this number.
fn secret(number: u8) -> SecretKey {
    SecretKey::from_bytes(Curve::P256, &[number; 32]).expect("a scalar")
}

/// Returns the public key of this number as a JSON Web Key.
fn jwk(number: u8) -> Value {
    let secret = secret(number);
    let point = secret.public().uncompressed().expect("P-256 has an uncompressed form");
    let [x, y] = [&point[1..33], &point[33..]].map(Base64UrlUnpadded::encode_string);
    json!({"kty": "EC", "crv": "P-256", "x": x, "y": y, "kid": format!("key {number}"), "alg": "ES256", "use": "sig"})
}

/// Returns the keys of an issuer.
pub(crate) fn issuer_keys(issuer: &str) -> Result<Arc<IssuerKeys>, RequestError> {
    let keys = match issuer {
        ISSUER => vec![jwk(60)],
        SEVERAL_KEYS => vec![jwk(60), jwk(61)],
        _ => return Err(Intent::OidcIssuer("its issuer is not allowed").into()),
    };
    let set = json!({ "keys": keys }).to_string();
    Ok(Arc::new(IssuerKeys::parse(set.as_bytes()).expect("a key set")))
}

/// A token to sign.
#[derive(Clone)]
pub(crate) struct Token {
    /// Header.
    pub(crate) header: Value,
    /// Claims.
    pub(crate) claims: Value,
    /// Number of the key that signs it.
    pub(crate) key: u8,
}

impl Token {
    /// Returns a valid token of a subject, requested for a public key.
    pub(crate) fn new(subject: &str, public_key: &str) -> Self {
        let now = NOW / 1000;
        Self {
            header: json!({"alg": "ES256", "kid": "key 60", "typ": "JWT"}),
            claims: json!({"iss": ISSUER, "aud": "audience", "sub": subject, "iat": now, "exp": now + 600,
                "nonce": nonce(public_key)}),
            key: 60,
        }
    }

    /// Returns the token with another claim; without it if the value is `null`.
    pub(crate) fn claim(mut self, name: &str, value: Value) -> Self {
        replace(&mut self.claims, name, value);
        self
    }

    /// Returns the token with another member of the header; without it if the value is `null`.
    pub(crate) fn head(mut self, name: &str, value: Value) -> Self {
        replace(&mut self.header, name, value);
        self
    }

    /// Returns the text of the token.
    pub(crate) fn sign(&self) -> String {
        sign(&self.header.to_string(), &self.claims.to_string(), self.key)
    }
}

fn replace(object: &mut Value, name: &str, value: Value) {
    let members = object.as_object_mut().expect("an object");
    members.remove(name);
    if !value.is_null() {
        members.insert(name.to_owned(), value);
    }
}

/// Signs a header and claims with ES256 (RFC 7518, section 3.4).
pub(crate) fn sign(header: &str, claims: &str, key: u8) -> String {
    let input = [header, claims].map(|part| Base64UrlUnpadded::encode_string(part.as_bytes())).join(".");
    let digest = Message::Digest(Sha256::digest(&input).into());
    let signature = secret(key).sign(&digest).expect("signing succeeds");
    format!("{input}.{}", Base64UrlUnpadded::encode_string(&[signature.r, signature.s].concat()))
}

/// Returns the nonce that binds a token to the text of a public key.
pub(crate) fn nonce(public_key: &str) -> String {
    const_hex::encode(Sha256::digest(public_key))
}
