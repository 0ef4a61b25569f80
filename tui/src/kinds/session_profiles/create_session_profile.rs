//! Adds a profile that sessions can be limited to.

use quorate_policy::{ExpressionKind, Program};

use super::unknown_names;
use crate::kinds::prelude::*;
use crate::text::duration;

pub(super) const KIND: Kind = Kind::new("CREATE_SESSION_PROFILE", "Create session profile", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
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
    description.change("scope", "-", clean(scope));
    let profiles = &context.organization.session_profiles;
    description.change_added("profiles", profiles.len(), 1);
    if scope.trim() == "true" {
        let text = "Does not limit sessions: the scope is true for ANY activity.";
        description.flag_medium("scope-without-limit", text);
    }
    for unknown in unknown_names(scope) {
        let text = format!(
            "Permits less than intended, or more if the scope excludes the name: {}.",
            clean(&unknown)
        );
        description.flag_medium("unknown-name", text);
    }
    if let Err(error) = Program::parse(ExpressionKind::Condition, scope) {
        description.flag_medium(
            "unreadable-expression",
            format!("This console cannot evaluate it: {}.", clean(&error.to_string())),
        );
    }
    if profiles.iter().any(|profile| profile.session_profile_name == name) {
        description.flag_same_name("a session profile", name);
    }
    Ok(description)
}
