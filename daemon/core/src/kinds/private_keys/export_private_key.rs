//! Exports a private key, encrypted to one key.

use quorate_common::bundle::TargetPublicKey;

use crate::bundles::{self, ServiceKeys};
use crate::kinds::prelude::*;
use crate::params::keys::ExportBundle;

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
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_EXPORT_PRIVATE_KEY";
    const NUMBER: u16 = 53;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Export, Resource::PrivateKey));
    type Plan = (PrivateKey, TargetPublicKey);
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<Self::Plan, RequestError> {
        let key = view.private_key(self.private_key_id)?;
        if key.disabled {
            return Err(Wrong::Text("private key is disabled").into());
        }
        let target = ServiceKeys::of(view)?.export_target(self.target_public_key.as_str())?;
        Ok((key.clone(), target))
    }

    fn facts(&self, (key, _): &Self::Plan, _: &View<'_>) -> Result<Facts, RequestError> {
        Ok(Facts::of_private_key(key))
    }

    fn execute(self, plan: Self::Plan, context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        let (key, target) = plan;
        let secret = context.records().private_key_secret(&key)?;
        let bundle = bundles::export(&target, secret.to_bytes().as_slice(), context)?;
        let now = context.now();
        context.change(Change::put(PrivateKey { exported: true, updated: now, ..key }));
        let export_bundle = ExportBundle::new(bundle);
        Ok(Outcome { private_key_id: self.private_key_id, export_bundle })
    }
}
