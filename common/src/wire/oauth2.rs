//! Credentials of applications at OAuth 2.0 providers, as queries return them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Timestamp;
use crate::ids::{Oauth2CredentialId, OrganizationId};

crate::wire_enum! {
    /// An OAuth 2.0 provider that issues no ID tokens of its own.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum Oauth2Provider {
        /// X.
        X = "OAUTH2_PROVIDER_X",
        /// Discord.
        Discord = "OAUTH2_PROVIDER_DISCORD",
    }
}

impl Oauth2Provider {
    /// Returns the name of the provider for people.
    pub const fn label(self) -> &'static str {
        match self {
            Self::X => "X",
            Self::Discord => "Discord",
        }
    }
}

/// Credential of an application at an OAuth 2.0 provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Oauth2Credential {
    /// Unique id of the credential.
    pub oauth2_credential_id: Oauth2CredentialId,
    /// Organization of the credential.
    pub organization_id: OrganizationId,
    /// Provider.
    pub provider: Oauth2Provider,
    /// Client id that the provider issued.
    pub client_id: String,
    /// Client secret as it was sent: encrypted to the service, and unreadable for everybody else.
    pub encrypted_client_secret: String,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
}
