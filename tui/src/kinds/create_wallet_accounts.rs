//! Derives further accounts of a wallet.

use super::create_wallet::account;
use super::scene::{count, listed};
use super::{Description, Kind, Reader, Scene, Undecodable, Version};

pub(super) struct CreateWalletAccounts;

impl Kind for CreateWalletAccounts {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS",
            intent: "createWalletAccountsIntent",
            schema: "walletId accounts[]:Account persist",
        }]
    }

    fn title(&self) -> &'static str {
        "Add wallet accounts"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let id = parameters.text("walletId")?;
        let accounts = parameters.list("accounts")?;
        let named = accounts.iter().map(account).collect::<Result<Vec<_>, _>>()?;
        let wallet = scene.wallet_named(id);
        Ok(Description::new(
            format!("{} in {wallet}", count(accounts.len(), "account")),
            format!(
                "Derive {} in the wallet {wallet}: {}.",
                count(accounts.len(), "more account"),
                listed(named)
            ),
        ))
    }
}
