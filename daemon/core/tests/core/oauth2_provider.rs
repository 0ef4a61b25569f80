//! A provider of OAuth 2.0 in memory, and the issuer of the service's own ID tokens.

use std::cell::RefCell;
use std::sync::Arc;

use quorate_common::bundle::quorum_signature;
use quorate_core::error::{Corrupt, Intent, RequestError};
use quorate_core::oauth2::{Exchange, Oauth2User};
use quorate_core::world::TokenIssuer;
use zeroize::Zeroizing;

use crate::id_tokens::{self, OWN_ISSUER, OWN_KEY};

/// A client secret, encrypted to the service by `encryptOauth2ClientSecret` of @turnkey/crypto 2.13.2.
pub(crate) const ENVELOPE: &str = "aef5415ed6ed8cb729b3301f04d86c994063dc41eb78f565c11fb5e00c86567cbf4371ce7527281abf7551becf52e0b981adc91a37cf113955b680a9a534c60166d0b7f8c5b789235fd8c6899f20000000431494c86a7d7aa9c5ad3175cf28c83925d6754238eef9057185ff9c802347bc";
/// The client secret in it.
const CLIENT_SECRET: &str = "client secret ü";
/// Secret key to which it is encrypted.
pub(crate) const ENCRYPTION_KEY: [u8; 32] = [0x11; 32];
/// Access token that the provider issues.
pub(crate) const BEARER_TOKEN: &str = "bearer token of the provider";
/// Id of the user at the provider.
pub(crate) const SUBJECT: &str = "1270562298";
/// Authorization code that the provider accepts.
pub(crate) const CODE: &str = "authorization code";
/// Code verifier that belongs to it.
pub(crate) const VERIFIER: &str = "verifier-of-the-code-of-at-least-43-characters.~";

/// The exchanges of a world in memory.
#[derive(Clone, Default)]
pub(crate) struct Provider {
    /// Whether the service is not configured for OAuth 2.0.
    pub(crate) is_off: bool,
    /// Whether the service ends after it claimed a code.
    pub(crate) ends_at_claim: bool,
    /// Exchange that the last attempt requested.
    pub(crate) requested: RefCell<Option<Exchange>>,
    /// Exchange that was made for the current request.
    pub(crate) made: Option<Exchange>,
    /// Codes that were exchanged, in order.
    pub(crate) codes: Vec<String>,
}

impl Provider {
    /// Returns the outcome of an exchange, as the world does.
    pub(crate) fn exchange(
        &self,
        exchange: Exchange,
        is_claimed: bool,
    ) -> Result<Arc<Oauth2User>, RequestError> {
        match &self.made {
            Some(made) if made.is_same(&exchange) => answer(made).map(Arc::new),
            _ if is_claimed => Err(Intent::Oauth2("the authorization code was used before").into()),
            _ => {
                self.requested.replace(Some(exchange));
                Err(Corrupt::Invariant("an authorization code is not exchanged").into())
            }
        }
    }
}

/// Returns what the provider answers.
fn answer(exchange: &Exchange) -> Result<Oauth2User, RequestError> {
    assert_eq!(exchange.client_secret.as_str(), CLIENT_SECRET);
    if exchange.code.as_str() != CODE || exchange.code_verifier.as_str() != VERIFIER {
        return Err(Intent::Oauth2("the provider rejected the authorization code").into());
    }
    let bearer_token = Zeroizing::new(BEARER_TOKEN.to_owned());
    Ok(Oauth2User { subject: SUBJECT.to_owned(), bearer_token })
}

/// The issuer of the service's own ID tokens.
pub(crate) struct Issuer;

impl TokenIssuer for Issuer {
    fn url(&self) -> &'static str {
        OWN_ISSUER
    }

    fn key_id(&self) -> &'static str {
        "key 62"
    }

    fn sign(&self, statement: &[u8]) -> Result<Vec<u8>, Corrupt> {
        let (r, s) = id_tokens::signature(statement, OWN_KEY);
        quorum_signature(r, s).ok_or(Corrupt::Signature)
    }
}
