//! The credentials file of a dev organization, with which tests, tools and the console connect to it.

use quorate_common::ids::{ApiKeyId, OrganizationId, UserId};
use quorate_common::stamp::{ApiKeyCurve, Stamper};
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, Zeroizing};

use crate::service::StartError;

/// Addresses, ids and private keys of a dev organization. Its file has mode 0600; it exists in dev mode only.
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
    /// Returns a stamper that signs as this user.
    pub(super) fn stamper(&self) -> Result<Stamper, StartError> {
        let error = || StartError::Other(format!("the private key of user {} is damaged", self.user_name));
        let mut secret = Zeroizing::new([0; 32]);
        const_hex::decode_to_slice(self.private_key.as_str(), secret.as_mut_slice()).map_err(|_| error())?;
        Stamper::new(ApiKeyCurve::P256, &secret).map_err(|_| error())
    }
}
