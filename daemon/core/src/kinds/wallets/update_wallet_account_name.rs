//! Names an account of a wallet.

use quorate_common::ids::WalletAccountId;

use crate::kinds::prelude::*;
use crate::model::WalletAccount;

pub(in crate::kinds) struct UpdateWalletAccountName;

/// Gives an account of a wallet another name.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    wallet_account_id: WalletAccountId,
    name: Label,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    wallet_account_id: WalletAccountId,
}

impl Form for Intent {
    type Kind = UpdateWalletAccountName;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_UPDATE_WALLET_ACCOUNT_NAME";
    const NUMBER: u16 = 158;
    const RESULT: &'static str = "updateWalletAccountNameResult";
}

impl Kind for UpdateWalletAccountName {
    const ACTS: Option<(Action, Resource)> = Some((Action::Update, Resource::Wallet));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = WalletAccount;
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, WalletAccount), Refusal> {
        let account = view.wallet_account(intent.wallet_account_id)?;
        if account.name.as_ref() != Some(&intent.name) {
            view.account_name_is_free(&intent.name)?;
        }
        Ok((Facts::of_each(view.organization.wallet(account.wallet)), account))
    }

    fn execute(intent: Intent, account: WalletAccount, cx: &mut Cx<'_, '_>) -> Result<Outcome, Refusal> {
        cx.change(Change::RenameAccount(account, intent.name));
        Ok(Outcome { wallet_account_id: intent.wallet_account_id })
    }
}
