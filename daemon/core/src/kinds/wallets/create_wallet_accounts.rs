//! Derives accounts of a wallet and stores them, unless only their addresses are requested.

use crate::error::{Conflict, Limit};
use crate::kinds::prelude::*;
use crate::make::wallet::{accounts, check_accounts, names_are_free};
use crate::params::WalletAccountParams;

/// Derives accounts of a wallet.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    wallet_id: WalletId,
    #[serde(default)]
    accounts: AtMost<WalletAccountParams, BATCH>,
    /// If false, computes the addresses and stores nothing.
    persist: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::kinds) struct Outcome {
    addresses: AtMost<String, BATCH>,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS";
    const NUMBER: u16 = 46;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Create, Resource::Wallet));
    type Plan = Wallet;
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<Wallet, RequestError> {
        not_empty(&self.accounts, "accounts")?;
        check_accounts(&self.accounts)?;
        let wallet = view.wallet(self.wallet_id)?.clone();
        if self.persist != Some(false) {
            names_are_free(&self.accounts, view)?;
            self.accounts.iter().try_for_each(|account| path_is_free(account, self.wallet_id, view))?;
        }
        Ok(wallet)
    }

    fn facts(&self, wallet: &Wallet, _: &View<'_>) -> Result<Facts, RequestError> {
        Ok(Facts::of_each([wallet]))
    }

    fn execute(self, mut wallet: Wallet, context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        let view = context.view();
        let seed = view.records().wallet_seed(wallet.id)?;
        let derived = accounts(
            &seed,
            wallet.id,
            wallet.accounts,
            self.accounts.into_vec(),
            context.now(),
            &mut || context.random(),
        )?;
        let addresses = derived.iter().map(|account| account.address.clone()).collect();
        if self.persist != Some(false) {
            let added = u32::try_from(derived.len()).unwrap_or(u32::MAX);
            wallet.accounts = wallet.accounts.checked_add(added).ok_or(Limit::Count(
                "accounts per wallet",
                u32::MAX as usize,
                None,
            ))?;
            wallet.updated = context.now();
            context.change(Change::put(wallet));
            context.change_all(derived.into_iter().map(Change::AddAccount));
        }
        Ok(Outcome { addresses: AtMost::cut(addresses) })
    }
}

fn path_is_free(
    account: &WalletAccountParams,
    wallet: WalletId,
    view: &View<'_>,
) -> Result<(), RequestError> {
    let key = (account.curve, &account.path, account.address_format);
    match view.records().account_of_path(wallet, key)? {
        None => Ok(()),
        Some(id) => Err(Conflict::Path(id.to_string()).into()),
    }
}
