//! Gives a user more passkeys or security keys.

use super::credential::given;
use super::{Kind, Reader, Scene, Story, Undecodable, Version};

pub(super) struct CreateAuthenticators;

impl Kind for CreateAuthenticators {
    fn versions(&self) -> &'static [Version] {
        &[
            Version {
                activity_type: "ACTIVITY_TYPE_CREATE_AUTHENTICATORS",
                intent: "createAuthenticatorsIntent",
                shape: "userId authenticators[]:Authenticator1",
            },
            Version {
                activity_type: "ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2",
                intent: "createAuthenticatorsIntentV2",
                shape: "userId authenticators[]:Authenticator2",
            },
        ]
    }

    fn title(&self) -> &'static str {
        "Add authenticators"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        given(parameters, "authenticators", "authenticatorName", "authenticator", scene)
    }
}
