//! Says from which web origins passkeys are taken.

use super::scene::listed;
use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version};
use crate::text::{clean, quoted};

pub(super) struct UpdateAllowedOrigins;

impl Kind for UpdateAllowedOrigins {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_UPDATE_ALLOWED_ORIGINS",
            intent: "updateAllowedOriginsIntent",
            shape: "allowedOrigins[]",
        }]
    }

    fn title(&self) -> &'static str {
        "Change allowed origins"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let origins = parameters.texts("allowedOrigins")?;
        let told = listed(origins.iter().map(|origin| quoted(origin)));
        let mut features = scene.organization.features.iter();
        let now = features.find(|feature| feature.name == "FEATURE_NAME_WEBAUTHN_ORIGINS");
        let now = now.and_then(|feature| feature.value.as_deref());
        let mut story = if origins.is_empty() {
            Story::new("any origin", "Take passkeys from any web origin.")
        } else {
            Story::new(told.clone(), format!("Take passkeys from these web origins only: {told}."))
        };
        let after = if origins.is_empty() { "any".to_owned() } else { told };
        story.change("origins", now.map_or_else(|| "any".to_owned(), clean), after, "");
        if origins.is_empty() {
            story.flag(Level::High, "any-origin", "any web site may then ask people for their passkey");
        } else {
            story.flag(
                Level::Med,
                "origins-changed",
                "sites that are not listed can no longer sign people in",
            );
        }
        if origins.iter().any(|origin| origin.starts_with("http://")) {
            story.flag(
                Level::Med,
                "origin-without-tls",
                "an origin without TLS can be taken over on the way",
            );
        }
        Ok(story)
    }
}
