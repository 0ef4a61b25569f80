//! Deletes tags of users.

use super::tag::USERS;
use super::{Description, Kind, Reader, Scene, Undecodable, Version};

pub(super) struct DeleteUserTags;

impl Kind for DeleteUserTags {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_DELETE_USER_TAGS",
            intent: "deleteUserTagsIntent",
            schema: "userTagIds[]",
        }]
    }

    fn title(&self) -> &'static str {
        "Delete user tags"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        USERS.describe_deletion(parameters, "userTagIds", scene)
    }
}
