//! ID tokens that the service issues (OpenID Connect Core 1.0, section 2).

use serde::{Deserialize, Serialize};

use super::{UnsignedToken, signing_input};

/// The claims of an ID token. Times are seconds since 1970.
#[serde_with::skip_serializing_none]
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdClaims {
    /// Issuer: the URL of the service.
    pub iss: String,
    /// Id of the user at the OAuth 2.0 provider.
    pub sub: String,
    /// Client id of the application at the provider.
    pub aud: String,
    /// Time at which the token was issued.
    pub iat: u64,
    /// Time from which the token is no longer valid.
    pub exp: u64,
    /// Value that the token was requested with, by which it is bound to a public key.
    pub nonce: String,
    /// Access token of the provider, encrypted to the key that the request named.
    pub encrypted_bearer_token: Option<String>,
}

/// The header of an ID token.
#[derive(Serialize)]
struct Header<'a> {
    alg: &'static str,
    typ: &'static str,
    kid: &'a str,
}

impl UnsignedToken {
    /// Creates an ID token that the key with this id will sign. Its signature is as ES256 defines it (RFC 7518, section
    /// 3.4).
    ///
    /// # Errors
    /// Errors of the JSON library. No claims cause one.
    pub fn identity(key_id: &str, claims: &IdClaims) -> Result<Self, serde_json::Error> {
        let header = serde_json::to_string(&Header { alg: "ES256", typ: "JWT", kid: key_id })?;
        let input = signing_input(&header, claims)?;
        let statement = input.clone().into_bytes();
        Ok(Self { input, statement })
    }
}
