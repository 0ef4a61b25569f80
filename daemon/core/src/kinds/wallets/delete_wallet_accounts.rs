//! Deletes accounts of wallets. Their keys can be derived again as long as the wallet exists.

use quorate_common::ids::WalletAccountId;

use crate::kinds::prelude::*;
use crate::model::WalletAccount;

pub(in crate::kinds) struct DeleteWalletAccounts;

/// Deletes accounts of wallets.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    #[serde(default)]
    wallet_account_ids: AtMost<WalletAccountId, BATCH>,
    /// If true, also deletes accounts that were never exported, neither themselves nor with their wallet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    delete_without_export: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    wallet_account_ids: AtMost<WalletAccountId, BATCH>,
}

impl Version for Intent {
    type Kind = DeleteWalletAccounts;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS";
    const NUMBER: u16 = 102;
    const RESULT: &'static str = "deleteWalletAccountsResult";
}

impl Kind for DeleteWalletAccounts {
    const ACTS: Option<(Action, Resource)> = Some((Action::Delete, Resource::Wallet));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = Vec<WalletAccount>;
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, Vec<WalletAccount>), RequestError> {
        not_empty(&intent.wallet_account_ids, "walletAccountIds")?;
        distinct(intent.wallet_account_ids.iter(), "walletAccountIds")?;
        let ids = intent.wallet_account_ids.iter();
        let accounts: Vec<_> = ids.map(|id| view.wallet_account(*id)).collect::<Result<_, _>>()?;
        let mut ids: Vec<_> = accounts.iter().map(|account| account.wallet).collect();
        ids.sort_unstable();
        ids.dedup();
        let wallets: Vec<_> = ids.into_iter().map(|id| view.wallet(id).cloned()).collect::<Result<_, _>>()?;
        let has_copy = |account: &WalletAccount| {
            account.exported || wallets.iter().any(|wallet| wallet.id == account.wallet && wallet.exported)
        };
        if intent.delete_without_export != Some(true) && !accounts.iter().all(has_copy) {
            return Err(Wrong::NotExported.into());
        }
        Ok((Facts::of_each(&wallets), accounts))
    }

    fn execute(
        intent: Intent,
        accounts: Vec<WalletAccount>,
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        context.change_all(accounts.into_iter().map(Change::RemoveAccount));
        Ok(Outcome { wallet_account_ids: intent.wallet_account_ids })
    }
}
