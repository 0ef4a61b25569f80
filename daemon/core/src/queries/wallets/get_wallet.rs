//! Returns one wallet.
//!
//! - `{"walletId": "$wallet"}` is answered.
//! - `{"walletId": "$unknown"}` is refused with 404: no wallet found with the given ID

use crate::queries::prelude::*;

/// Returns one wallet, without its accounts.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct GetWallet {
    wallet_id: WalletId,
}

impl Query for GetWallet {
    const COST: Cost = Cost::Small;
    type Answer = wire::Wallet;

    fn answer(self, context: &QueryContext<'_>) -> Result<wire::Wallet, RequestError> {
        Ok(super::wallet(context, self.wallet_id)?.wire())
    }
}
