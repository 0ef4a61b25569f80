//! Disables a private key: it is still listed, but can no longer sign or be exported.

use quorate_common::ids::PrivateKeyId;

use crate::kinds::prelude::*;
use crate::model::PrivateKey;

pub(in crate::kinds) struct DisablePrivateKey;

/// Disables a private key. It can then no longer sign or be exported.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    private_key_id: PrivateKeyId,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    private_key_id: PrivateKeyId,
}

impl Version for Intent {
    type Kind = DisablePrivateKey;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_DISABLE_PRIVATE_KEY";
    const NUMBER: u16 = 8;
    const RESULT: &'static str = "disablePrivateKeyResult";
}

impl Kind for DisablePrivateKey {
    const ACTS: Option<(Action, Resource)> = Some((Action::Delete, Resource::PrivateKey));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = PrivateKey;
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, PrivateKey), RequestError> {
        let key = view.private_key(intent.private_key_id)?.clone();
        // Without facts about the key: a policy that allows signing with it must not allow disabling it.
        Ok((Facts::default(), key))
    }

    fn execute(
        intent: Intent,
        key: PrivateKey,
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        context.change(Change::PutPrivateKey(PrivateKey { disabled: true, updated: context.now(), ..key }));
        Ok(Outcome { private_key_id: intent.private_key_id })
    }
}
