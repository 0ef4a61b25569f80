//! Deletes wallets, their seeds and their accounts.

use quorate_common::ids::WalletId;

use crate::kinds::prelude::*;

pub(in crate::kinds) struct DeleteWallets;

/// Deletes wallets, their seeds and their accounts.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    #[serde(default)]
    wallet_ids: AtMost<WalletId, BATCH>,
    /// If true, also deletes wallets that were never exported and may have no copy elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    delete_without_export: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    wallet_ids: AtMost<WalletId, BATCH>,
}

impl Version for Intent {
    type Kind = DeleteWallets;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_WALLETS";
    const NUMBER: u16 = 74;
    const RESULT: &'static str = "deleteWalletsResult";
}

impl Kind for DeleteWallets {
    const ACTS: Option<(Action, Resource)> = Some((Action::Delete, Resource::Wallet));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, ()), RequestError> {
        not_empty(&intent.wallet_ids, "walletIds")?;
        distinct(intent.wallet_ids.iter(), "walletIds")?;
        let mut wallets = Vec::with_capacity(intent.wallet_ids.len());
        for id in &intent.wallet_ids {
            let wallet = view.wallet(*id)?;
            if !wallet.exported && intent.delete_without_export != Some(true) {
                return Err(Wrong::Text("wallet has not been exported").into());
            }
            wallets.push(wallet.clone());
        }
        Ok((Facts::of_all(&wallets), ()))
    }

    fn execute(
        intent: Intent,
        (): (),
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        for id in &intent.wallet_ids {
            context.change(Change::RemoveWallet(*id));
        }
        Ok(Outcome { wallet_ids: intent.wallet_ids })
    }
}
