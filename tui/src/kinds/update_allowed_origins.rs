//! Sets the web origins from which passkeys are accepted.

use super::scene::listed;
use super::{Description, Kind, Level, Reader, Scene, Undecodable, Version};
use crate::text::{clean, quoted};

pub(super) struct UpdateAllowedOrigins;

impl Kind for UpdateAllowedOrigins {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_UPDATE_ALLOWED_ORIGINS",
            intent: "updateAllowedOriginsIntent",
            schema: "allowedOrigins[]",
        }]
    }

    fn title(&self) -> &'static str {
        "Change allowed origins"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let origins = parameters.texts("allowedOrigins")?;
        let listed_origins = listed(origins.iter().map(|origin| quoted(origin)));
        let mut features = scene.organization.features.iter();
        let now = features.find(|feature| feature.name == "FEATURE_NAME_WEBAUTHN_ORIGINS");
        let now = now.and_then(|feature| feature.value.as_deref());
        let mut description = if origins.is_empty() {
            Description::new("any origin", "Accept passkeys from any web origin.")
        } else {
            Description::new(
                listed_origins.clone(),
                format!("Accept passkeys only from these web origins: {listed_origins}."),
            )
        };
        let after = if origins.is_empty() { "any".to_owned() } else { listed_origins };
        description.change("origins", now.map_or_else(|| "any".to_owned(), clean), after, "");
        if origins.is_empty() {
            description.flag(
                Level::High,
                "any-origin",
                "Any web site can then ask people to sign with their passkey.",
            );
        } else {
            description.flag(
                Level::Med,
                "origins-changed",
                "Passkeys stop working on web sites that are not listed.",
            );
        }
        if origins.iter().any(|origin| origin.starts_with("http://")) {
            description.flag(
                Level::Med,
                "origin-without-tls",
                "An attacker on the network can impersonate a web origin without TLS.",
            );
        }
        Ok(description)
    }
}
