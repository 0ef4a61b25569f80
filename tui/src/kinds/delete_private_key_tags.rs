//! Takes tags away from all private keys.

use super::tag::PRIVATE_KEYS;
use super::{Kind, Reader, Scene, Story, Undecodable, Version};

pub(super) struct DeletePrivateKeyTags;

impl Kind for DeletePrivateKeyTags {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_DELETE_PRIVATE_KEY_TAGS",
            intent: "deletePrivateKeyTagsIntent",
            shape: "privateKeyTagIds[]",
        }]
    }

    fn title(&self) -> &'static str {
        "Delete private key tags"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        PRIVATE_KEYS.gone(parameters, "privateKeyTagIds", scene)
    }
}
