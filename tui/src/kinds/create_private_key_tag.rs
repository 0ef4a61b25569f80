//! Creates a tag and adds it to private keys.

use super::tag::PRIVATE_KEYS;
use super::{Description, Kind, Reader, Scene, Undecodable, Version};

pub(super) struct CreatePrivateKeyTag;

impl Kind for CreatePrivateKeyTag {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG",
            intent: "createPrivateKeyTagIntent",
            schema: "privateKeyTagName privateKeyIds[]",
        }]
    }

    fn title(&self) -> &'static str {
        "Create private key tag"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let ids = parameters.texts("privateKeyIds")?;
        Ok(PRIVATE_KEYS.describe_creation(parameters.text("privateKeyTagName")?, &ids, scene))
    }
}
