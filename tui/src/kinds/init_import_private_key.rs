//! Creates a key to which a private key can be encrypted for its import.

use super::{Description, Kind, Reader, Scene, Undecodable, Version};

pub(super) struct InitImportPrivateKey;

impl Kind for InitImportPrivateKey {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_INIT_IMPORT_PRIVATE_KEY",
            intent: "initImportPrivateKeyIntent",
            schema: "userId",
        }]
    }

    fn title(&self) -> &'static str {
        "Prepare private key import"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let who = scene.user_named(parameters.text("userId")?);
        let sentence = format!(
            "Create a key to which {who} can encrypt one private key within 24 hours. This imports nothing \
             yet."
        );
        Ok(Description::new(scene.user_short(parameters.text("userId")?), sentence))
    }
}
