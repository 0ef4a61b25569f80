//! Destroys wallets.

use super::scene::{count, listed};
use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version};
use crate::text::clean;

pub(super) struct DeleteWallets;

impl Kind for DeleteWallets {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_DELETE_WALLETS",
            intent: "deleteWalletsIntent",
            shape: "walletIds[] deleteWithoutExport",
        }]
    }

    fn title(&self) -> &'static str {
        "Delete wallets"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let ids = parameters.texts("walletIds")?;
        let named = listed(ids.iter().map(|id| scene.wallet_named(id)));
        let wallets = count(ids.len(), "wallet");
        let mut story = Story::new(
            wallets.clone(),
            format!("Destroy {wallets} with their seeds and all accounts: {named}. It cannot be undone."),
        );
        let before = scene.organization.wallets.len();
        story.change("wallets", before.to_string(), before.saturating_sub(ids.len()).to_string(), "");
        story.flag(
            Level::High,
            "key-destroyed",
            "what these wallets hold or sign for is out of reach without a copy",
        );
        let without_copy =
            ids.iter().filter(|id| scene.wallet(id).is_none_or(|wallet| !wallet.exported)).count();
        if parameters.yes("deleteWithoutExport")? {
            story.flag(
                Level::Med,
                "without-export",
                "also what never left by export, of which there may be no copy",
            );
        }
        if without_copy > 0 {
            let text =
                format!("{} never left by export, so there may be no copy", count(without_copy, "wallet"));
            story.flag(Level::High, "no-copy", text);
        }
        if let Some(wallet) = ids.first().and_then(|id| scene.wallet(id)) {
            story.danger("the NAME of the first wallet that is destroyed", &clean(&wallet.wallet_name));
        }
        for id in ids.iter().filter(|id| scene.wallet(id).is_none()) {
            let text = format!("{} is not in this organization now", scene.wallet_named(id));
            story.flag(Level::Med, "unknown-wallet", text);
        }
        Ok(story)
    }
}
