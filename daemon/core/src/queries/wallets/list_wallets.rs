//! Lists all wallets.
//!
//! - `{}` is answered.
//! - `{"organizationId": "$unknown"}` is refused with 404: no organization found with the given ID

use crate::queries::prelude::*;

/// Returns all wallets, oldest first, without their accounts.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ListWallets {}

impl Query for ListWallets {
    type Answer = Vec<wire::Wallet>;

    fn answer(self, context: &QueryContext<'_>) -> Result<Vec<wire::Wallet>, RequestError> {
        let wallets = context.organization.wallets();
        Ok(oldest_first(wallets, |wallet| (wallet.created, wallet.id), Wallet::wire))
    }
}
