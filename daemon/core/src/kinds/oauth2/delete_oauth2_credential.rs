//! Deletes a credential at an OAuth 2.0 provider.

use quorate_common::ids::Oauth2CredentialId;

use crate::kinds::prelude::*;
use crate::model::Oauth2Credential;
use crate::params::oauth2::Oauth2CredentialResult;

/// Deletes a credential: users of its provider can no longer sign in through it.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    oauth2_credential_id: Oauth2CredentialId,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_OAUTH2_CREDENTIAL";
    const NUMBER: u16 = 100;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Delete, Resource::Auth));
    type Plan = ();
    type Outcome = Oauth2CredentialResult;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        view.collection_item::<Oauth2Credential>(self.oauth2_credential_id).map(drop)
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<Self::Outcome, RequestError> {
        context.change(Change::remove::<Oauth2Credential>(self.oauth2_credential_id));
        Ok(Oauth2CredentialResult { oauth2_credential_id: self.oauth2_credential_id })
    }
}
