//! The issuer of the daemon's own ID tokens (OpenID Connect Core 1.0): its signing key, and the documents by which
//! others verify its tokens (OpenID Connect Discovery 1.0). It issues nothing itself; the core does.
//!
//! The key is derived from the root key. The operator replaces it by another generation, which ends all tokens at once.

use std::sync::Arc;

use base64ct::{Base64UrlUnpadded, Encoding};
use quorate_chain::curve::{Curve, Message, SecretKey};
use quorate_common::bundle::quorum_signature;
use quorate_core::error::Corrupt;
use quorate_core::id_token::IssuerKeys;
use quorate_core::world;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::listener::{Answer, Incoming};
use crate::locked::Locked;
use crate::vault::Vault;

/// Path of the configuration document below the URL of the issuer.
const CONFIGURATION: &str = "/.well-known/openid-configuration";
/// Path of the key set.
const KEY_SET: &str = "/public/v1/discovery/oidc/jwks";
/// Number of bytes of a digest that identify a key.
const KEY_ID_BYTES: usize = 16;

/// The issuer of the daemon's own ID tokens.
pub struct TokenIssuer {
    url: String,
    key: Locked<SecretKey>,
    key_id: String,
    key_set: Value,
    keys: Arc<IssuerKeys>,
}

impl TokenIssuer {
    /// Creates an issuer with a URL, and with this generation of its key.
    ///
    /// # Errors
    /// Returns [`Corrupt::Invariant`] if the cryptographic libraries reject the key.
    pub fn new(url: String, vault: &Vault, generation: u32) -> Result<Self, Corrupt> {
        let rejected = || Corrupt::Invariant("the key of ID tokens is rejected");
        let mut attempt = 0_u32;
        let mut fill = |buffer: &mut [u8]| {
            vault.fill_token_key(generation, attempt, buffer);
            attempt = attempt.saturating_add(1);
        };
        let key = SecretKey::generate(Curve::P256, &mut fill).map_err(|_| rejected())?;
        let key_id = Sha256::digest(key.public().compressed());
        let key_id = const_hex::encode(key_id.get(..KEY_ID_BYTES).ok_or_else(rejected)?);
        let point = key.public().uncompressed().ok_or_else(rejected)?;
        let (x, y) = point.get(1..).and_then(|point| point.split_at_checked(32)).ok_or_else(rejected)?;
        let [x, y] = [x, y].map(Base64UrlUnpadded::encode_string);
        let key_set = json!({"keys": [
            {"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": key_id, "x": x, "y": y},
        ]});
        let keys = IssuerKeys::parse(key_set.to_string().as_bytes()).ok_or_else(rejected)?;
        Ok(Self { url, key: Locked::new(Box::new(key)), key_id, key_set, keys: Arc::new(keys) })
    }

    /// Returns the keys that verify tokens of this issuer.
    pub(crate) fn keys(&self) -> Arc<IssuerKeys> {
        Arc::clone(&self.keys)
    }

    /// Returns whether the key is locked in memory, so that it cannot be swapped out.
    pub(crate) fn is_locked(&self) -> bool {
        self.key.is_locked()
    }

    /// Answers a request for one of the documents; returns `None` for other paths.
    pub(crate) fn answer(&self, incoming: &Incoming) -> Option<Answer> {
        let document = match incoming.path() {
            CONFIGURATION => self.configuration(),
            KEY_SET => self.key_set.clone(),
            _ => return None,
        };
        let reads = incoming.method == http::Method::GET;
        Some(if reads { Answer::ok(document.to_string().into_bytes()) } else { Answer::wrong_method() })
    }

    /// Returns the configuration document. There is no authorization endpoint: users sign in at other providers.
    fn configuration(&self) -> Value {
        json!({
            "issuer": self.url,
            "jwks_uri": format!("{}{KEY_SET}", self.url),
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["ES256"],
            "claims_supported": ["iss", "sub", "aud", "iat", "exp", "nonce", "encrypted_bearer_token"],
        })
    }
}

impl world::TokenIssuer for TokenIssuer {
    fn url(&self) -> &str {
        &self.url
    }

    fn key_id(&self) -> &str {
        &self.key_id
    }

    fn sign(&self, statement: &[u8]) -> Result<Vec<u8>, Corrupt> {
        let digest = Sha256::digest(statement).into();
        let signature = self.key.sign(&Message::Digest(digest)).map_err(|_| Corrupt::Signature)?;
        quorum_signature(signature.r, signature.s).ok_or(Corrupt::Signature)
    }
}
