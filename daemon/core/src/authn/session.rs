//! Authentication by the token of a read-only session.

use std::net::IpAddr;

use quorate_common::stamp::{Scheme, Stamp};
use sha2::{Digest, Sha256};

use crate::error::{Authn, RequestError};
use crate::limits::READ_ONLY_SESSION_MILLIS;
use crate::model::last_use::Credential;
use crate::model::user::ReadOnlySession;
use crate::model::{Millis, Organization};
use crate::view::Caller;

/// Length of a token in hex digits.
pub(super) const TOKEN_DIGITS: usize = 64;

/// Finds the user whose session has this token. Tokens are random, so their digests can be compared without
/// protection against timing.
pub(super) fn caller(
    organization: &Organization,
    token: &str,
    source: Option<IpAddr>,
    (now, restored): (Millis, Millis),
) -> Result<Caller, RequestError> {
    let token: [u8; 32] = const_hex::decode_to_array(token).map_err(|_| Authn::UnknownSession)?;
    let digest: [u8; 32] = Sha256::digest(token).into();
    let has_session = |session: &&ReadOnlySession| session.digest == digest;
    let found = organization
        .users()
        .find_map(|user| user.read_only_sessions.iter().find(has_session).map(|session| (user, session)));
    let (user, session) = found.ok_or(Authn::UnknownSession)?;
    // All sessions last equally long.
    let created = session.expires.saturating_sub(READ_ONLY_SESSION_MILLIS);
    if session.expires <= now || created < restored {
        return Err(Authn::ExpiredSession.into());
    }
    super::check_source(organization, None, source)?;
    let stamp = Stamp { public_key: String::new(), scheme: Scheme::P256, signature: String::new() };
    let credential = Some(Credential::ReadOnlySession(session.id()));
    Ok(Caller { used: credential, ..Caller::new(organization, user.id, *user.id.as_bytes(), stamp) })
}
