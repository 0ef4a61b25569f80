//! Deletes tags of private keys.

use super::tag::PRIVATE_KEYS;
use super::{Description, Kind, Reader, Scene, Undecodable, Version};

pub(super) struct DeletePrivateKeyTags;

impl Kind for DeletePrivateKeyTags {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_DELETE_PRIVATE_KEY_TAGS",
            intent: "deletePrivateKeyTagsIntent",
            schema: "privateKeyTagIds[]",
        }]
    }

    fn title(&self) -> &'static str {
        "Delete private key tags"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        PRIVATE_KEYS.describe_deletion(parameters, "privateKeyTagIds", scene)
    }
}
