//! The credentials file of a dev organization: how tests, tools and the console reach it.

use quorate_common::ids::{ApiKeyId, OrganizationId, UserId};
use quorate_common::stamp::{ApiKeyCurve, Stamper};
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, Zeroizing};

use crate::service::StartError;

/// How to reach a dev organization. Holds private keys: mode 0600, dev only.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Credentials {
    pub(super) base_url: String,
    pub(super) socket: String,
    pub(super) organization_id: OrganizationId,
    pub(super) organization_name: String,
    pub(super) threshold: u32,
    pub(super) root_users: Vec<RootUser>,
    pub(super) quorum_public_key: String,
}

/// A root user of a dev organization, with the private key.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RootUser {
    pub(super) user_id: UserId,
    pub(super) user_name: String,
    pub(super) user_email: String,
    pub(super) api_key_id: ApiKeyId,
    pub(super) public_key: String,
    pub(super) private_key: String,
}

impl Drop for RootUser {
    fn drop(&mut self) {
        self.private_key.zeroize();
    }
}

impl RootUser {
    /// Stamps as this user.
    pub(super) fn stamper(&self) -> Result<Stamper, StartError> {
        let flaw = || StartError::Other(format!("the key of {} is damaged", self.user_name));
        let mut secret = Zeroizing::new([0; 32]);
        const_hex::decode_to_slice(self.private_key.as_str(), secret.as_mut_slice()).map_err(|_| flaw())?;
        Stamper::new(ApiKeyCurve::P256, &secret).map_err(|_| flaw())
    }
}
