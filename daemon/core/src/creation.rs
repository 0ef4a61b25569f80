//! Changes that the operator of the service makes outside of the API: creating a top-level organization, and
//! removing an IP allowlist or MFA policies that have locked out users.

use quorate_common::bounded::Label;
use quorate_common::ids::OrganizationId;

use crate::error::{Corrupt, Intent, RequestError};
use crate::limits::Limits;
use crate::make::quorum;
use crate::make::user::{self, SignIn};
use crate::model::change::{Applied, Change, NewOrganization, apply, create};
use crate::model::layout::IndexKey;
use crate::model::organization::Head;
use crate::model::{Millis, Organization, RootQuorum, User};
use crate::params::NewUser;
use crate::pipeline::Commit;
use crate::view::not_empty;
use crate::world::Runtime;

/// Removes the IP allowlist of an organization. The allowlists of its API keys have no effect without it.
///
/// # Errors
/// If a record cannot be encoded.
pub fn clear_ip_allowlist(
    organization: &Organization,
    index: &IndexKey,
    now: Millis,
) -> Result<Commit, Corrupt> {
    change(organization, Change::SetIpAllowlist(None), now, index)
}

/// Removes all MFA policies of a user. Activities that wait for steps of the user run with the next approval.
///
/// # Errors
/// If a record cannot be encoded.
pub fn remove_mfa_policies(
    organization: &Organization,
    user: &User,
    index: &IndexKey,
    now: Millis,
) -> Result<Commit, Corrupt> {
    let user = User { mfa_policies: Vec::new(), updated: now, ..user.clone() };
    change(organization, Change::PutUser(user), now, index)
}

fn change(
    organization: &Organization,
    change: Change,
    now: Millis,
    index: &IndexKey,
) -> Result<Commit, Corrupt> {
    let applied = apply(organization, vec![change], now, index)?;
    Ok(Commit {
        expect: vec![(organization.id(), organization.head.version)],
        writes: applied.writes,
        after: vec![applied.after],
        ..Commit::default()
    })
}

/// A new organization with its root users, and the commit that stores it.
pub struct CreatedOrganization {
    /// Id of the organization.
    pub id: OrganizationId,
    /// Root users, in the order given.
    pub root_users: Vec<User>,
    /// Commit that stores the organization.
    pub commit: Commit,
}

/// Checks that a threshold fits the number of root users.
///
/// # Errors
/// If the threshold is zero or greater than the number of root users.
pub fn check_threshold(threshold: u32, root_users: usize) -> Result<(), RequestError> {
    if (1..=root_users).contains(&usize::try_from(threshold).unwrap_or(usize::MAX)) {
        return Ok(());
    }
    Err(Intent::Threshold("quorum threshold must be between one and the number of root users").into())
}

/// Creates a top-level organization, of whose root users `threshold` must agree.
///
/// # Errors
/// If the root users or the threshold are invalid.
pub fn organization(
    name: Label,
    root_users: Vec<NewUser>,
    threshold: u32,
    limits: &Limits,
    index: &IndexKey,
    runtime: &mut Runtime<'_>,
) -> Result<CreatedOrganization, RequestError> {
    not_empty(&root_users, "rootUsers")?;
    user::check(&root_users, None, SignIn::default(), limits)?;
    check_threshold(threshold, root_users.len())?;
    quorum::of_new_users(&root_users, threshold, SignIn::default())?;
    let mut users = Vec::with_capacity(root_users.len());
    for new in root_users {
        users.push(user::first_user(new, runtime)?);
    }
    let quorum = RootQuorum { threshold, members: users.iter().map(|user| user.id).collect() };
    let head = Head::new(OrganizationId::random(runtime.random()), None, name, quorum, runtime.now);
    let id = head.id;
    let changes = users.iter().cloned().map(Change::PutUser).collect();
    let Applied { after, writes, must_not_exist, .. } =
        create(NewOrganization { head, changes }, runtime.now, index)?;
    let commit = Commit { must_not_exist, writes, after: vec![after], ..Commit::default() };
    Ok(CreatedOrganization { id, root_users: users, commit })
}
