//! Deletes the organization itself.

use super::{Description, Kind, Level, Reader, Scene, Undecodable, Version, organization_deletion};
use crate::text::clean;

pub(super) struct DeleteOrganization;

impl Kind for DeleteOrganization {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_DELETE_ORGANIZATION",
            intent: "deleteOrganizationIntent",
            schema: "organizationId",
        }]
    }

    fn title(&self) -> &'static str {
        "Delete organization"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let id = parameters.text("organizationId")?;
        let mut description = organization_deletion::describe("organization", true, scene);
        if !scene.organization.head.organization_id.to_string().eq_ignore_ascii_case(id) {
            let text = format!("Names another organization than the one it was proposed in: {}.", clean(id));
            description.flag(Level::High, "other-organization", text);
        }
        Ok(description)
    }
}
