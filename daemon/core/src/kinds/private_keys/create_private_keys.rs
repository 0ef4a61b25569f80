//! Creates private keys that belong to no wallet.

use quorate_common::ids::PrivateKeyId;

use crate::kinds::prelude::*;
use crate::make::private_key;
use crate::model::TagKind;
use crate::params::PrivateKeyParams;
use crate::params::keys::PrivateKeyResult;

pub(in crate::kinds) struct CreatePrivateKeys;

/// Creates private keys that belong to no wallet.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    #[serde(default)]
    private_keys: AtMost<PrivateKeyParams, BATCH>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    private_keys: AtMost<PrivateKeyResult, BATCH>,
}

impl Version for Intent {
    type Kind = CreatePrivateKeys;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2";
    const NUMBER: u16 = 40;
    const RESULT: &'static str = "createPrivateKeysResultV2";
}

impl Kind for CreatePrivateKeys {
    const ACTS: Option<(Action, Resource)> = Some((Action::Create, Resource::PrivateKey));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, ()), RequestError> {
        let keys = &intent.private_keys;
        not_empty(keys, "privateKeys")?;
        private_key::check(keys)?;
        for key in keys {
            view.private_key_name_is_free(&key.private_key_name)?;
            distinct(key.private_key_tags.iter(), "privateKeyTags")?;
            view.tags_exist(&key.private_key_tags, TagKind::PrivateKey)?;
        }
        let present = view.organization.private_keys().count();
        check_limit(present, keys.len(), view.limits().private_keys, "private keys", "private_keys")?;
        Ok((Facts::default(), ()))
    }

    fn execute(
        intent: Intent,
        (): (),
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        let mut results = Vec::with_capacity(intent.private_keys.len());
        for params in intent.private_keys {
            let (changes, result) = private_key::private_key(params, context)?;
            context.change_all(changes);
            results.push(result);
        }
        Ok(Outcome { private_keys: AtMost::cut(results) })
    }
}

/// Version 1: the same parameters; the result contains only ids.
pub(in crate::kinds) mod v1 {
    use super::{
        AtMost, BATCH, CreatePrivateKeys, Deserialize, JsonSchema, PrivateKeyId, PrivateKeyParams, Serialize,
        Version,
    };

    /// Creates private keys that belong to no wallet.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub(in crate::kinds) struct Intent {
        #[serde(default)]
        private_keys: AtMost<PrivateKeyParams, BATCH>,
    }

    #[derive(Serialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    pub(in crate::kinds) struct Outcome {
        private_key_ids: AtMost<PrivateKeyId, BATCH>,
    }

    impl Version for Intent {
        type Kind = CreatePrivateKeys;
        type Outcome = Outcome;
        const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_PRIVATE_KEYS";
        const NUMBER: u16 = 3;
        const RESULT: &'static str = "createPrivateKeysResult";
    }

    impl From<Intent> for super::Intent {
        fn from(intent: Intent) -> Self {
            Self { private_keys: intent.private_keys }
        }
    }

    impl From<super::Outcome> for Outcome {
        fn from(outcome: super::Outcome) -> Self {
            let ids = outcome.private_keys.iter().map(|key| key.private_key_id);
            Self { private_key_ids: AtMost::cut(ids.collect()) }
        }
    }
}
