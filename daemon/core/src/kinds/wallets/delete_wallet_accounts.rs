//! Deletes accounts of wallets. Their keys can be derived again as long as the wallet exists.

use crate::kinds::prelude::*;

/// Deletes accounts of wallets.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    #[serde(default)]
    wallet_account_ids: AtMost<WalletAccountId, BATCH>,
    /// If true, also deletes accounts that were never exported, neither themselves nor with their wallet.
    delete_without_export: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    wallet_account_ids: AtMost<WalletAccountId, BATCH>,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS";
    const NUMBER: u16 = 102;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Delete, Resource::Wallet));
    type Plan = (Vec<WalletAccount>, Vec<Wallet>);
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<Self::Plan, RequestError> {
        let ids = &self.wallet_account_ids;
        let accounts = look_up_each(ids, "walletAccountIds", |id| view.wallet_account(id))?;
        let mut ids: Vec<_> = accounts.iter().map(|account| account.wallet).collect();
        ids.sort_unstable();
        ids.dedup();
        let wallets: Vec<_> = ids.into_iter().map(|id| view.wallet(id).cloned()).collect::<Result<_, _>>()?;
        let has_copy = |account: &WalletAccount| {
            account.exported || wallets.iter().any(|wallet| wallet.id == account.wallet && wallet.exported)
        };
        if self.delete_without_export != Some(true) && !accounts.iter().all(has_copy) {
            return Err(Wrong::NotExported.into());
        }
        Ok((accounts, wallets))
    }

    fn facts(&self, (_, wallets): &Self::Plan, _: &View<'_>) -> Result<Facts, RequestError> {
        Ok(Facts::of_each(wallets))
    }

    fn execute(self, plan: Self::Plan, context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        let (accounts, _) = plan;
        context.change_all(accounts.into_iter().map(Change::RemoveAccount));
        Ok(Outcome { wallet_account_ids: self.wallet_account_ids })
    }
}
