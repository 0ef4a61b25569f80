//! Renames an account of a wallet.

use quorate_common::ids::WalletAccountId;

use crate::kinds::prelude::*;
use crate::model::WalletAccount;

pub(in crate::kinds) struct UpdateWalletAccountName;

/// Renames an account of a wallet.
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

impl Version for Intent {
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

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, WalletAccount), RequestError> {
        let account = view.wallet_account(intent.wallet_account_id)?;
        if account.name.as_ref() != Some(&intent.name) {
            view.account_name_is_free(&intent.name)?;
        }
        Ok((Facts::of_each(view.organization.wallet(account.wallet)), account))
    }

    fn execute(
        intent: Intent,
        account: WalletAccount,
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        context.change(Change::RenameAccount(account, intent.name));
        Ok(Outcome { wallet_account_id: intent.wallet_account_id })
    }
}
