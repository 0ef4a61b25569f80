//! OAuth 2.0 as the executor uses it: the issuer of ID tokens, and the exchange of a code between two attempts at the
//! same request.
//!
//! The first attempt decides that the request may exchange its code, and stops there. The code is then claimed durably,
//! exchanged, and the request is decided again with the outcome. A code that is claimed is never sent again: after a
//! crash its request fails.

use std::sync::Arc;

use quorate_common::api_error::ApiError;
use quorate_core::error::{Corrupt, Intent, RequestError};
use quorate_core::id_token::IssuerKeys;
use quorate_core::oauth2::{Exchange, Oauth2User};
use quorate_core::pipeline;
use quorate_core::world::TokenIssuer as _;

use super::committer::CommitError;
use super::tracking::{Dependencies, Loaded};
use super::{Executor, commit_api_error};
use crate::barrier::Barrier;
use crate::oauth2::{Exchanges, InProgress, Oauth2Settings, Turn};
use crate::readers::Account;
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

    /// Returns the keys of the daemon's own issuer, if that is the issuer. They are never fetched, whoever else claims to
    /// be this issuer.
    pub(super) fn own_keys(&self, issuer: &str) -> Option<Arc<IssuerKeys>> {
        (self.issuer.url() == issuer).then(|| self.issuer.keys())
    }
}

/// An exchange that was made, with its outcome.
pub(super) struct Exchanged {
    exchange: Exchange,
    outcome: Result<Arc<Oauth2User>, &'static str>,
    /// Other requests with the same code wait until this one is answered.
    _in_progress: InProgress,
}

impl Exchanged {
    /// Returns the outcome, if it is one of this exchange.
    pub(super) fn outcome(&self, exchange: &Exchange) -> Result<Arc<Oauth2User>, RequestError> {
        if !self.exchange.is_same(exchange) {
            return Err(Intent::Oauth2("the credential was changed during the exchange").into());
        }
        self.outcome.clone().map_err(|reason| Intent::Oauth2(reason).into())
    }
}

impl Executor {
    /// Claims the code of an exchange and exchanges it, or waits for another request that does. The outcome is added to
    /// `loaded`.
    ///
    /// # Errors
    /// If too many exchanges are in progress, or the claim cannot be committed.
    pub(super) async fn exchange(
        &self,
        exchange: Exchange,
        permitted_on: &Dependencies,
        account: Account,
        loaded: &mut Loaded,
    ) -> Result<(), ApiError> {
        let Some(Oauth2 { exchanges, .. }) = self.shared.oauth2() else { return Ok(()) };
        let in_progress = match exchanges.begin(&exchange.claim, account)? {
            Turn::Own(in_progress) => in_progress,
            Turn::Other(mut ended) => {
                // The error means that the other request has ended.
                let _ = ended.changed().await;
                return Ok(());
            }
        };
        match self.commit(pipeline::claim(&exchange, permitted_on)).await {
            Ok(()) => {}
            // The permit may have lost its basis, or the code was claimed. The next attempt shows which.
            Err(CommitError::Clash) => return Ok(()),
            Err(error) => return Err(commit_api_error(error)),
        }
        let outcome = exchanges.make(&exchange).await.map(Arc::new);
        loaded.exchanged = Some(Exchanged { exchange, outcome, _in_progress: in_progress });
        Ok(())
    }
}
