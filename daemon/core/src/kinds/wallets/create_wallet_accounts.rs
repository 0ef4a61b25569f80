//! Derives accounts of a wallet and stores them, unless only their addresses are requested.

use quorate_common::ids::WalletId;

use crate::error::{Conflict, Limit};
use crate::kinds::prelude::*;
use crate::make::wallet::{accounts, check_accounts, names_are_free};
use crate::params::WalletAccountParams;

pub(in crate::kinds) struct CreateWalletAccounts;

/// Derives accounts of a wallet.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    wallet_id: WalletId,
    #[serde(default)]
    accounts: AtMost<WalletAccountParams, BATCH>,
    /// If false, computes the addresses and stores nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    persist: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::kinds) struct Outcome {
    addresses: AtMost<String, BATCH>,
}

impl Version for Intent {
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

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, ()), RequestError> {
        not_empty(&intent.accounts, "accounts")?;
        check_accounts(&intent.accounts)?;
        let wallet = view.wallet(intent.wallet_id)?.clone();
        if intent.persist != Some(false) {
            names_are_free(&intent.accounts, view)?;
            intent.accounts.iter().try_for_each(|account| path_is_free(account, intent.wallet_id, view))?;
        }
        Ok((Facts::of_each([&wallet]), ()))
    }

    fn execute(
        intent: Intent,
        (): (),
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        let view = context.view();
        let mut wallet = view.wallet(intent.wallet_id)?.clone();
        let seed = view.records().wallet_seed(wallet.id)?;
        let derived = accounts(
            &seed,
            wallet.id,
            wallet.accounts,
            intent.accounts.into_vec(),
            context.now(),
            &mut || context.random(),
        )?;
        let addresses = derived.iter().map(|account| account.address.clone()).collect();
        if intent.persist != Some(false) {
            let added = u32::try_from(derived.len()).unwrap_or(u32::MAX);
            wallet.accounts = wallet.accounts.checked_add(added).ok_or(Limit::Count(
                "accounts per wallet",
                u32::MAX as usize,
                None,
            ))?;
            wallet.updated = context.now();
            context.change(Change::PutWallet(wallet));
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
    match view.records().account_of_path(wallet, account)? {
        None => Ok(()),
        Some(id) => Err(Conflict::Path(id.to_string()).into()),
    }
}
