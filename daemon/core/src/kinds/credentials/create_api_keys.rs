//! Registers API keys for a user.

use crate::error::Limit;
use crate::kinds::prelude::*;
use crate::make::credential;
use crate::model::user::KeySource;
use crate::params::NewApiKey;
use crate::params::credential::{ApiKeyParams, ApiKeyParamsV2, ApiKeysResult};

/// Registers API keys for a user.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound(deserialize = "K: Deserialize<'de>"))]
pub(in crate::kinds) struct Intent<K: Serialize> {
    #[serde(default)]
    api_keys: AtMost<K, BATCH>,
    user_id: UserId,
}

/// Version 1: P-256 keys only.
pub(in crate::kinds) type V1 = Intent<ApiKeyParams>;
pub(in crate::kinds) type V2 = Intent<ApiKeyParamsV2>;

/// The version-independent parameters.
pub(in crate::kinds) struct Request {
    keys: Vec<NewApiKey>,
    user: UserId,
}

impl Version for V1 {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_API_KEYS";
    const NUMBER: u16 = 1;
}

impl Version for V2 {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_API_KEYS_V2";
    const NUMBER: u16 = 69;
    const RESULT: Option<&'static str> = Some("createApiKeysResult");
}

impl<K: Serialize + Into<NewApiKey>> From<Intent<K>> for Request {
    fn from(intent: Intent<K>) -> Self {
        Self { keys: intent.api_keys.into_iter().map(Into::into).collect(), user: intent.user_id }
    }
}

impl Kind for Request {
    const ACTS: Acts = Some((Action::Create, Resource::Credential));
    const GATE: Gate = Gate::OwnCredential;
    type Plan = ();
    type Outcome = ApiKeysResult;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        not_empty(&self.keys, "apiKeys")?;
        credential::check_api_keys(&self.keys, Some(view.organization))?;
        let user = view.user(self.user)?;
        let never_expires = |expiration: &Option<u64>| expiration.is_none();
        let existing = user.api_keys.iter().filter(|key| never_expires(&key.expiration_seconds)).count();
        let added = self.keys.iter().filter(|key| never_expires(&key.expiration_seconds)).count();
        let limits = view.limits();
        if existing.saturating_add(added) > limits.long_lived_api_keys {
            return Err(Limit::LongLivedApiKeys.into());
        }
        let expiring = self.keys.len().saturating_sub(added);
        check_limit(0, expiring, limits.expiring_api_keys, "expiring API keys per user", "expiring_api_keys")
    }

    fn own_credentials_of(&self, _: &View<'_>) -> Option<UserId> {
        Some(self.user)
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<ApiKeysResult, RequestError> {
        let now = context.now();
        let mut user = context.user(self.user)?.clone();
        let limit = context.limits().expiring_api_keys;
        let mut ids = Vec::with_capacity(self.keys.len());
        for new in self.keys {
            if new.expiration_seconds.is_some() {
                credential::make_room(&mut user.api_keys, KeySource::Registration, limit, now);
            }
            let key = credential::api_key(new, now, &mut || context.random());
            ids.push(key.id);
            user.api_keys.push(key);
        }
        context.update_user(user);
        Ok(ApiKeysResult { api_key_ids: AtMost::cut(ids) })
    }
}
