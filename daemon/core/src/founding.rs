//! What whoever runs the service does outside of the API: founding a top-level organization, and letting its users
//! in again when their IP allowlist has locked them out.

use quorate_common::bounded::Label;
use quorate_common::ids::OrganizationId;

use crate::limits::Limits;
use crate::make::quorum;
use crate::make::user::{self, SignIn};
use crate::model::change::{Applied, Change, Founding, apply, found};
use crate::model::layout::IndexKey;
use crate::model::organization::Head;
use crate::model::{Millis, Organization, RootQuorum, User};
use crate::params::NewUser;
use crate::pipeline::Commit;
use crate::refusal::{Corrupt, Intent, Refusal};
use crate::view::not_empty;
use crate::world::Moment;

/// Takes the IP allowlist of an organization away. Those of its API keys count for nothing without it.
pub fn clear_ip_allowlist(
    organization: &Organization,
    index: &IndexKey,
    now: Millis,
) -> Result<Commit, Corrupt> {
    let applied = apply(organization, vec![Change::SetIpAllowlist(None)], now, index)?;
    Ok(Commit {
        expect: vec![(organization.id(), organization.head.version)],
        writes: applied.writes,
        after: vec![applied.after],
        ..Commit::default()
    })
}

/// A new organization and its root users.
pub struct Founded {
    /// Its id.
    pub id: OrganizationId,
    /// Its root users, in the order given.
    pub root_users: Vec<User>,
    /// What to commit.
    pub commit: Commit,
}

/// Checks that so many of these root users can agree.
///
/// # Errors
/// When the threshold is zero, or greater than the number of root users.
pub fn check_threshold(threshold: u32, root_users: usize) -> Result<(), Refusal> {
    if (1..=root_users).contains(&usize::try_from(threshold).unwrap_or(usize::MAX)) {
        return Ok(());
    }
    Err(Intent::Threshold("quorum threshold must be between one and the number of root users").into())
}

/// Founds an organization whose root users must agree `threshold` at a time.
pub fn organization(
    name: Label,
    root_users: Vec<NewUser>,
    threshold: u32,
    limits: &Limits,
    index: &IndexKey,
    moment: &mut Moment<'_>,
) -> Result<Founded, Refusal> {
    not_empty(&root_users, "rootUsers")?;
    user::check(&root_users, None, SignIn::default(), limits)?;
    check_threshold(threshold, root_users.len())?;
    quorum::of_new_users(&root_users, threshold, SignIn::default())?;
    let mut users = Vec::with_capacity(root_users.len());
    for new in root_users {
        users.push(user::first_user(new, moment)?);
    }
    let quorum = RootQuorum { threshold, members: users.iter().map(|user| user.id).collect() };
    let head = Head::new(OrganizationId::random(moment.random()), None, name, quorum, moment.now);
    let id = head.id;
    let changes = users.iter().cloned().map(Change::PutUser).collect();
    let Applied { after, writes, absent, .. } = found(Founding { head, changes }, moment.now, index)?;
    let commit = Commit { absent, writes, after: vec![after], ..Commit::default() };
    Ok(Founded { id, root_users: users, commit })
}
