//! Renames a tag, adds it to users and removes it from others.

use super::tag::USERS;
use super::{Description, Kind, Reader, Scene, Undecodable, Version};

pub(super) struct UpdateUserTag;

impl Kind for UpdateUserTag {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_UPDATE_USER_TAG",
            intent: "updateUserTagIntent",
            schema: "userTagId newUserTagName addUserIds[] removeUserIds[]",
        }]
    }

    fn title(&self) -> &'static str {
        "Change user tag"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let (add, remove) = (parameters.texts("addUserIds")?, parameters.texts("removeUserIds")?);
        let tag = parameters.text("userTagId")?;
        let name = parameters.maybe_text("newUserTagName")?;
        Ok(USERS.describe_update(tag, name, (&add, &remove), scene))
    }
}
