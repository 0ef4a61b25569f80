//! Takes tags away from all users.

use super::tag::USERS;
use super::{Kind, Reader, Scene, Story, Undecodable, Version};

pub(super) struct DeleteUserTags;

impl Kind for DeleteUserTags {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_DELETE_USER_TAGS",
            intent: "deleteUserTagsIntent",
            shape: "userTagIds[]",
        }]
    }

    fn title(&self) -> &'static str {
        "Delete user tags"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        USERS.gone(parameters, "userTagIds", scene)
    }
}
