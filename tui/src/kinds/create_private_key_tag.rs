//! Makes a tag and puts it on private keys.

use super::tag::PRIVATE_KEYS;
use super::{Kind, Reader, Scene, Story, Undecodable, Version};

pub(super) struct CreatePrivateKeyTag;

impl Kind for CreatePrivateKeyTag {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG",
            intent: "createPrivateKeyTagIntent",
            shape: "privateKeyTagName privateKeyIds[]",
        }]
    }

    fn title(&self) -> &'static str {
        "Create private key tag"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let ids = parameters.texts("privateKeyIds")?;
        Ok(PRIVATE_KEYS.made(parameters.text("privateKeyTagName")?, &ids, scene))
    }
}
