//! Deletes private keys.

use super::key_deletion::KeyDeletion;
use super::{Description, Kind, Reader, Scene, Undecodable, Version};

pub(super) struct DeletePrivateKeys;

impl Kind for DeletePrivateKeys {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_DELETE_PRIVATE_KEYS",
            intent: "deletePrivateKeysIntent",
            schema: "privateKeyIds[] deleteWithoutExport",
        }]
    }

    fn title(&self) -> &'static str {
        "Delete private keys"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        KeyDeletion {
            noun: "private key",
            with: "",
            present: scene.organization.private_keys.len(),
            named: &|id| scene.private_key_named(id),
            known: &|id| scene.private_key(id).map(|one| (one.private_key_name.as_str(), one.exported)),
        }
        .describe(parameters, "privateKeyIds")
    }
}
