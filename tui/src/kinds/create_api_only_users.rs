//! Adds users that have API keys only.

use super::create_users::added;
use super::{Kind, Reader, Scene, Story, Undecodable, Version};

pub(super) struct CreateApiOnlyUsers;

impl Kind for CreateApiOnlyUsers {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_CREATE_API_ONLY_USERS",
            intent: "createApiOnlyUsersIntent",
            shape: "apiOnlyUsers[]:ApiOnlyUser",
        }]
    }

    fn title(&self) -> &'static str {
        "Create API users"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        added(&parameters.list("apiOnlyUsers")?, scene)
    }
}
