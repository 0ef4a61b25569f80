//! Renames a wallet.

use crate::kinds::prelude::*;

/// Renames a wallet.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    wallet_id: WalletId,
    /// New name of the wallet. If absent, the wallet keeps its name.
    wallet_name: Option<Label>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    wallet_id: WalletId,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_UPDATE_WALLET";
    const NUMBER: u16 = 80;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Update, Resource::Wallet));
    type Plan = Wallet;
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<Wallet, RequestError> {
        let wallet = view.wallet(self.wallet_id)?.clone();
        if let Some(name) = self.wallet_name.as_ref().filter(|name| **name != wallet.name) {
            view.name_is_free(|present: &Wallet| present.name == *name)?;
        }
        Ok(wallet)
    }

    fn facts(&self, wallet: &Wallet, _: &View<'_>) -> Result<Facts, RequestError> {
        Ok(Facts::of_each([wallet]))
    }

    fn execute(self, mut wallet: Wallet, context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        let wallet_id = wallet.id;
        if let Some(name) = self.wallet_name {
            wallet.name = name;
            wallet.updated = context.now();
            context.change(Change::put(wallet));
        }
        Ok(Outcome { wallet_id })
    }
}
