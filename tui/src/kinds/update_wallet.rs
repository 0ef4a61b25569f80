//! Renames a wallet.

use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version};
use crate::text::{clean, quoted};

pub(super) struct UpdateWallet;

impl Kind for UpdateWallet {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_UPDATE_WALLET",
            intent: "updateWalletIntent",
            shape: "walletId walletName",
        }]
    }

    fn title(&self) -> &'static str {
        "Rename wallet"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let id = parameters.text("walletId")?;
        let wallet = scene.wallet_named(id);
        let Some(name) = parameters.maybe_text("walletName")? else {
            return Ok(Story::new(
                format!("{wallet}, nothing changes"),
                format!("Change nothing of the wallet {wallet}."),
            ));
        };
        let mut story = Story::new(
            format!("{wallet} becomes {}", quoted(name)),
            format!("Give the wallet {wallet} the name {}. Its keys stay what they are.", quoted(name)),
        );
        let known = scene.organization.wallets.iter().find(|wallet| wallet.wallet_id.to_string() == id);
        story.change(
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
            story.flag(Level::Med, "same-name", format!("there is a wallet named {} already", quoted(name)));
        }
        Ok(story)
    }
}
