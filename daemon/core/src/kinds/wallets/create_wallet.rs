//! Creates a wallet: one seed, and the first accounts derived from it.

use crate::kinds::prelude::*;
use crate::make::wallet;
use crate::params::WalletParams;
use crate::params::keys::NewWalletResult;

/// Creates a wallet with a new seed and its first accounts.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(in crate::kinds) struct Intent(WalletParams);

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_WALLET";
    const NUMBER: u16 = 45;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Create, Resource::Wallet));
    type Plan = ();
    type Outcome = NewWalletResult;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        wallet::check_new(&self.0.wallet_name, &self.0.accounts, view)
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<NewWalletResult, RequestError> {
        let wallet = wallet::wallet(self.0, context)?;
        Ok(wallet::add(wallet, context))
    }
}
