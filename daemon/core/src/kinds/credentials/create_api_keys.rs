//! Registers API keys of a user.

use quorate_common::ids::{ApiKeyId, UserId};

use crate::kinds::prelude::*;
use crate::make::user;
use crate::model::{ApiKey, Millis, User};
use crate::params::NewApiKey;
use crate::params::credential::ApiKeyParamsV2;
use crate::refusal::Limit;

pub(in crate::kinds) struct CreateApiKeys;

/// Registers API keys of a user.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    #[serde(default)]
    api_keys: AtMost<ApiKeyParamsV2, BATCH>,
    user_id: UserId,
}

/// The parameters in no version's names.
pub(in crate::kinds) struct NewKeys {
    keys: Vec<NewApiKey>,
    user: UserId,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    api_key_ids: AtMost<ApiKeyId, BATCH>,
}

impl Form for Intent {
    type Kind = CreateApiKeys;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_API_KEYS_V2";
    const NUMBER: u16 = 69;
    const RESULT: &'static str = "createApiKeysResult";
}

impl From<Intent> for NewKeys {
    fn from(intent: Intent) -> Self {
        Self { keys: intent.api_keys.into_iter().map(Into::into).collect(), user: intent.user_id }
    }
}

impl Kind for CreateApiKeys {
    const ACTS: Option<(Action, Resource)> = Some((Action::Create, Resource::Credential));
    const GATE: Gate = Gate::OwnCredential;
    type Intent = NewKeys;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(intent: &NewKeys, view: &View<'_>) -> Result<(Facts, ()), Refusal> {
        not_empty(&intent.keys, "apiKeys")?;
        user::check_api_keys(&intent.keys, Some(view.organization))?;
        let user = view.user(intent.user)?;
        let endless = |expiration: &Option<u64>| expiration.is_none();
        let held = user.api_keys.iter().filter(|key| endless(&key.expiration_seconds)).count();
        let more = intent.keys.iter().filter(|key| endless(&key.expiration_seconds)).count();
        let limits = view.limits();
        if held.saturating_add(more) > limits.long_lived_api_keys {
            return Err(Limit::LongLivedApiKeys.into());
        }
        if intent.keys.len().saturating_sub(more) > limits.expiring_api_keys {
            return Err(Limit::Count(
                "expiring API keys of a user",
                limits.expiring_api_keys,
                Some("expiring_api_keys"),
            )
            .into());
        }
        Ok((Facts::of_own_credentials(intent.user), ()))
    }

    fn own_credentials_of(intent: &NewKeys) -> Option<UserId> {
        Some(intent.user)
    }

    fn execute(intent: NewKeys, (): (), cx: &mut Cx<'_, '_>) -> Result<Outcome, Refusal> {
        let now = cx.now();
        let mut user: User = cx.user(intent.user)?.clone();
        let limit = cx.limits().expiring_api_keys;
        let mut ids = Vec::with_capacity(intent.keys.len());
        for new in intent.keys {
            if new.expiration_seconds.is_some() {
                make_room(&mut user.api_keys, limit, now);
            }
            let key = user::api_key(new, now, &mut || cx.random());
            ids.push(key.id);
            user.api_keys.push(key);
        }
        user.updated = now;
        cx.change(Change::PutUser(user));
        Ok(Outcome { api_key_ids: AtMost::cut(ids) })
    }
}

/// One more expiring key: expired ones go first, then the oldest.
fn make_room(keys: &mut Vec<ApiKey>, limit: usize, now: Millis) {
    let expiring = |keys: &[ApiKey]| keys.iter().filter(|key| key.expiration_seconds.is_some()).count();
    if expiring(keys) < limit {
        return;
    }
    keys.retain(|key| !key.is_expired(now));
    while expiring(keys) >= limit {
        let oldest = keys.iter().position(|key| key.expiration_seconds.is_some());
        let Some(oldest) = oldest else { return };
        keys.remove(oldest);
    }
}

/// First version: P-256 keys.
pub(in crate::kinds) mod v1 {
    use super::{
        AtMost, BATCH, CreateApiKeys, Deserialize, Form, JsonSchema, NewKeys, Outcome, Serialize, UserId,
    };
    use crate::params::credential::ApiKeyParams;

    /// Registers API keys of a user.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub(in crate::kinds) struct Intent {
        #[serde(default)]
        api_keys: AtMost<ApiKeyParams, BATCH>,
        user_id: UserId,
    }

    impl Form for Intent {
        type Kind = CreateApiKeys;
        type Outcome = Outcome;
        const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_API_KEYS";
        const NUMBER: u16 = 1;
        const RESULT: &'static str = "createApiKeysResult";
    }

    impl From<Intent> for NewKeys {
        fn from(intent: Intent) -> Self {
            Self { keys: intent.api_keys.into_iter().map(Into::into).collect(), user: intent.user_id }
        }
    }
}
