//! ID tokens of OpenID Connect issuers (OpenID Connect Core 1.0, section 2), and the keys that verify them.
//!
//! A token is read before it is verified, but only to find out whose keys are needed. Nothing here uses the network.

use std::fmt;

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::model::{Millis, layout};

/// Maximum length of a token, in bytes.
const LIMIT_BYTES: usize = 16 * 1024;
/// Maximum length of the claims that are stored, in bytes.
const CLAIM_BYTES: usize = 1024;
/// Maximum number of audiences of a token.
const AUDIENCES: usize = 16;
/// Maximum number of keys of an issuer.
const KEYS: usize = 64;
/// Why a token is rejected that [`IdToken::read`] does not accept, for the log.
pub const MALFORMED: &str =
    "it is malformed, lacks `iss`, `sub`, `aud` or `exp`, or is not signed with RS256 or ES256";
/// How far the clock of an issuer may be ahead, in seconds.
const AHEAD_SECONDS: u64 = 60;

/// The claims of a token that the service reads. Times are whole seconds since 1970.
#[derive(Deserialize)]
struct Claims {
    iss: String,
    sub: String,
    aud: Audience,
    #[serde(default)]
    azp: Option<String>,
    exp: u64,
    #[serde(default)]
    iat: Option<u64>,
    #[serde(default)]
    nbf: Option<u64>,
    #[serde(default)]
    nonce: Option<String>,
    #[serde(default)]
    tknonce: Option<String>,
    /// A text, in tokens of issuers that follow the standard (OpenID Connect Core 1.0, section 5.1).
    #[serde(default)]
    email: Value,
    /// A boolean; some issuers send it as a text.
    #[serde(default)]
    email_verified: Value,
}

/// The claim `aud`: one audience or several (RFC 7519, section 4.1.3).
#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Several(Vec<String>),
}

/// A token that was read. It proves nothing until [`IdToken::check`] has accepted it.
pub struct IdToken<'t> {
    text: &'t str,
    algorithm: Algorithm,
    key_id: Option<String>,
    claims: Claims,
}

impl fmt::Debug for IdToken<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("IdToken").finish_non_exhaustive()
    }
}

impl<'t> IdToken<'t> {
    /// Reads a token in the compact form (RFC 7515, section 7.1), without verifying it. Returns `None` if it is
    /// malformed, is signed with another algorithm than RS256 or ES256, or lacks a claim that every ID token has.
    pub fn read(text: &'t str) -> Option<Self> {
        if text.len() > LIMIT_BYTES {
            return None;
        }
        let header = jsonwebtoken::decode_header(text).ok()?;
        let is_accepted = matches!(header.alg, Algorithm::RS256 | Algorithm::ES256);
        // Extensions that a header marks as critical are not understood (RFC 7515, section 4.1.11).
        if !is_accepted || header.crit.is_some() {
            return None;
        }
        let claims: Claims = jsonwebtoken::dangerous::insecure_decode_claims(text).ok()?;
        let token = Self { text, algorithm: header.alg, key_id: header.kid, claims };
        token.is_complete().then_some(token)
    }

    /// Returns whether the claims that identify somebody are there and of bounded length.
    fn is_complete(&self) -> bool {
        let is_named = |claim: &str| (1..=CLAIM_BYTES).contains(&claim.len());
        let audiences = self.audiences();
        is_named(&self.claims.iss)
            && is_named(&self.claims.sub)
            && (1..=AUDIENCES).contains(&audiences.len())
            && audiences.iter().all(|audience| is_named(audience))
    }

    /// Returns the claim `iss`.
    pub fn issuer(&self) -> &str {
        &self.claims.iss
    }

    /// Returns the claim `sub`.
    pub fn subject(&self) -> &str {
        &self.claims.sub
    }

    /// Returns the audiences of the claim `aud`; there is at least one.
    pub fn audiences(&self) -> &[String] {
        match &self.claims.aud {
            Audience::One(one) => std::slice::from_ref(one),
            Audience::Several(several) => several,
        }
    }

    /// Returns whether the token was issued for this client alone: it is the only audience, or one of several and the
    /// authorized party (OpenID Connect Core 1.0, section 3.1.3.7).
    pub fn is_for_client(&self, client_id: &str) -> bool {
        match self.audiences() {
            [one] => one == client_id,
            several => {
                several.iter().any(|one| one == client_id) && self.claims.azp.as_deref() == Some(client_id)
            }
        }
    }

    /// Returns the identities of which this may be a token, as the index contains them: one for each audience.
    pub fn identities(&self) -> Vec<String> {
        let audiences = self.audiences().iter();
        audiences.map(|audience| layout::identity(self.issuer(), audience, self.subject())).collect()
    }

    /// Returns the claim `email`, if the issuer states that it has verified that the user controls the address.
    pub fn verified_email(&self) -> Option<&str> {
        let is_verified = self.claims.email_verified == true || self.claims.email_verified == "true";
        self.claims.email.as_str().filter(|_| is_verified)
    }

    /// Returns the id of the key that signed the token, if the token states one.
    pub fn key_id(&self) -> Option<&str> {
        self.key_id.as_deref()
    }

    /// Returns whether the token was requested for a public key: whether `nonce`, or `tknonce`, is the SHA-256 digest
    /// of the text of the key, in lowercase hex.
    pub fn is_for_key(&self, public_key: &str) -> bool {
        let digest = const_hex::encode(Sha256::digest(public_key));
        let Claims { nonce, tknonce, .. } = &self.claims;
        [nonce, tknonce].into_iter().flatten().any(|nonce| *nonce == digest)
    }

    /// Checks that the token is valid at this time: that its issuer signed it, it has not ended, and it was not issued
    /// in the future.
    ///
    /// # Errors
    /// Returns the reason for the log.
    pub fn check(&self, keys: &IssuerKeys, now: Millis) -> Result<(), &'static str> {
        let now = now / 1000;
        if self.claims.exp <= now {
            return Err("it has expired");
        }
        let begins = [self.claims.iat, self.claims.nbf].into_iter().flatten().max();
        if begins.is_some_and(|begin| begin > now.saturating_add(AHEAD_SECONDS)) {
            return Err("it is not valid yet: the clocks of the issuer and of this machine differ");
        }
        let key = keys.key(self.algorithm, self.key_id()).ok_or("its issuer has no such key")?;
        // Times are checked above, by the clock of the service, and the audience by the caller.
        let mut validation = Validation::new(self.algorithm);
        validation.required_spec_claims.clear();
        validation.validate_exp = false;
        validation.validate_aud = false;
        let verified = jsonwebtoken::decode::<IgnoredAny>(self.text, key, &validation);
        verified.map(|_| ()).map_err(|_| "its signature does not verify")
    }
}

/// The signing keys of an issuer.
pub struct IssuerKeys(Vec<IssuerKey>);

struct IssuerKey {
    id: Option<String>,
    algorithm: Algorithm,
    key: DecodingKey,
}

impl IssuerKeys {
    /// Parses a key set (RFC 7517, section 5). Keys that cannot sign a token are left out. Returns `None` if the text is
    /// not a key set, has too many keys, or has none that can sign a token.
    pub fn parse(json: &[u8]) -> Option<Self> {
        #[derive(Deserialize)]
        struct Set {
            keys: Vec<Value>,
        }
        let Set { keys } = serde_json::from_slice(json).ok()?;
        if keys.len() > KEYS {
            return None;
        }
        let keys: Vec<IssuerKey> = keys.into_iter().filter_map(IssuerKey::parse).collect();
        (!keys.is_empty()).then_some(Self(keys))
    }

    /// Returns whether there is a key with this id.
    pub fn has(&self, id: &str) -> bool {
        self.0.iter().any(|key| key.id.as_deref() == Some(id))
    }

    /// Returns the key that a token must be signed with. A token without a key id needs an issuer with one key.
    fn key(&self, algorithm: Algorithm, id: Option<&str>) -> Option<&DecodingKey> {
        let mut keys = self.0.iter().filter(|key| id.is_none() || key.id.as_deref() == id);
        match (keys.next(), keys.next()) {
            (Some(only), None) if only.algorithm == algorithm => Some(&only.key),
            _ => None,
        }
    }
}

impl IssuerKey {
    fn parse(json: Value) -> Option<Self> {
        let jwk: Jwk = serde_json::from_value(json).ok()?;
        let (algorithm, name) = match &jwk.algorithm {
            AlgorithmParameters::RSA(_) => (Algorithm::RS256, KeyAlgorithm::RS256),
            AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P256 => {
                (Algorithm::ES256, KeyAlgorithm::ES256)
            }
            _ => return None,
        };
        let signs = jwk.common.public_key_use.as_ref().is_none_or(|one| *one == PublicKeyUse::Signature);
        let has_algorithm = jwk.common.key_algorithm.is_none_or(|one| one == name);
        let key = DecodingKey::from_jwk(&jwk).ok().filter(|_| signs && has_algorithm)?;
        Some(Self { id: jwk.common.key_id, algorithm, key })
    }
}

/// Returns the URL of the configuration document of an issuer (OpenID Connect Discovery 1.0, section 4).
pub fn configuration_url(issuer: &str) -> String {
    format!("{}/.well-known/openid-configuration", issuer.strip_suffix('/').unwrap_or(issuer))
}

/// Returns the URL of the key set that the configuration document of an issuer names. Returns `None` if the document
/// is malformed, or is that of another issuer (OpenID Connect Discovery 1.0, section 4.3).
pub fn key_set_url(document: &[u8], issuer: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Configuration {
        issuer: String,
        jwks_uri: String,
    }
    let configuration: Configuration = serde_json::from_slice(document).ok()?;
    (configuration.issuer == issuer).then_some(configuration.jwks_uri)
}

#[cfg(test)]
mod tests;
