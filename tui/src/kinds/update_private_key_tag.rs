//! Renames a tag, adds it to private keys and removes it from others.

use super::tag::PRIVATE_KEYS;
use super::{Description, Kind, Reader, Scene, Undecodable, Version};

pub(super) struct UpdatePrivateKeyTag;

impl Kind for UpdatePrivateKeyTag {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_UPDATE_PRIVATE_KEY_TAG",
            intent: "updatePrivateKeyTagIntent",
            schema: "privateKeyTagId newPrivateKeyTagName addPrivateKeyIds[] removePrivateKeyIds[]",
        }]
    }

    fn title(&self) -> &'static str {
        "Change private key tag"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let (add, remove) = (parameters.texts("addPrivateKeyIds")?, parameters.texts("removePrivateKeyIds")?);
        let tag = parameters.text("privateKeyTagId")?;
        let name = parameters.maybe_text("newPrivateKeyTagName")?;
        Ok(PRIVATE_KEYS.describe_update(tag, name, (&add, &remove), scene))
    }
}
