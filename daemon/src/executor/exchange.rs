//! The exchange of an authorization code between two attempts at the same request.
//!
//! The first attempt decides that the request may exchange its code, and stops there. The code is then claimed durably,
//! exchanged, and the request is decided again with the outcome. A code that is claimed is never sent again: after a
//! crash its request fails.

use std::sync::Arc;

use quorate_common::api_error::ApiError;
use quorate_core::oauth2::Exchange;
use quorate_core::pipeline;

use super::tracking::{Dependencies, Loaded};
use super::{CommitError, Executor, Oauth2, commit_api_error};
use crate::fail_points;
use crate::oauth2::{Exchanged, Turn};
use crate::readers::Account;

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
        fail_points::reach("exchange.claim");
        match self.commit(pipeline::claim(&exchange, permitted_on)).await {
            Ok(()) => {}
            // The permit may have lost its basis, or the code was claimed. The next attempt shows which.
            Err(CommitError::Clash) => return Ok(()),
            Err(error) => return Err(commit_api_error(error)),
        }
        fail_points::reach("exchange.claimed");
        let outcome = exchanges.make(&exchange).await.map(Arc::new);
        fail_points::reach("exchange.made");
        loaded.exchanged = Some(Exchanged::new(exchange, outcome, in_progress));
        Ok(())
    }
}
