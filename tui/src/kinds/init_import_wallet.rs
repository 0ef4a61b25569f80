//! Creates a key to which a wallet can be encrypted for its import.

use super::{Description, Kind, Reader, Scene, Undecodable, Version};

pub(super) struct InitImportWallet;

impl Kind for InitImportWallet {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_INIT_IMPORT_WALLET",
            intent: "initImportWalletIntent",
            schema: "userId",
        }]
    }

    fn title(&self) -> &'static str {
        "Prepare wallet import"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let who = scene.user_named(parameters.text("userId")?);
        let sentence = format!(
            "Create a key to which {who} can encrypt one wallet within 24 hours. This imports nothing yet."
        );
        Ok(Description::new(scene.user_short(parameters.text("userId")?), sentence))
    }
}
