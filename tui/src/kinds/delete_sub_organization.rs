//! Deletes the sub-organization to which the activity was submitted.

use super::{Description, Kind, Level, Reader, Scene, Undecodable, Version, organization_deletion};

pub(super) struct DeleteSubOrganization;

impl Kind for DeleteSubOrganization {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION",
            intent: "deleteSubOrganizationIntent",
            schema: "deleteWithoutExport",
        }]
    }

    fn title(&self) -> &'static str {
        "Delete sub-organization"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let without_export = parameters.yes("deleteWithoutExport")?;
        let mut description = organization_deletion::describe("sub-organization", !without_export, scene);
        if without_export {
            let text = "Also deletes keys that were never exported and may have no copy.";
            description.flag(Level::Med, "without-export", text);
        }
        Ok(description)
    }
}
