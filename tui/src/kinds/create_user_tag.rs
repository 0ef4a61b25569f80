//! Creates a tag and adds it to users.

use super::tag::USERS;
use super::{Description, Kind, Reader, Scene, Undecodable, Version};

pub(super) struct CreateUserTag;

impl Kind for CreateUserTag {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_CREATE_USER_TAG",
            intent: "createUserTagIntent",
            schema: "userTagName userIds[]",
        }]
    }

    fn title(&self) -> &'static str {
        "Create user tag"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let ids = parameters.texts("userIds")?;
        Ok(USERS.describe_creation(parameters.text("userTagName")?, &ids, scene))
    }
}
