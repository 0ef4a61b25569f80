//! Renames a tag, puts it on some users and takes it off others.

use super::tag::USERS;
use super::{Kind, Reader, Scene, Story, Undecodable, Version};

pub(super) struct UpdateUserTag;

impl Kind for UpdateUserTag {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_UPDATE_USER_TAG",
            intent: "updateUserTagIntent",
            shape: "userTagId newUserTagName addUserIds[] removeUserIds[]",
        }]
    }

    fn title(&self) -> &'static str {
        "Change user tag"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let (add, remove) = (parameters.texts("addUserIds")?, parameters.texts("removeUserIds")?);
        let tag = parameters.text("userTagId")?;
        let name = parameters.maybe_text("newUserTagName")?;
        Ok(USERS.changed(tag, name, (&add, &remove), scene))
    }
}
