//! Renames the organization.

use super::{Kind, Reader, Scene, Story, Undecodable, Version};
use crate::text::{clean, quoted};

pub(super) struct UpdateOrganizationName;

impl Kind for UpdateOrganizationName {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME",
            intent: "updateOrganizationNameIntent",
            shape: "organizationName",
        }]
    }

    fn title(&self) -> &'static str {
        "Rename organization"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let name = parameters.text("organizationName")?;
        let now = &scene.organization.head.organization_name;
        let mut story = Story::new(
            quoted(name),
            format!(
                "Give the organization {} the name {}. Its id stays what it is.",
                quoted(now),
                quoted(name)
            ),
        );
        story.change("name", clean(now), clean(name), "");
        Ok(story)
    }
}
