//! Deletes the organization itself.

use super::ended::ended;
use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version};
use crate::text::clean;

pub(super) struct DeleteOrganization;

impl Kind for DeleteOrganization {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_DELETE_ORGANIZATION",
            intent: "deleteOrganizationIntent",
            shape: "organizationId",
        }]
    }

    fn title(&self) -> &'static str {
        "Delete organization"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let id = parameters.text("organizationId")?;
        let mut story = ended("organization", true, scene);
        if !scene.organization.head.organization_id.to_string().eq_ignore_ascii_case(id) {
            let text = format!("it names {}, which is not the organization acted upon", clean(id));
            story.flag(Level::High, "other-organization", text);
        }
        Ok(story)
    }
}
