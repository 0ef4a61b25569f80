//! OAuth 2.0 as the executor and its worlds use it: the issuer of ID tokens, and the exchanges of codes.

use std::sync::Arc;

use quorate_core::error::Corrupt;
use quorate_core::id_token::IssuerKeys;
use quorate_core::world::TokenIssuer as _;

use crate::barrier::Barrier;
use crate::oauth2::{Exchanges, Oauth2Settings};
use crate::token_issuer::TokenIssuer;

/// OAuth 2.0 of a daemon that is configured for it.
pub struct Oauth2 {
    pub(super) issuer: TokenIssuer,
    pub(super) exchanges: Exchanges,
}

impl Oauth2 {
    /// Creates the issuer and the exchanges of these settings.
    ///
    /// # Errors
    /// Returns [`Corrupt::Invariant`] if the cryptographic libraries reject the key of the issuer.
    pub fn new(settings: Oauth2Settings, barrier: &Barrier) -> Result<Self, Corrupt> {
        let issuer = TokenIssuer::new(settings.issuer.clone(), barrier.vault(), settings.key_generation)?;
        Ok(Self { issuer, exchanges: Exchanges::new(settings) })
    }

    /// Returns the keys of the daemon's own issuer, if that is the issuer. They are never fetched, so no
    /// other server can claim to be this issuer.
    pub(super) fn own_keys(&self, issuer: &str) -> Option<Arc<IssuerKeys>> {
        (self.issuer.url() == issuer).then(|| self.issuer.keys())
    }
}
