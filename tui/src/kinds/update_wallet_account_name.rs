//! Renames an account of a wallet.

use super::{Description, Kind, Reader, Scene, Undecodable, Version};
use crate::text::{clean, quoted};

pub(super) struct UpdateWalletAccountName;

impl Kind for UpdateWalletAccountName {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_UPDATE_WALLET_ACCOUNT_NAME",
            intent: "updateWalletAccountNameIntent",
            schema: "walletAccountId name",
        }]
    }

    fn title(&self) -> &'static str {
        "Rename wallet account"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let (id, name) = (clean(parameters.text("walletAccountId")?), parameters.text("name")?);
        Ok(Description::new(
            format!("{id} becomes {}", quoted(name)),
            format!(
                "Rename the wallet account {id} of {} to {}. Its key and address do not change.",
                quoted(&scene.organization.head.organization_name),
                quoted(name)
            ),
        ))
    }
}
