//! Removes accounts of wallets.

use super::scene::{count, listed};
use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version};
use crate::text::clean;

pub(super) struct DeleteWalletAccounts;

impl Kind for DeleteWalletAccounts {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS",
            intent: "deleteWalletAccountsIntent",
            shape: "walletAccountIds[] deleteWithoutExport",
        }]
    }

    fn title(&self) -> &'static str {
        "Delete wallet accounts"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let ids = parameters.texts("walletAccountIds")?;
        let named = listed(ids.iter().map(|id| clean(id)));
        let mut story = Story::new(
            count(ids.len(), "wallet account"),
            format!(
                "Remove {}: {named}. Their addresses sign no more, until the same paths are derived again from their wallets in {}.",
                count(ids.len(), "wallet account"),
                super::scene::stated(&scene.organization.head.organization_name)
            ),
        );
        story.flag(Level::High, "accounts-removed", "what needs signatures of these addresses stops");
        if parameters.yes("deleteWithoutExport")? {
            story.flag(Level::Med, "without-export", "also where the wallet never left by export");
        }
        Ok(story)
    }
}
