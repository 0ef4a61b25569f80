//! Deletes API keys of a user. The deletion is final once acknowledged: no later request with such a key
//! succeeds.

use quorate_common::ids::{ApiKeyId, UserId};

use crate::kinds::prelude::*;
use crate::make::user;
use crate::model::User;

pub(in crate::kinds) struct DeleteApiKeys;

/// Deletes API keys of a user.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    user_id: UserId,
    #[serde(default)]
    api_key_ids: AtMost<ApiKeyId, BATCH>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    api_key_ids: AtMost<ApiKeyId, BATCH>,
}

impl Version for Intent {
    type Kind = DeleteApiKeys;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_API_KEYS";
    const NUMBER: u16 = 10;
    const RESULT: &'static str = "deleteApiKeysResult";
}

impl Kind for DeleteApiKeys {
    const ACTS: Option<(Action, Resource)> = Some((Action::Delete, Resource::Credential));
    const GATE: Gate = Gate::OwnCredential;
    type Intent = Intent;
    type Plan = User;
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, User), RequestError> {
        let mut user = view.user(intent.user_id)?.clone();
        let missing = |id: &ApiKeyId| Missing::ApiKey(*id);
        user::remove_credentials(
            &mut user.api_keys,
            &intent.api_key_ids,
            "apiKeyIds",
            |key| &key.id,
            missing,
        )?;
        user::check_remaining_access(&user, view.organization)?;
        Ok((Facts::of_own_credentials(intent.user_id), user))
    }

    fn own_credentials_of(intent: &Intent) -> Option<UserId> {
        Some(intent.user_id)
    }

    fn execute(
        intent: Intent,
        mut user: User,
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        user.updated = context.now();
        context.change(Change::PutUser(user));
        Ok(Outcome { api_key_ids: intent.api_key_ids })
    }
}
