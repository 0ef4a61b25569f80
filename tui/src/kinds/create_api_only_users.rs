//! Adds users whose only credentials are API keys.

use super::create_users::describe_added;
use super::{Description, Kind, Reader, Scene, Undecodable, Version};

pub(super) struct CreateApiOnlyUsers;

impl Kind for CreateApiOnlyUsers {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_CREATE_API_ONLY_USERS",
            intent: "createApiOnlyUsersIntent",
            schema: "apiOnlyUsers[]:ApiOnlyUser",
        }]
    }

    fn title(&self) -> &'static str {
        "Create API users"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        describe_added(&parameters.list("apiOnlyUsers")?, scene)
    }
}
