//! Deletes the sub-organization acted upon.

use super::ended::ended;
use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version};

pub(super) struct DeleteSubOrganization;

impl Kind for DeleteSubOrganization {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION",
            intent: "deleteSubOrganizationIntent",
            shape: "deleteWithoutExport",
        }]
    }

    fn title(&self) -> &'static str {
        "Delete sub-organization"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let without_export = parameters.yes("deleteWithoutExport")?;
        let mut story = ended("sub-organization", !without_export, scene);
        if without_export {
            let text = "also what never left by export, of which there may be no copy";
            story.flag(Level::Med, "without-export", text);
        }
        Ok(story)
    }
}
