//! Adds a profile that sessions can be limited to.

use quorate_policy::{ExpressionKind, Program};

use super::{Description, Kind, Level, Reader, Scene, Undecodable, Version};
use crate::text::{clean, duration, quoted};

pub(super) struct CreateSessionProfile;

impl Kind for CreateSessionProfile {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_CREATE_SESSION_PROFILE",
            intent: "createSessionProfileIntent",
            schema: "sessionProfileName scope expirationSeconds notes",
        }]
    }

    fn title(&self) -> &'static str {
        "Create session profile"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let name = parameters.text("sessionProfileName")?;
        let scope = parameters.text("scope")?;
        let life = if parameters.has("expirationSeconds") {
            let seconds = parameters.number("expirationSeconds")?;
            format!("at most {} ({seconds} seconds)", duration(seconds.saturating_mul(1000)))
        } else {
            "as long as any session, because the profile sets no limit".to_owned()
        };
        let mut description = Description::new(
            quoted(name),
            format!(
                "Add the session profile {}: a session that names it may only propose activities where {} is \
                 true, and lasts {life}.",
                quoted(name),
                quoted(scope)
            ),
        );
        description.change("scope", "-", clean(scope), "");
        let profiles = &scene.organization.session_profiles;
        let before = profiles.len();
        description.change("profiles", before.to_string(), before.saturating_add(1).to_string(), "");
        if scope.trim() == "true" {
            let text = "Does not limit sessions: the scope is true for ANY activity.";
            description.flag(Level::Med, "scope-without-limit", text);
        }
        if let Err(error) = Program::parse(ExpressionKind::Condition, scope) {
            description.flag(
                Level::Med,
                "unreadable-expression",
                format!("This console cannot evaluate it: {}.", clean(&error.to_string())),
            );
        }
        if profiles.iter().any(|profile| profile.session_profile_name == name) {
            let text = format!("Easy to confuse: a session profile named {} already exists.", quoted(name));
            description.flag(Level::Med, "same-name", text);
        }
        Ok(description)
    }
}
