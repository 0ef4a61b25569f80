//! Creates private keys that belong to no wallet.

use std::marker::PhantomData;

use crate::kinds::prelude::*;
use crate::make::private_key;
use crate::params::PrivateKeyParams;
use crate::params::keys::{PrivateKeyResult, PrivateKeysResult};

/// Creates private keys that belong to no wallet.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent<O> {
    #[serde(default)]
    private_keys: AtMost<PrivateKeyParams, BATCH>,
    #[serde(skip)]
    outcome: PhantomData<O>,
}

/// Version 1: the result contains only ids.
pub(in crate::kinds) type V1 = Intent<PrivateKeysResult>;
pub(in crate::kinds) type V2 = Intent<Keys>;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Keys {
    private_keys: AtMost<PrivateKeyResult, BATCH>,
}

impl Version for V1 {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_PRIVATE_KEYS";
    const NUMBER: u16 = 3;
}

impl Version for V2 {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2";
    const NUMBER: u16 = 40;
}

impl From<Vec<PrivateKeyResult>> for PrivateKeysResult {
    fn from(keys: Vec<PrivateKeyResult>) -> Self {
        Self { private_key_ids: AtMost::cut(keys.iter().map(|key| key.private_key_id).collect()) }
    }
}

impl From<Vec<PrivateKeyResult>> for Keys {
    fn from(keys: Vec<PrivateKeyResult>) -> Self {
        Self { private_keys: AtMost::cut(keys) }
    }
}

impl<O: From<Vec<PrivateKeyResult>> + Serialize + JsonSchema + 'static> Kind for Intent<O> {
    const ACTS: Acts = Some((Action::Create, Resource::PrivateKey));
    type Plan = ();
    type Outcome = O;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        let keys = &self.private_keys;
        not_empty(keys, "privateKeys")?;
        private_key::check(keys)?;
        for key in keys {
            view.name_is_free(|present: &PrivateKey| present.name == key.private_key_name)?;
            distinct(key.private_key_tags.iter(), "privateKeyTags")?;
            view.tags_exist(&key.private_key_tags, TagKind::PrivateKey)?;
        }
        view.check_room::<PrivateKey>(keys.len())
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<O, RequestError> {
        let mut results = Vec::with_capacity(self.private_keys.len());
        for params in self.private_keys {
            let (changes, result) = private_key::private_key(params, context)?;
            context.change_all(changes);
            results.push(result);
        }
        Ok(results.into())
    }
}
