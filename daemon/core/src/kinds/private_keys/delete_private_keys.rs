//! Deletes private keys and their secrets.

use crate::kinds::prelude::*;
use crate::params::keys::PrivateKeysResult;

/// Deletes private keys and their secrets.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    #[serde(default)]
    private_key_ids: AtMost<PrivateKeyId, BATCH>,
    /// If true, also deletes keys that were never exported and may have no copy elsewhere.
    delete_without_export: Option<bool>,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_PRIVATE_KEYS";
    const NUMBER: u16 = 73;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Delete, Resource::PrivateKey));
    type Plan = ();
    type Outcome = PrivateKeysResult;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        // Without facts about the key: a policy that allows signing with it must not allow deleting it.
        look_up_each(&self.private_key_ids, "privateKeyIds", |id| {
            let may_be_lost = !view.private_key(id)?.exported && self.delete_without_export != Some(true);
            if may_be_lost { Err(Wrong::Text("private key has not been exported").into()) } else { Ok(()) }
        })
        .map(drop)
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<PrivateKeysResult, RequestError> {
        context.change_all(self.private_key_ids.iter().copied().map(Change::remove::<PrivateKey>));
        Ok(PrivateKeysResult { private_key_ids: self.private_key_ids })
    }
}
