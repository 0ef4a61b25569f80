//! ID tokens of issuers whose keys the world in memory knows.

use std::sync::{Arc, LazyLock};

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair, KeySize};
use aws_lc_rs::signature::{KeyPair as _, RsaEncoding};
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
/// Issuer with a key of RSA and a key on P-256.
pub(crate) const MIXED_KEYS: &str = "https://mixed.example";
/// Issuer with the same two keys, which have the same id (RFC 7517, section 4.5).
pub(crate) const SHARED_ID: &str = "https://shared.example";

/// The key of RSA.
static RSA: LazyLock<KeyPair> = LazyLock::new(|| KeyPair::generate(KeySize::Rsa2048).expect("a key"));

/// The service itself, as an issuer.
pub(crate) const OWN_ISSUER: &str = "https://keys.example";
/// Number of its key.
pub(crate) const OWN_KEY: u8 = 62;

/// Returns the secret key of this number.
fn secret(number: u8) -> SecretKey {
    SecretKey::from_bytes(Curve::P256, &[number; 32]).expect("a scalar")
}

/// Returns the public key of this number as a JSON Web Key.
pub(crate) fn jwk(number: u8) -> Value {
    let secret = secret(number);
    let point = secret.public().uncompressed().expect("P-256 has an uncompressed form");
    let [x, y] = [&point[1..33], &point[33..]].map(Base64UrlUnpadded::encode_string);
    json!({"kty": "EC", "crv": "P-256", "x": x, "y": y, "kid": format!("key {number}"), "alg": "ES256", "use": "sig"})
}

/// Returns the public key of RSA in DER (RFC 8017, appendix A.1.1).
pub(crate) fn rsa_der() -> Vec<u8> {
    RSA.public_key().as_ref().to_vec()
}

/// Returns the modulus of the public key of RSA.
pub(crate) fn rsa_modulus() -> Vec<u8> {
    // The end of the encoding is the INTEGER 65537.
    let der = rsa_der();
    let (start, end) = der.split_at(der.len() - 5);
    assert_eq!(end, [2, 3, 1, 0, 1]);
    start[start.len() - RSA.public_modulus_len()..].to_vec()
}

/// Returns the public key of RSA as a JSON Web Key.
pub(crate) fn rsa_jwk() -> Value {
    json!({"kty": "RSA", "n": Base64UrlUnpadded::encode_string(&rsa_modulus()), "e": "AQAB", "kid": "rsa",
        "alg": "RS256", "use": "sig"})
}

/// Returns a key with another id.
fn with_id(mut key: Value, id: &str) -> Value {
    key["kid"] = json!(id);
    key
}

/// Returns the keys of an issuer.
pub(crate) fn issuer_keys(issuer: &str) -> Result<Arc<IssuerKeys>, RequestError> {
    let keys = match issuer {
        ISSUER => vec![jwk(60)],
        OWN_ISSUER => vec![jwk(OWN_KEY)],
        SEVERAL_KEYS => vec![jwk(60), jwk(61)],
        MIXED_KEYS => vec![jwk(60), rsa_jwk()],
        SHARED_ID => vec![with_id(jwk(60), "shared"), with_id(rsa_jwk(), "shared")],
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

    /// Returns the text of the token, signed by the key of RSA.
    pub(crate) fn sign_rsa(&self, encoding: &'static dyn RsaEncoding) -> String {
        self.sign_with(|input| {
            let mut signature = vec![0; RSA.public_modulus_len()];
            RSA.sign(encoding, &SystemRandom::new(), input, &mut signature).expect("signing succeeds");
            signature
        })
    }

    /// Returns the text of the token with the signature that a function returns for its input.
    pub(crate) fn sign_with(&self, sign: impl FnOnce(&[u8]) -> Vec<u8>) -> String {
        let input = signing_input(&self.header.to_string(), &self.claims.to_string());
        let signature = sign(input.as_bytes());
        format!("{input}.{}", Base64UrlUnpadded::encode_string(&signature))
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
    let input = signing_input(header, claims);
    let (r, s) = signature(input.as_bytes(), key);
    format!("{input}.{}", Base64UrlUnpadded::encode_string(&[r, s].concat()))
}

/// Signs a statement with ECDSA and SHA-256.
pub(crate) fn signature(statement: &[u8], key: u8) -> ([u8; 32], [u8; 32]) {
    let digest = Message::Digest(Sha256::digest(statement).into());
    let signature = secret(key).sign(&digest).expect("signing succeeds");
    (signature.r, signature.s)
}

/// Returns what a signature covers (RFC 7515, section 5.1).
fn signing_input(header: &str, claims: &str) -> String {
    [header, claims].map(|part| Base64UrlUnpadded::encode_string(part.as_bytes())).join(".")
}

/// Returns the nonce that binds a token to the text of a public key.
pub(crate) fn nonce(public_key: &str) -> String {
    const_hex::encode(Sha256::digest(public_key))
}
