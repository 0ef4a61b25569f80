//! Makes a tag and puts it on users.

use super::tag::USERS;
use super::{Kind, Reader, Scene, Story, Undecodable, Version};

pub(super) struct CreateUserTag;

impl Kind for CreateUserTag {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_CREATE_USER_TAG",
            intent: "createUserTagIntent",
            shape: "userTagName userIds[]",
        }]
    }

    fn title(&self) -> &'static str {
        "Create user tag"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let ids = parameters.texts("userIds")?;
        Ok(USERS.made(parameters.text("userTagName")?, &ids, scene))
    }
}
