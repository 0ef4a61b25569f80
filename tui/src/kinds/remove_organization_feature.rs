//! Disables a feature of the organization.

use super::set_organization_feature::current;
use super::{Description, Kind, Level, Reader, Scene, Undecodable, Version};
use crate::text::clean;

pub(super) struct RemoveOrganizationFeature;

impl Kind for RemoveOrganizationFeature {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE",
            intent: "removeOrganizationFeatureIntent",
            schema: "name",
        }]
    }

    fn title(&self) -> &'static str {
        "Remove feature"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let whole = parameters.text("name")?;
        let name = clean(whole.strip_prefix("FEATURE_NAME_").unwrap_or(whole));
        let mut description = Description::new(name.clone(), format!("Disable the feature {name}."));
        description.change(&name, current(scene, whole), "off", "");
        match name.as_str() {
            "WEBHOOK" => {
                description.flag(
                    Level::Med,
                    "webhook-removed",
                    "Activities are no longer reported to the webhook address.",
                );
            }
            "WEBAUTHN_ORIGINS" => {
                description.flag(Level::Med, "origins", "Passkeys then work on any web site.");
            }
            _ => {}
        }
        Ok(description)
    }
}
