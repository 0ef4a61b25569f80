//! Renames a wallet.

use super::{Description, Kind, Level, Reader, Scene, Undecodable, Version};
use crate::text::{clean, quoted};

pub(super) struct UpdateWallet;

impl Kind for UpdateWallet {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_UPDATE_WALLET",
            intent: "updateWalletIntent",
            schema: "walletId walletName",
        }]
    }

    fn title(&self) -> &'static str {
        "Rename wallet"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let id = parameters.text("walletId")?;
        let wallet = scene.wallet_named(id);
        let Some(name) = parameters.maybe_text("walletName")? else {
            return Ok(Description::new(
                format!("{wallet}, nothing changes"),
                format!("Change nothing in the wallet {wallet}."),
            ));
        };
        let mut description = Description::new(
            format!("{wallet} becomes {}", quoted(name)),
            format!("Rename the wallet {wallet} to {}. Its keys do not change.", quoted(name)),
        );
        let known = scene.organization.wallets.iter().find(|wallet| wallet.wallet_id.to_string() == id);
        description.change(
            "name",
            known.map_or_else(|| "?".to_owned(), |wallet| clean(&wallet.wallet_name)),
            clean(name),
            "",
        );
        if scene
            .organization
            .wallets
            .iter()
            .any(|other| other.wallet_name == name && other.wallet_id.to_string() != id)
        {
            description.flag(
                Level::Med,
                "same-name",
                format!("Easy to confuse: a wallet named {} already exists.", quoted(name)),
            );
        }
        Ok(description)
    }
}
