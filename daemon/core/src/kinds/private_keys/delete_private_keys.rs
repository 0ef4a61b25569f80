//! Deletes private keys and their secrets.

use quorate_common::ids::PrivateKeyId;

use crate::kinds::prelude::*;

pub(in crate::kinds) struct DeletePrivateKeys;

/// Deletes private keys and their secrets.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    #[serde(default)]
    private_key_ids: AtMost<PrivateKeyId, BATCH>,
    /// If true, also deletes keys that were never exported and may have no copy elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    delete_without_export: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    private_key_ids: AtMost<PrivateKeyId, BATCH>,
}

impl Version for Intent {
    type Kind = DeletePrivateKeys;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_PRIVATE_KEYS";
    const NUMBER: u16 = 73;
    const RESULT: &'static str = "deletePrivateKeysResult";
}

impl Kind for DeletePrivateKeys {
    const ACTS: Option<(Action, Resource)> = Some((Action::Delete, Resource::PrivateKey));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, ()), RequestError> {
        not_empty(&intent.private_key_ids, "privateKeyIds")?;
        distinct(intent.private_key_ids.iter(), "privateKeyIds")?;
        for id in &intent.private_key_ids {
            if !view.private_key(*id)?.exported && intent.delete_without_export != Some(true) {
                return Err(Wrong::Text("private key has not been exported").into());
            }
        }
        // Without facts about the key: a policy that allows signing with it must not allow deleting it.
        Ok((Facts::default(), ()))
    }

    fn execute(
        intent: Intent,
        (): (),
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        for id in &intent.private_key_ids {
            context.change(Change::RemovePrivateKey(*id));
        }
        Ok(Outcome { private_key_ids: intent.private_key_ids })
    }
}
