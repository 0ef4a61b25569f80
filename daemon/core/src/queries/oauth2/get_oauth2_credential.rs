//! Returns one credential of an OAuth 2.0 provider.
//!
//! - `{"oauth2CredentialId": "$oauth2Credential"}` is answered.
//! - `{"oauth2CredentialId": "$unknown"}` is refused with 404: no oauth2 credential found with the given ID

use quorate_common::ids::Oauth2CredentialId;

use crate::model::Oauth2Credential;
use crate::model::record::Record as _;
use crate::queries::prelude::*;

/// Returns one OAuth 2.0 credential of the organization. Its client secret stays encrypted to the service.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct GetOauth2Credential {
    oauth2_credential_id: Oauth2CredentialId,
}

impl Query for GetOauth2Credential {
    const COST: Cost = Cost::Small;
    type Answer = wire::Oauth2Credential;

    fn answer(self, context: &QueryContext<'_>) -> Result<wire::Oauth2Credential, RequestError> {
        let found = context.organization.records.oauth2_credentials.get(self.oauth2_credential_id);
        Ok(found.ok_or(Missing::Other(Oauth2Credential::NOUN))?.wire(context.id()))
    }
}
