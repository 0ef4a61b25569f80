//! What a user has left once credentials are deleted, and whether the daemon deletes them at all.

use quorate_common::wire::User;

use crate::credentials::is_session_key;
use crate::kinds::prelude::*;

/// `CREDENTIAL_TYPE_*` of a key that can only register an authenticator of its user.
const RECOVERY: &str = "CREDENTIAL_TYPE_RECOVER_USER_KEY_P256";

/// Flags what the loss of credentials means for a user. `after` is the user without them. The daemon refuses a deletion
/// that leaves no credential, except that of sessions, which end by themselves anyway.
pub(super) fn flag(user: &User, after: &User, context: &ReviewContext<'_>, description: &mut Description) {
    let deleted = user.api_keys.iter().filter(|key| !after.api_keys.contains(key));
    let only_sessions = deleted.clone().next().is_some() && deleted.clone().all(is_session_key);
    let is_bare =
        after.api_keys.is_empty() && after.authenticators.is_empty() && after.oauth_providers.is_empty();
    let id = user.user_id.to_string();
    let name = context.user_short(&id);
    if only_sessions {
        if is_bare {
            let text = format!("{name} has no other credential: only a new sign-in gives access again.");
            description.flag_medium("last-credential", text);
        }
    } else if is_bare {
        let text = format!("Would lock {name} out: no credential would be left. The daemon refuses that.");
        description.flag_high("last-credential", text);
        description.refuse(format!("user missing valid credential: {id}"));
    } else if has_lasting(user) && !has_lasting(after) {
        let text = format!("Locks {name} out when the sessions end: no other credential would be left.");
        description.flag_high("last-credential", text);
    } else if context.is_root(&id) && has_key(user) && !has_key(after) {
        let text = format!("{name} could not vote in the root quorum anymore. The daemon refuses that.");
        description.flag_high("last-key-of-root-user", text);
        description.refuse("quorum users missing");
    }
}

/// Returns whether a user has a credential that is no session.
fn has_lasting(user: &User) -> bool {
    !user.api_keys.iter().all(is_session_key)
        || !user.authenticators.is_empty()
        || !user.oauth_providers.is_empty()
}

/// Returns whether a user has a key for votes: an API key, even an expired one, or a passkey.
fn has_key(user: &User) -> bool {
    user.api_keys.iter().any(|key| key.credential.credential_type != RECOVERY)
        || user.authenticators.iter().any(|one| !one.credential.public_key.is_empty())
}
