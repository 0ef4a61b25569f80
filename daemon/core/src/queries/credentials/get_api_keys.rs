//! Returns the API keys of one user, or of all users.
//!
//! - `{"userId": "$user"}` is answered.
//! - `{}` is answered.
//! - `{"userId": "$unknown"}` is refused with 404: unable to find user $unknown in organization $organization

use crate::queries::prelude::*;

/// Returns the API keys of one user, or of all users.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct GetApiKeys {
    user_id: Option<UserId>,
}

impl Query for GetApiKeys {
    type Answer = Vec<wire::ApiKey>;

    fn answer(self, context: &QueryContext<'_>) -> Result<Vec<wire::ApiKey>, RequestError> {
        let users = super::users(context, self.user_id)?;
        Ok(users.flat_map(|user| user.api_keys.iter().map(ApiKey::wire)).collect())
    }
}
