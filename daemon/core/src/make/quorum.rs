//! Keeps root quorums reachable: at least `threshold` of the members have a credential that does not expire.
//! Otherwise an organization could be left without anyone who can act as root, merely because time passes.

use quorate_common::ids::UserId;

use super::sign_in::SignIn;
use crate::error::{Intent, RequestError};
use crate::model::{Organization, RootQuorum, User};
use crate::params::NewUser;

/// Parses a threshold.
///
/// # Errors
/// If it is zero or negative.
pub fn threshold(given: i32) -> Result<u32, RequestError> {
    let threshold = u32::try_from(given).ok().filter(|threshold| *threshold > 0);
    threshold.ok_or_else(|| Intent::Threshold("quorum threshold must be non-zero integer").into())
}

/// Checks that a new root quorum of the organization can always be met.
///
/// # Errors
/// If fewer than `threshold` members have a credential that does not expire.
pub fn can_be_met(quorum: &RootQuorum, organization: &Organization) -> Result<(), RequestError> {
    enough(lasting(quorum, |id| organization.user(id)), quorum.threshold)
}

/// Checks that the root quorum can still always be met after this change of a user. If it could not be met
/// before, the change must not make it worse.
///
/// # Errors
/// If too few members would have a credential that does not expire.
pub fn survives(changed: &User, organization: &Organization) -> Result<(), RequestError> {
    let quorum = &organization.head.quorum;
    let before = lasting(quorum, |id| organization.user(id));
    let after = lasting(quorum, |id| if id == changed.id { Some(changed) } else { organization.user(id) });
    if after >= before { Ok(()) } else { enough(after, quorum.threshold) }
}

/// Checks that a root quorum of these new users can always be met, by credentials that do not expire or by
/// signing in without a credential.
///
/// # Errors
/// If too few users can.
pub fn of_new_users(users: &[NewUser], threshold: u32, sign_in: SignIn) -> Result<(), RequestError> {
    enough(
        users.iter().filter(|user| user.has_lasting_credential() || sign_in.admits(user)).count(),
        threshold,
    )
}

/// Returns how many members have a credential that does not expire.
fn lasting<'a>(quorum: &RootQuorum, user: impl Fn(UserId) -> Option<&'a User>) -> usize {
    quorum.members.iter().filter_map(|id| user(*id)).filter(|user| user.has_lasting_key()).count()
}

fn enough(lasting: usize, threshold: u32) -> Result<(), RequestError> {
    if lasting >= usize::try_from(threshold).unwrap_or(usize::MAX) {
        return Ok(());
    }
    let text = "quorum threshold cannot always be met: it exceeds the number of root users with a credential that \
                does not expire";
    Err(Intent::Threshold(text).into())
}
