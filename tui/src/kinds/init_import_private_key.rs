//! Makes a key that a private key can be imported to.

use super::{Kind, Reader, Scene, Story, Undecodable, Version};

pub(super) struct InitImportPrivateKey;

impl Kind for InitImportPrivateKey {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_INIT_IMPORT_PRIVATE_KEY",
            intent: "initImportPrivateKeyIntent",
            shape: "userId",
        }]
    }

    fn title(&self) -> &'static str {
        "Prepare private key import"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let who = scene.user_named(parameters.text("userId")?);
        let sentence = format!(
            "Make a key to which {who} can encrypt one private key, within 24 hours. Nothing is imported by this yet."
        );
        Ok(Story::new(scene.user_short(parameters.text("userId")?), sentence))
    }
}
