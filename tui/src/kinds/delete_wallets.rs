//! Deletes wallets with their seeds and accounts.

use super::key_deletion::KeyDeletion;
use super::{Description, Kind, Reader, Scene, Undecodable, Version};

pub(super) struct DeleteWallets;

impl Kind for DeleteWallets {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_DELETE_WALLETS",
            intent: "deleteWalletsIntent",
            schema: "walletIds[] deleteWithoutExport",
        }]
    }

    fn title(&self) -> &'static str {
        "Delete wallets"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        KeyDeletion {
            noun: "wallet",
            with: " with their seeds and all accounts",
            present: scene.organization.wallets.len(),
            named: &|id| scene.wallet_named(id),
            known: &|id| scene.wallet(id).map(|one| (one.wallet_name.as_str(), one.exported)),
        }
        .describe(parameters, "walletIds")
    }
}
