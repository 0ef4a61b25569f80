//! Deletes API keys of a user. The deletion is final once acknowledged: no later request with such a key
//! succeeds.

use crate::kinds::prelude::*;
use crate::make::{credential, user};
use crate::params::credential::ApiKeysResult;

/// Deletes API keys of a user.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    user_id: UserId,
    #[serde(default)]
    api_key_ids: AtMost<ApiKeyId, BATCH>,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_API_KEYS";
    const NUMBER: u16 = 10;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Delete, Resource::Credential));
    const GATE: Gate = Gate::OwnCredential;
    type Plan = User;
    type Outcome = ApiKeysResult;

    fn rules(&self, view: &View<'_>) -> Result<User, RequestError> {
        let mut user = view.user(self.user_id)?.clone();
        let sessions: Vec<ApiKeyId> =
            user.api_keys.iter().filter(|key| key.is_session()).map(|key| key.id).collect();
        let (keys, ids) = (&mut user.api_keys, &self.api_key_ids);
        credential::remove_credentials(keys, ids, "apiKeyIds", |key| key.id, Missing::ApiKey)?;
        // Sessions end by themselves, so that a user without another key may end the last one.
        if !ids.iter().all(|id| sessions.contains(id)) {
            user::check_remaining_access(&user, view.organization)?;
        }
        Ok(user)
    }

    fn own_credentials_of(&self, _: &View<'_>) -> Option<UserId> {
        Some(self.user_id)
    }

    fn execute(self, user: User, context: &mut Execution<'_>) -> Result<ApiKeysResult, RequestError> {
        context.update_user(user);
        Ok(ApiKeysResult { api_key_ids: self.api_key_ids })
    }
}
