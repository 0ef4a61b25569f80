//! Returns the OAuth identities of one user, or of all users.
//!
//! - `{"userId": "$user"}` is answered.
//! - `{}` is answered.
//! - `{"userId": "$unknown"}` is refused with 404: unable to find user $unknown in organization $organization

use crate::queries::prelude::*;

/// Returns the OAuth identities of one user, or of all users.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct GetOauthProviders {
    user_id: Option<UserId>,
}

impl Query for GetOauthProviders {
    type Answer = Vec<wire::OauthProvider>;

    fn answer(self, context: &QueryContext<'_>) -> Result<Vec<wire::OauthProvider>, RequestError> {
        let users = super::users(context, self.user_id)?;
        Ok(users.flat_map(|user| user.oauth_providers.iter().map(OauthProvider::wire)).collect())
    }
}
