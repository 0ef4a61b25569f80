//! What a kind sees of OAuth 2.0: the issuer of ID tokens, and the exchange of codes.

use std::sync::Arc;

use super::View;
use crate::error::{Corrupt, RequestError};
use crate::model::layout::{Key, sign_in};
use crate::oauth2::{Exchange, Oauth2User};

impl View<'_> {
    /// Returns the key of the record that claims an authorization code in the organization.
    pub fn code_claim(&self, code: &str) -> Key {
        sign_in::exchange(self.world.index(), self.organization.id(), code)
    }

    /// Returns the user whom an exchange identified, as [`World::exchange`](crate::world::World::exchange) does.
    ///
    /// # Errors
    /// If the code cannot be exchanged, or the store cannot be read.
    pub fn exchange(&self, exchange: Exchange) -> Result<Arc<Oauth2User>, RequestError> {
        if exchange.claim != self.code_claim(&exchange.code) {
            return Err(Corrupt::Invariant("a code is claimed under another key").into());
        }
        let is_claimed = self.world.records().read(&exchange.claim)?.is_some();
        self.world.exchange(exchange, is_claimed)
    }
}
