//! Registers API keys for a user.

use quorate_common::ids::{ApiKeyId, UserId};

use crate::error::Limit;
use crate::kinds::prelude::*;
use crate::make::user;
use crate::model::{ApiKey, Millis, User};
use crate::params::NewApiKey;
use crate::params::credential::ApiKeyParamsV2;

pub(in crate::kinds) struct CreateApiKeys;

/// Registers API keys for a user.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    #[serde(default)]
    api_keys: AtMost<ApiKeyParamsV2, BATCH>,
    user_id: UserId,
}

/// The version-independent parameters.
pub(in crate::kinds) struct NewKeys {
    keys: Vec<NewApiKey>,
    user: UserId,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    api_key_ids: AtMost<ApiKeyId, BATCH>,
}

impl Version for Intent {
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

    fn rules(intent: &NewKeys, view: &View<'_>) -> Result<(Facts, ()), RequestError> {
        not_empty(&intent.keys, "apiKeys")?;
        user::check_api_keys(&intent.keys, Some(view.organization))?;
        let user = view.user(intent.user)?;
        let never_expires = |expiration: &Option<u64>| expiration.is_none();
        let existing = user.api_keys.iter().filter(|key| never_expires(&key.expiration_seconds)).count();
        let added = intent.keys.iter().filter(|key| never_expires(&key.expiration_seconds)).count();
        let limits = view.limits();
        if existing.saturating_add(added) > limits.long_lived_api_keys {
            return Err(Limit::LongLivedApiKeys.into());
        }
        if intent.keys.len().saturating_sub(added) > limits.expiring_api_keys {
            return Err(Limit::Count(
                "expiring API keys per user",
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

    fn execute(
        intent: NewKeys,
        (): (),
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        let now = context.now();
        let mut user: User = context.user(intent.user)?.clone();
        let limit = context.limits().expiring_api_keys;
        let mut ids = Vec::with_capacity(intent.keys.len());
        for new in intent.keys {
            if new.expiration_seconds.is_some() {
                make_room(&mut user.api_keys, limit, now);
            }
            let key = user::api_key(new, now, &mut || context.random());
            ids.push(key.id);
            user.api_keys.push(key);
        }
        user.updated = now;
        context.change(Change::PutUser(user));
        Ok(Outcome { api_key_ids: AtMost::cut(ids) })
    }
}

/// Evicts keys until one more expiring key fits: expired keys first, then the oldest ones.
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

/// Version 1: P-256 keys only.
pub(in crate::kinds) mod v1 {
    use super::{
        AtMost, BATCH, CreateApiKeys, Deserialize, JsonSchema, NewKeys, Outcome, Serialize, UserId, Version,
    };
    use crate::params::credential::ApiKeyParams;

    /// Registers API keys for a user.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub(in crate::kinds) struct Intent {
        #[serde(default)]
        api_keys: AtMost<ApiKeyParams, BATCH>,
        user_id: UserId,
    }

    impl Version for Intent {
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
