//! Deletes wallets, their seeds and their accounts.

use crate::kinds::prelude::*;

/// Deletes wallets, their seeds and their accounts.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    #[serde(default)]
    wallet_ids: AtMost<WalletId, BATCH>,
    /// If true, also deletes wallets that were never exported and may have no copy elsewhere.
    delete_without_export: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    wallet_ids: AtMost<WalletId, BATCH>,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_WALLETS";
    const NUMBER: u16 = 74;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Delete, Resource::Wallet));
    type Plan = Vec<Wallet>;
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<Vec<Wallet>, RequestError> {
        look_up_each(&self.wallet_ids, "walletIds", |id| {
            let wallet = view.wallet(id)?;
            let may_be_lost = !wallet.exported && self.delete_without_export != Some(true);
            if may_be_lost {
                Err(Wrong::Text("wallet has not been exported").into())
            } else {
                Ok(wallet.clone())
            }
        })
    }

    fn facts(&self, wallets: &Vec<Wallet>, _: &View<'_>) -> Result<Facts, RequestError> {
        Ok(Facts::of_all(wallets))
    }

    fn execute(self, _: Vec<Wallet>, context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        context.change_all(self.wallet_ids.iter().copied().map(Change::remove::<Wallet>));
        Ok(Outcome { wallet_ids: self.wallet_ids })
    }
}
