//! Makes a key that a wallet can be imported to.

use quorate_common::ids::UserId;

use crate::bundles;
use crate::kinds::prelude::*;
use crate::model::Purpose;
use crate::params::keys::ImportBundle;

pub(in crate::kinds) struct InitImportWallet;

/// Makes a key that the caller can import a wallet to, once, within 24 hours.
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

impl Form for Intent {
    type Kind = InitImportWallet;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_INIT_IMPORT_WALLET";
    const NUMBER: u16 = 58;
    const RESULT: &'static str = "initImportWalletResult";
}

impl Kind for InitImportWallet {
    const ACTS: Option<(Action, Resource)> = Some((Action::Import, Resource::Wallet));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, ()), Refusal> {
        bundles::is_own(intent.user_id, view)?;
        Ok((Facts::default(), ()))
    }

    fn execute(_: Intent, (): (), cx: &mut Cx<'_, '_>) -> Result<Outcome, Refusal> {
        bundles::make_room(Purpose::Wallet, 1, cx)?;
        Ok(Outcome { import_bundle: ImportBundle::new(bundles::new_target(Purpose::Wallet, cx)?) })
    }
}
