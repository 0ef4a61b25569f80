//! Lists the credentials of OAuth 2.0 providers.
//!
//! - `{}` is answered.
//! - `{"organizationId": "$unknown"}` is refused with 404: no organization found with the given ID

use crate::model::Oauth2Credential;
use crate::queries::prelude::*;

/// Returns all OAuth 2.0 credentials of the organization, oldest first. Client secrets stay encrypted to the service.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ListOauth2Credentials {}

impl Query for ListOauth2Credentials {
    type Answer = Vec<wire::Oauth2Credential>;

    fn answer(self, context: &QueryContext<'_>) -> Result<Vec<wire::Oauth2Credential>, RequestError> {
        let credentials = context.organization.records.oauth2_credentials.iter();
        let created = |credential: &&Oauth2Credential| (credential.created, credential.id);
        Ok(oldest_first(credentials, created, |credential| credential.wire(context.id())))
    }
}
