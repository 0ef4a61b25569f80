//! Renames a wallet.

use quorate_common::ids::WalletId;

use crate::kinds::prelude::*;
use crate::model::Wallet;

pub(in crate::kinds) struct UpdateWallet;

/// Renames a wallet.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    wallet_id: WalletId,
    /// New name of the wallet. If absent, the wallet keeps its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    wallet_name: Option<Label>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    wallet_id: WalletId,
}

impl Version for Intent {
    type Kind = UpdateWallet;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_UPDATE_WALLET";
    const NUMBER: u16 = 80;
    const RESULT: &'static str = "updateWalletResult";
}

impl Kind for UpdateWallet {
    const ACTS: Option<(Action, Resource)> = Some((Action::Update, Resource::Wallet));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = Wallet;
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, Wallet), RequestError> {
        let wallet = view.wallet(intent.wallet_id)?.clone();
        if let Some(name) = intent.wallet_name.as_ref().filter(|name| **name != wallet.name) {
            view.wallet_name_is_free(name)?;
        }
        Ok((Facts::of_each([&wallet]), wallet))
    }

    fn execute(
        intent: Intent,
        mut wallet: Wallet,
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        let wallet_id = wallet.id;
        if let Some(name) = intent.wallet_name {
            wallet.name = name;
            wallet.updated = context.now();
            context.change(Change::PutWallet(wallet));
        }
        Ok(Outcome { wallet_id })
    }
}
