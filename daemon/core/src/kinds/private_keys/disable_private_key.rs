//! Disables a private key: it stays listed and neither signs nor leaves any more.

use quorate_common::ids::PrivateKeyId;

use crate::kinds::prelude::*;
use crate::model::PrivateKey;

pub(in crate::kinds) struct DisablePrivateKey;

/// Disables a private key, which then signs no more.
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

impl Form for Intent {
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

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, PrivateKey), Refusal> {
        let key = view.private_key(intent.private_key_id)?.clone();
        // A policy about signing with a key must not reach as far as its end.
        Ok((Facts::default(), key))
    }

    fn execute(intent: Intent, key: PrivateKey, cx: &mut Cx<'_, '_>) -> Result<Outcome, Refusal> {
        cx.change(Change::PutPrivateKey(PrivateKey { disabled: true, updated: cx.now(), ..key }));
        Ok(Outcome { private_key_id: intent.private_key_id })
    }
}
