//! Replaces provider, client id and client secret of a credential at an OAuth 2.0 provider.

use quorate_common::ids::Oauth2CredentialId;
use quorate_common::wire::Oauth2Provider;

use crate::kinds::prelude::*;
use crate::make::oauth2;
use crate::model::Oauth2Credential;
use crate::params::oauth2::{CLIENT_ID, ENVELOPE, Oauth2CredentialResult};

/// Replaces the provider, the client id and the client secret of a credential.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    oauth2_credential_id: Oauth2CredentialId,
    provider: Oauth2Provider,
    client_id: Text<CLIENT_ID>,
    /// Client secret, encrypted to the first half of `quorumPublicKeys`.
    encrypted_client_secret: Text<ENVELOPE>,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_UPDATE_OAUTH2_CREDENTIAL";
    const NUMBER: u16 = 99;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Update, Resource::Auth));
    type Plan = Oauth2Credential;
    type Outcome = Oauth2CredentialResult;

    fn rules(&self, view: &View<'_>) -> Result<Oauth2Credential, RequestError> {
        oauth2::check(self.provider, self.client_id.as_str(), self.encrypted_client_secret.as_str(), view)?;
        view.collection_item::<Oauth2Credential>(self.oauth2_credential_id).cloned()
    }

    fn execute(
        self,
        old: Oauth2Credential,
        context: &mut Execution<'_>,
    ) -> Result<Self::Outcome, RequestError> {
        context.change(Change::put(Oauth2Credential {
            provider: self.provider,
            client_id: self.client_id.into_string(),
            encrypted_client_secret: self.encrypted_client_secret.into_string(),
            updated: context.now(),
            ..old
        }));
        Ok(Oauth2CredentialResult { oauth2_credential_id: self.oauth2_credential_id })
    }
}
