//! Root quorums that can always be met: at least `threshold` of the members have a credential that does not expire.
//! Otherwise time alone would leave an organization without anyone who can act as root.

use quorate_common::ids::UserId;

use super::user::SignIn;
use crate::model::{Organization, RootQuorum, User};
use crate::params::NewUser;
use crate::refusal::{Intent, Refusal};

/// A root quorum of an organization, as it is to be, can always be met.
pub fn can_be_met(quorum: &RootQuorum, organization: &Organization) -> Result<(), Refusal> {
    enough(lasting(quorum, |id| organization.user(id)), quorum.threshold)
}

/// The root quorum of an organization can still always be met once this user is as given. Where it could not before
/// either, the user must not make it worse.
pub fn survives(changed: &User, organization: &Organization) -> Result<(), Refusal> {
    let quorum = &organization.head.quorum;
    let before = lasting(quorum, |id| organization.user(id));
    let after = lasting(quorum, |id| if id == changed.id { Some(changed) } else { organization.user(id) });
    if after >= before { Ok(()) } else { enough(after, quorum.threshold) }
}

/// A root quorum of all these new users can always be met, by a credential that does not expire or by signing in
/// without one.
pub fn of_new_users(users: &[NewUser], threshold: u32, sign_in: SignIn) -> Result<(), Refusal> {
    enough(
        users.iter().filter(|user| user.has_lasting_credential() || sign_in.admits(user)).count(),
        threshold,
    )
}

/// How many members have a credential that does not expire.
fn lasting<'a>(quorum: &RootQuorum, user: impl Fn(UserId) -> Option<&'a User>) -> usize {
    quorum.members.iter().filter_map(|id| user(*id)).filter(|user| user.has_lasting_key()).count()
}

fn enough(lasting: usize, threshold: u32) -> Result<(), Refusal> {
    if lasting >= usize::try_from(threshold).unwrap_or(usize::MAX) {
        return Ok(());
    }
    let text = "quorum threshold cannot always be met: it exceeds the number of root users with a credential that \
                does not expire";
    Err(Intent::Threshold(text).into())
}
