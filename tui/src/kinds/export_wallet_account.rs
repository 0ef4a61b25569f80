//! Takes the key of a wallet account out.

use super::taken_out::TakenOut;
use super::{Kind, Reader, Scene, Story, Undecodable, Version};
use crate::text::clean;

pub(super) struct ExportWalletAccount;

impl Kind for ExportWalletAccount {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT",
            intent: "exportWalletAccountIntent",
            shape: "address targetPublicKey",
        }]
    }

    fn title(&self) -> &'static str {
        "Export wallet account"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let address = parameters.text("address")?;
        let taken_out = TakenOut {
            what: "the secret key of the wallet account",
            named: clean(address),
            danger: ("the word EXPORT", "EXPORT"),
            // Accounts are not among what an organization is told with.
            known: true,
            target: parameters.text("targetPublicKey")?,
        };
        Ok(taken_out.told(scene))
    }
}
