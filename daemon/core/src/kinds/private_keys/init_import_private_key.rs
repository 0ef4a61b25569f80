//! Creates an import key for a private key.

use quorate_common::ids::UserId;

use crate::bundles;
use crate::kinds::prelude::*;
use crate::model::Purpose;
use crate::params::keys::ImportBundle;

pub(in crate::kinds) struct InitImportPrivateKey;

/// Creates an import key: the caller can encrypt one private key to it and import it once, within 24 hours.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    user_id: UserId,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    import_bundle: ImportBundle,
}

impl Version for Intent {
    type Kind = InitImportPrivateKey;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_INIT_IMPORT_PRIVATE_KEY";
    const NUMBER: u16 = 60;
    const RESULT: &'static str = "initImportPrivateKeyResult";
}

impl Kind for InitImportPrivateKey {
    const ACTS: Option<(Action, Resource)> = Some((Action::Import, Resource::PrivateKey));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, ()), RequestError> {
        bundles::is_own(intent.user_id, view)?;
        Ok((Facts::default(), ()))
    }

    fn execute(_: Intent, (): (), context: &mut ExecutionContext<'_, '_>) -> Result<Outcome, RequestError> {
        bundles::evict_import_targets(Purpose::PrivateKey, 1, context)?;
        Ok(Outcome { import_bundle: ImportBundle::new(bundles::new_target(Purpose::PrivateKey, context)?) })
    }
}
