//! Returns one API key.
//!
//! - `{"apiKeyId": "$apiKey"}` is answered.
//! - `{"apiKeyId": "$unknown"}` is refused with 404: no api key found with ID $unknown

use crate::queries::prelude::*;

/// Returns one API key of any user.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct GetApiKey {
    api_key_id: ApiKeyId,
}

impl Query for GetApiKey {
    const COST: Cost = Cost::Small;
    type Answer = wire::ApiKey;

    fn answer(self, context: &QueryContext<'_>) -> Result<wire::ApiKey, RequestError> {
        let mut keys = context.organization.users().flat_map(|user| &user.api_keys);
        let key = keys.find(|key| key.id == self.api_key_id);
        Ok(key.ok_or(Missing::ApiKey(self.api_key_id))?.wire())
    }
}
