//! Destroys private keys.

use super::destroyed::Destroyed;
use super::{Kind, Reader, Scene, Story, Undecodable, Version};

pub(super) struct DeletePrivateKeys;

impl Kind for DeletePrivateKeys {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_DELETE_PRIVATE_KEYS",
            intent: "deletePrivateKeysIntent",
            shape: "privateKeyIds[] deleteWithoutExport",
        }]
    }

    fn title(&self) -> &'static str {
        "Delete private keys"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        Destroyed {
            noun: "private key",
            with: "",
            present: scene.organization.private_keys.len(),
            named: &|id| scene.private_key_named(id),
            known: &|id| scene.private_key(id).map(|one| (one.private_key_name.as_str(), one.exported)),
        }
        .told(parameters, "privateKeyIds")
    }
}
