//! Adds passkeys or security keys to a user.

use super::credential::describe_added;
use super::{Description, Kind, Reader, Scene, Undecodable, Version};

pub(super) struct CreateAuthenticators;

impl Kind for CreateAuthenticators {
    fn versions(&self) -> &'static [Version] {
        &[
            Version {
                activity_type: "ACTIVITY_TYPE_CREATE_AUTHENTICATORS",
                intent: "createAuthenticatorsIntent",
                schema: "userId authenticators[]:Authenticator1",
            },
            Version {
                activity_type: "ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2",
                intent: "createAuthenticatorsIntentV2",
                schema: "userId authenticators[]:Authenticator2",
            },
        ]
    }

    fn title(&self) -> &'static str {
        "Add authenticators"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        describe_added(parameters, "authenticators", "authenticatorName", "authenticator", scene)
    }
}
