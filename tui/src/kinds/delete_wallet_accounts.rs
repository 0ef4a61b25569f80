//! Deletes accounts of wallets.

use super::scene::{count, listed};
use super::{Description, Kind, Level, Reader, Scene, Undecodable, Version};
use crate::text::clean;

pub(super) struct DeleteWalletAccounts;

impl Kind for DeleteWalletAccounts {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS",
            intent: "deleteWalletAccountsIntent",
            schema: "walletAccountIds[] deleteWithoutExport",
        }]
    }

    fn title(&self) -> &'static str {
        "Delete wallet accounts"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let ids = parameters.texts("walletAccountIds")?;
        let named = listed(ids.iter().map(|id| clean(id)));
        let mut description = Description::new(
            count(ids.len(), "wallet account"),
            format!(
                "Delete {}: {named}. Deleted accounts cannot sign until the same paths are derived again \
                 from their wallets in {}.",
                count(ids.len(), "wallet account"),
                super::scene::stated(&scene.organization.head.organization_name)
            ),
        );
        description.flag(
            Level::High,
            "accounts-removed",
            "Stops everything that needs a signature by a deleted account.",
        );
        if parameters.yes("deleteWithoutExport")? {
            description.flag(
                Level::Med,
                "without-export",
                "Also deletes accounts of wallets that were never exported.",
            );
        }
        Ok(description)
    }
}
