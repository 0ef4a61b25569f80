//! What the descriptions of sessions share.

use quorate_common::wire::SessionProfile;

use crate::kinds::prelude::*;
use crate::text::duration;

/// Lifetime of a session if the request states none, in seconds.
const LIFETIME_SECONDS: u64 = 900;

/// Returns the lifetime of a session, as in `for 15m`: the shorter of the requested one and that of its profile.
pub(in crate::kinds) fn lifetime(
    parameters: &Reader<'_>,
    profile: Option<&SessionProfile>,
) -> Result<String> {
    let is_requested = parameters.has("expirationSeconds");
    let requested = is_requested.then(|| parameters.number("expirationSeconds")).transpose()?;
    let of_profile = profile.and_then(|one| one.expiration_seconds.as_deref()?.parse().ok());
    let seconds = [requested, of_profile].into_iter().flatten().min().unwrap_or(LIFETIME_SECONDS);
    Ok(format!("for {}", duration(seconds.saturating_mul(1000))))
}

/// Returns whether a session replaces the other sessions of its user.
pub(in crate::kinds) fn replaces(parameters: &Reader<'_>) -> Result<bool> {
    Ok(parameters.has("invalidateExisting") && parameters.boolean("invalidateExisting")?)
}

/// Flags that the owner of the target key is unknown, and so who receives what is mailed, such as `session`.
pub(in crate::kinds) fn flag_mailed_key(description: &mut Description, what: &str) {
    let text = format!(
        "An attacker who reads the mail and has the target key receives the {what}. Compare the target key with the one that the receiver sees."
    );
    description.flag_high("target-unknown", text);
}

/// How long a login lasts, and what its session profile permits.
pub(in crate::kinds) struct Limits {
    /// Lifetime, as in `for 15m`.
    pub(in crate::kinds) lifetime: String,
    /// What the session may do, as a sentence.
    pub(in crate::kinds) sentence: String,
    is_unknown: bool,
}

impl Limits {
    /// Reads the lifetime and the session profile of a login.
    pub(in crate::kinds) fn read(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Self> {
        let profiles = &context.organization.session_profiles;
        let named = parameters.maybe_text("sessionProfileId")?;
        let known = named.and_then(|id| profiles.iter().find(|one| one.session_profile_id.to_string() == id));
        let sentence = match (named, known) {
            (None, _) => "It may do what this user may do.".to_owned(),
            (Some(_), Some(profile)) => format!(
                "It is limited by the session profile {}: it may only propose activities where {} [s] is true.",
                stated(&profile.session_profile_name),
                quoted(&profile.scope)
            ),
            (Some(id), None) => {
                format!("It is limited by the session profile {} (not known here).", clean(id))
            }
        };
        let is_unknown = named.is_some() && known.is_none();
        Ok(Self { lifetime: lifetime(parameters, known)?, sentence, is_unknown })
    }

    /// Flags a session profile that is not known here.
    pub(in crate::kinds) fn flag(&self, description: &mut Description) {
        if self.is_unknown {
            let text =
                "The limits and the lifetime of the session are unknown: its profile is not known here.";
            description.flag_high("unknown-profile", text);
        }
    }
}

/// Flags what the holder of a session of this user can do.
pub(in crate::kinds) fn flag_holder(description: &mut Description, id: &str, context: &ReviewContext<'_>) {
    let user = context.user_named(id);
    if context.is_root(id) {
        description.flag_high(
            "session-of-root-user",
            format!("The holder of the session can vote in the root quorum as {user}."),
        );
    }
    if context.is_proposed_by_other(id) {
        description.flag_high(
            "session-by-other",
            format!("The holder of the session can act as {user}, who did not propose this."),
        );
    }
    description.flag_if_missing("unknown-user", context.user(id).is_some(), &user);
}
