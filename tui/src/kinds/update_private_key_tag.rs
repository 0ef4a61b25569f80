//! Renames a tag, puts it on some private keys and takes it off others.

use super::tag::PRIVATE_KEYS;
use super::{Kind, Reader, Scene, Story, Undecodable, Version};

pub(super) struct UpdatePrivateKeyTag;

impl Kind for UpdatePrivateKeyTag {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_UPDATE_PRIVATE_KEY_TAG",
            intent: "updatePrivateKeyTagIntent",
            shape: "privateKeyTagId newPrivateKeyTagName addPrivateKeyIds[] removePrivateKeyIds[]",
        }]
    }

    fn title(&self) -> &'static str {
        "Change private key tag"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let (add, remove) = (parameters.texts("addPrivateKeyIds")?, parameters.texts("removePrivateKeyIds")?);
        let tag = parameters.text("privateKeyTagId")?;
        let name = parameters.maybe_text("newPrivateKeyTagName")?;
        Ok(PRIVATE_KEYS.changed(tag, name, (&add, &remove), scene))
    }
}
