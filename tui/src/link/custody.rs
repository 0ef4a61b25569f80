//! Requests about the seal of the daemon. A sealed daemon answers them too.

use quorate_common::console::custody::{SealStatus, ShareOutcome};
use quorate_common::share::GivenShare;

use super::client::Client;
use super::error::{LinkError, Result};

impl Client {
    /// Queries whether the store is open, and what opens it.
    pub(crate) async fn seal_status(&self) -> Result<SealStatus> {
        self.read("/console/v1/seal").await
    }

    /// Gives a share to the daemon.
    pub(crate) async fn give_share(&self, given: &GivenShare) -> Result<ShareOutcome> {
        let body = serde_json::to_vec(given).map_err(|error| LinkError::Unreadable(error.to_string()))?;
        self.act("/console/v1/unseal", body).await
    }
}
