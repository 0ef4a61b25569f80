//! Switches a feature of the organization on, or changes its value.

use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version, endpoint};
use crate::text::{clean, quoted};

pub(super) struct SetOrganizationFeature;

/// Features that let somebody sign in, or come back, without a registered key.
const SIGN_IN: [&str; 6] =
    ["ROOT_USER_EMAIL_RECOVERY", "EMAIL_AUTH", "EMAIL_RECOVERY", "SMS_AUTH", "OTP_EMAIL_AUTH", "AUTH_PROXY"];

impl Kind for SetOrganizationFeature {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE",
            intent: "setOrganizationFeatureIntent",
            shape: "name value",
        }]
    }

    fn title(&self) -> &'static str {
        "Set feature"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let whole = parameters.text("name")?;
        let name = whole.strip_prefix("FEATURE_NAME_").unwrap_or(whole);
        let value = parameters.maybe_text("value")?;
        let told = value.map_or_else(String::new, |value| format!(" with the value {}", quoted(value)));
        let mut story = Story::new(
            format!(
                "{}{}",
                clean(name),
                value.map_or_else(String::new, |value| format!(" = {}", clean(value)))
            ),
            format!("Switch the feature {} on{told}.", clean(name)),
        );
        story.change(&clean(name), current(scene, whole), value.map_or_else(|| "on".to_owned(), clean), "");
        if SIGN_IN.contains(&name) {
            story.flag(
                Level::High,
                "sign-in-enabled",
                format!("{} lets people in without a key registered before", clean(name)),
            );
            story.danger("the NAME of the feature, without FEATURE_NAME_", name);
        } else if name == "WEBHOOK" {
            story.flag(Level::High, "webhook-url", "every activity will be told to this address");
            story.danger("the HOST of the address", value.and_then(endpoint::host).unwrap_or_default());
        } else if name == "WEBAUTHN_ORIGINS" {
            story.flag(Level::Med, "origins", "changes on which web pages passkeys work");
        }
        Ok(story)
    }
}

/// The feature as the daemon says it is now.
pub(super) fn current(scene: &Scene<'_>, name: &str) -> String {
    match scene.organization.features.iter().find(|feature| feature.name == name) {
        Some(feature) => feature.value.as_deref().map_or_else(|| "on".to_owned(), clean),
        None => "off".to_owned(),
    }
}
