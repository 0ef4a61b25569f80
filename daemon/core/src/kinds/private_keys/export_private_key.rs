//! Exports a private key, encrypted to one key.

use quorate_common::bounded::Text;
use quorate_common::bundle::TargetPublicKey;
use quorate_common::ids::PrivateKeyId;

use crate::bundles::{self, OwnKeys};
use crate::kinds::prelude::*;
use crate::model::PrivateKey;
use crate::params::keys::ExportBundle;

pub(in crate::kinds) struct ExportPrivateKey;

/// Exports a private key (32 bytes), encrypted to the target key.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    private_key_id: PrivateKeyId,
    target_public_key: Text<130>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    private_key_id: PrivateKeyId,
    export_bundle: ExportBundle,
}

impl Version for Intent {
    type Kind = ExportPrivateKey;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_EXPORT_PRIVATE_KEY";
    const NUMBER: u16 = 53;
    const RESULT: &'static str = "exportPrivateKeyResult";
}

impl Kind for ExportPrivateKey {
    const ACTS: Option<(Action, Resource)> = Some((Action::Export, Resource::PrivateKey));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = (PrivateKey, TargetPublicKey);
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, Self::Plan), RequestError> {
        let key = view.private_key(intent.private_key_id)?;
        if key.disabled {
            return Err(Wrong::Text("private key is disabled").into());
        }
        let target = OwnKeys::of(view)?.export_target(intent.target_public_key.as_str())?;
        Ok((Facts::of_private_key(key), (key.clone(), target)))
    }

    fn execute(
        intent: Intent,
        (key, target): Self::Plan,
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        let secret = context.records().private_key_secret(&key)?;
        let bundle = bundles::export(&target, secret.to_bytes().as_slice(), context)?;
        let now = context.now();
        context.change(Change::PutPrivateKey(PrivateKey { exported: true, updated: now, ..key }));
        let export_bundle = ExportBundle::new(bundle);
        Ok(Outcome { private_key_id: intent.private_key_id, export_bundle })
    }
}
