//! Credentials of applications at OAuth 2.0 providers.

use quorate_common::ids::{Oauth2CredentialId, OrganizationId};
use quorate_common::wire::{self, Oauth2Provider, Timestamp};
use serde::{Deserialize, Serialize};

use super::Millis;

/// A credential of an application. Its client secret stays encrypted to the service, and is decrypted for each use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Oauth2Credential {
    /// Id.
    pub id: Oauth2CredentialId,
    /// Provider.
    pub provider: Oauth2Provider,
    /// Client id that the provider issued.
    pub client_id: String,
    /// Envelope with the client secret, in lowercase hex.
    pub encrypted_client_secret: String,
    /// Time of creation.
    pub created: Millis,
    /// Time of the last change.
    pub updated: Millis,
}

impl Oauth2Credential {
    /// Converts to the wire form.
    pub fn wire(&self, organization: OrganizationId) -> wire::Oauth2Credential {
        wire::Oauth2Credential {
            oauth2_credential_id: self.id,
            organization_id: organization,
            provider: self.provider,
            client_id: self.client_id.clone(),
            encrypted_client_secret: self.encrypted_client_secret.clone(),
            created_at: Timestamp::from_millis(self.created),
            updated_at: Timestamp::from_millis(self.updated),
        }
    }
}
