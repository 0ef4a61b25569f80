//! Derives accounts of a wallet, and keeps them unless only their addresses are wanted.

use quorate_common::ids::WalletId;

use crate::kinds::prelude::*;
use crate::make::wallet::{accounts, check_accounts, names_are_free};
use crate::params::WalletAccountParams;
use crate::refusal::{Clash, Limit};

pub(in crate::kinds) struct CreateWalletAccounts;

/// Derives accounts of a wallet.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    wallet_id: WalletId,
    #[serde(default)]
    accounts: AtMost<WalletAccountParams, BATCH>,
    /// False computes addresses and keeps nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    persist: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::kinds) struct Outcome {
    addresses: AtMost<String, BATCH>,
}

impl Form for Intent {
    type Kind = CreateWalletAccounts;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS";
    const NUMBER: u16 = 46;
    const RESULT: &'static str = "createWalletAccountsResult";
}

impl Kind for CreateWalletAccounts {
    const ACTS: Option<(Action, Resource)> = Some((Action::Create, Resource::Wallet));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, ()), Refusal> {
        not_empty(&intent.accounts, "accounts")?;
        check_accounts(&intent.accounts)?;
        let wallet = view.wallet(intent.wallet_id)?.clone();
        if intent.persist != Some(false) {
            names_are_free(&intent.accounts, view)?;
            intent.accounts.iter().try_for_each(|account| path_is_free(account, intent.wallet_id, view))?;
        }
        Ok((Facts::of_each([&wallet]), ()))
    }

    fn execute(intent: Intent, (): (), cx: &mut Cx<'_, '_>) -> Result<Outcome, Refusal> {
        let view = cx.view();
        let mut wallet = view.wallet(intent.wallet_id)?.clone();
        let seed = view.records().wallet_seed(wallet.id)?;
        let made =
            accounts(&seed, wallet.id, wallet.accounts, intent.accounts.into_vec(), cx.now(), &mut || {
                cx.random()
            })?;
        let addresses = made.iter().map(|account| account.address.clone()).collect();
        if intent.persist != Some(false) {
            let more = u32::try_from(made.len()).unwrap_or(u32::MAX);
            wallet.accounts = wallet.accounts.checked_add(more).ok_or(Limit::Count(
                "accounts of a wallet",
                u32::MAX as usize,
                None,
            ))?;
            wallet.updated = cx.now();
            cx.change(Change::PutWallet(wallet));
            cx.change_all(made.into_iter().map(Change::AddAccount));
        }
        Ok(Outcome { addresses: AtMost::cut(addresses) })
    }
}

fn path_is_free(account: &WalletAccountParams, wallet: WalletId, view: &View<'_>) -> Result<(), Refusal> {
    match view.records().account_of_path(wallet, account)? {
        None => Ok(()),
        Some(id) => Err(Clash::Path(id.to_string()).into()),
    }
}
