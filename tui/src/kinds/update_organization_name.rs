//! Renames the organization.

use super::{Description, Kind, Reader, Scene, Undecodable, Version};
use crate::text::{clean, quoted};

pub(super) struct UpdateOrganizationName;

impl Kind for UpdateOrganizationName {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME",
            intent: "updateOrganizationNameIntent",
            schema: "organizationName",
        }]
    }

    fn title(&self) -> &'static str {
        "Rename organization"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let name = parameters.text("organizationName")?;
        let now = &scene.organization.head.organization_name;
        let mut description = Description::new(
            quoted(name),
            format!("Rename the organization {} to {}. Its id does not change.", quoted(now), quoted(name)),
        );
        description.change("name", clean(now), clean(name), "");
        Ok(description)
    }
}
