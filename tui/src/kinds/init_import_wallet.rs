//! Makes a key that a wallet can be imported to.

use super::{Kind, Reader, Scene, Story, Undecodable, Version};

pub(super) struct InitImportWallet;

impl Kind for InitImportWallet {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_INIT_IMPORT_WALLET",
            intent: "initImportWalletIntent",
            shape: "userId",
        }]
    }

    fn title(&self) -> &'static str {
        "Prepare wallet import"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let who = scene.user_named(parameters.text("userId")?);
        let sentence = format!(
            "Make a key to which {who} can encrypt one wallet, within 24 hours. Nothing is imported by this yet."
        );
        Ok(Story::new(scene.user_short(parameters.text("userId")?), sentence))
    }
}
