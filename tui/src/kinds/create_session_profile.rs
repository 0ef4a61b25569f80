//! Adds a profile that sessions can be limited to.

use quorate_policy::{ExpressionKind, Program};

use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version};
use crate::text::{clean, duration, quoted};

pub(super) struct CreateSessionProfile;

impl Kind for CreateSessionProfile {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_CREATE_SESSION_PROFILE",
            intent: "createSessionProfileIntent",
            shape: "sessionProfileName scope expirationSeconds notes",
        }]
    }

    fn title(&self) -> &'static str {
        "Create session profile"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let name = parameters.text("sessionProfileName")?;
        let scope = parameters.text("scope")?;
        let life = if parameters.has("expirationSeconds") {
            let seconds = parameters.number("expirationSeconds")?;
            format!("at most {} ({seconds} seconds)", duration(seconds.saturating_mul(1000)))
        } else {
            "as long as any session, since the profile sets no end".to_owned()
        };
        let mut story = Story::new(
            quoted(name),
            format!(
                "Add the session profile {}: a session that names it may ask only for activities for which {} holds, \
                 and lasts {life}.",
                quoted(name),
                quoted(scope)
            ),
        );
        story.change("scope", "-", clean(scope), "");
        let profiles = &scene.organization.session_profiles;
        let before = profiles.len();
        story.change("profiles", before.to_string(), before.saturating_add(1).to_string(), "");
        if scope.trim() == "true" {
            let text = "the scope holds for ANY activity: such a session is limited by nothing";
            story.flag(Level::Med, "scope-without-limit", text);
        }
        if let Err(flaw) = Program::parse(ExpressionKind::Condition, scope) {
            story.flag(Level::Med, "unreadable-expression", clean(&flaw.to_string()));
        }
        if profiles.iter().any(|profile| profile.session_profile_name == name) {
            let text = format!("there is a session profile named {} already", quoted(name));
            story.flag(Level::Med, "same-name", text);
        }
        Ok(story)
    }
}
