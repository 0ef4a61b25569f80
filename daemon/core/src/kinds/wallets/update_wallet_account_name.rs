//! Renames an account of a wallet.

use crate::kinds::prelude::*;

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
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_UPDATE_WALLET_ACCOUNT_NAME";
    const NUMBER: u16 = 158;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Update, Resource::Wallet));
    type Plan = WalletAccount;
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<WalletAccount, RequestError> {
        let account = view.wallet_account(self.wallet_account_id)?;
        if account.name.as_ref() != Some(&self.name) {
            view.account_name_is_free(&self.name)?;
        }
        Ok(account)
    }

    fn facts(&self, account: &WalletAccount, view: &View<'_>) -> Result<Facts, RequestError> {
        Ok(Facts::of_each(view.organization.wallet(account.wallet)))
    }

    fn execute(self, account: WalletAccount, context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        context.change(Change::RenameAccount(account, self.name));
        Ok(Outcome { wallet_account_id: self.wallet_account_id })
    }
}
