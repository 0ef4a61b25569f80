//! Founds a top-level organization.

use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version};
use crate::text::{clean, quoted};

pub(super) struct CreateOrganization;

impl Kind for CreateOrganization {
    fn versions(&self) -> &'static [Version] {
        &[
            Version {
                activity_type: "ACTIVITY_TYPE_CREATE_ORGANIZATION",
                intent: "createOrganizationIntent",
                shape: "organizationName rootEmail rootAuthenticator:Authenticator1 rootUserId",
            },
            Version {
                activity_type: "ACTIVITY_TYPE_CREATE_ORGANIZATION_V2",
                intent: "createOrganizationIntentV2",
                shape: "organizationName rootEmail rootAuthenticator:Authenticator2 rootUserId",
            },
        ]
    }

    fn title(&self) -> &'static str {
        "Create organization"
    }

    fn describe(&self, parameters: &Reader<'_>, _: &Scene<'_>) -> Result<Story, Undecodable> {
        let name = quoted(parameters.text("organizationName")?);
        let passkey = parameters.object("rootAuthenticator")?;
        let passkey = passkey.ok_or_else(|| parameters.unknown("rootAuthenticator"))?;
        let passkey = quoted(passkey.text("authenticatorName")?);
        let email = clean(parameters.text("rootEmail")?);
        let id = parameters.maybe_text("rootUserId")?.map(|id| format!(" Their id is {}.", clean(id)));
        let mut story = Story::new(
            name.clone(),
            format!(
                "Found the organization {name} with one root user, {email}, who holds the passkey {passkey} and is \
                 called by its name.{}",
                id.unwrap_or_default()
            ),
        );
        story.flag(Level::Med, "one-can-act", "its one root user can do anything in it alone");
        Ok(story)
    }
}
