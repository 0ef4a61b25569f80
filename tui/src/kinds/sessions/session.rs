//! What the descriptions of sessions share.

use quorate_common::wire::SessionProfile;

use crate::kinds::prelude::*;
use crate::text::duration;

/// Lifetime of a session if the request states none, in seconds.
const LIFETIME_SECONDS: u64 = 900;

/// Returns the lifetime of a session, as in `for 15m`: the shorter of the requested one and that of its profile.
pub(super) fn lifetime(
    parameters: &Reader<'_>,
    profile: Option<&SessionProfile>,
) -> Result<String, Undecodable> {
    let is_requested = parameters.has("expirationSeconds");
    let requested = is_requested.then(|| parameters.number("expirationSeconds")).transpose()?;
    let of_profile = profile.and_then(|one| one.expiration_seconds.as_deref()?.parse().ok());
    let seconds = [requested, of_profile].into_iter().flatten().min().unwrap_or(LIFETIME_SECONDS);
    Ok(format!("for {}", duration(seconds.saturating_mul(1000))))
}

/// Returns whether a session replaces the other sessions of its user.
pub(super) fn replaces(parameters: &Reader<'_>) -> Result<bool, Undecodable> {
    Ok(parameters.has("invalidateExisting") && parameters.boolean("invalidateExisting")?)
}

/// Flags what the holder of a session of this user can do.
pub(super) fn flag_holder(description: &mut Description, id: &str, context: &ReviewContext<'_>) {
    let user = context.user_named(id);
    if context.is_root(id) {
        description.flag(
            Level::High,
            "session-of-root-user",
            format!("The holder of the session can vote in the root quorum as {user}."),
        );
    }
    if context.is_proposed_by_other(id) {
        description.flag(
            Level::High,
            "session-by-other",
            format!("The holder of the session can act as {user}, who did not propose this."),
        );
    }
    description.flag_if_missing("unknown-user", context.user(id).is_some(), &user);
}
