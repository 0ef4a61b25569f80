//! What the descriptions of sessions share.

use quorate_common::wire::SessionProfile;

use crate::kinds::prelude::*;
use crate::text::{duration, grouped};

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

/// Describes a session whose key is encrypted to a target key, for a user whom only the daemon knows.
pub(in crate::kinds) fn describe_bundled(
    parameters: &Reader<'_>,
    brief: String,
    whose: &str,
) -> Result<Description> {
    let lifetime = lifetime(parameters, None)?;
    let sentence = format!(
        "Open a session {lifetime} for {whose}. Its key is encrypted to the target key that is shown in full below, and \
         may do what this user may do."
    );
    let mut description = Description::new(brief, sentence);
    description.fact("target key, in full", grouped(&clean(parameters.text("targetPublicKey")?)));
    if replaces(parameters)? {
        description.flag_low("ends-sessions", "Ends the other such sessions of this user.");
    }
    Ok(description)
}

/// Describes a login with a public key, for a user whom only the daemon knows.
pub(in crate::kinds) fn describe_login(
    parameters: &Reader<'_>,
    whose: &str,
    context: &ReviewContext<'_>,
) -> Result<Description> {
    let limits = Limits::read(parameters, context)?;
    let key = clean(parameters.text("publicKey")?);
    let mut description = Description::new(
        format!("key {key}"),
        format!(
            "Open a session {}, for the public key {key}, of {whose}. {}",
            limits.lifetime, limits.sentence
        ),
    );
    limits.flag(parameters, &mut description)?;
    Ok(description)
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

    /// Flags logins that the session ends, and a profile that is not known.
    pub(in crate::kinds) fn flag(
        &self,
        parameters: &Reader<'_>,
        description: &mut Description,
    ) -> Result<()> {
        if replaces(parameters)? {
            description.flag_low("ends-sessions", "Ends the other logins of this user.");
        }
        if self.is_unknown {
            let text =
                "The limits and the lifetime of the session are unknown: its profile is not known here.";
            description.flag_high("unknown-profile", text);
        }
        Ok(())
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
