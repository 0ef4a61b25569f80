//! Switches a feature of the organization off.

use super::set_organization_feature::current;
use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version};
use crate::text::clean;

pub(super) struct RemoveOrganizationFeature;

impl Kind for RemoveOrganizationFeature {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE",
            intent: "removeOrganizationFeatureIntent",
            shape: "name",
        }]
    }

    fn title(&self) -> &'static str {
        "Remove feature"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let whole = parameters.text("name")?;
        let name = clean(whole.strip_prefix("FEATURE_NAME_").unwrap_or(whole));
        let mut story = Story::new(name.clone(), format!("Switch the feature {name} off."));
        story.change(&name, current(scene, whole), "off", "");
        match name.as_str() {
            "WEBHOOK" => {
                story.flag(Level::Med, "webhook-removed", "nobody will be told about activities any more");
            }
            "WEBAUTHN_ORIGINS" => story.flag(Level::Med, "origins", "passkeys will work on any web page"),
            _ => {}
        }
        Ok(story)
    }
}
