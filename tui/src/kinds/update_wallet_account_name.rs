//! Names an account of a wallet.

use super::{Kind, Reader, Scene, Story, Undecodable, Version};
use crate::text::{clean, quoted};

pub(super) struct UpdateWalletAccountName;

impl Kind for UpdateWalletAccountName {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_UPDATE_WALLET_ACCOUNT_NAME",
            intent: "updateWalletAccountNameIntent",
            shape: "walletAccountId name",
        }]
    }

    fn title(&self) -> &'static str {
        "Rename wallet account"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let (id, name) = (clean(parameters.text("walletAccountId")?), parameters.text("name")?);
        Ok(Story::new(
            format!("{id} becomes {}", quoted(name)),
            format!(
                "Give the wallet account {id} of {} the name {}. Its key and address stay what they are.",
                quoted(&scene.organization.head.organization_name),
                quoted(name)
            ),
        ))
    }
}
