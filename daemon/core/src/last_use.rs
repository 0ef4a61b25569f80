//! Records when credentials were last used. Uses are collected by the daemon and recorded in the background, so that
//! they cost a request neither a write nor a sync.

use std::collections::BTreeMap;

use quorate_common::ids::{AuthenticatorId, OrganizationId, UserId};
use quorate_common::wire::{self, LastUse};

use crate::error::Corrupt;
use crate::model::last_use::{Credential, CredentialUse, LastUses, WentBack};
use crate::model::layout::{self, Lookup, sign_in};
use crate::model::record::Record as _;
use crate::model::user::ApiKey;
use crate::model::write::Write;
use crate::model::{Organization, User};
use crate::pipeline::Commit;
use crate::world::{Page, World};

/// The commit that records uses, and what it reveals.
#[derive(Default)]
pub struct Recording {
    /// Commit; without writes if all uses are recorded already.
    pub commit: Commit,
    /// Passkeys whose counters went back, once the commit is durable.
    pub went_back: Vec<PasskeyBack>,
}

/// A passkey whose signature counter went back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PasskeyBack {
    /// Organization of the user.
    pub organization: OrganizationId,
    /// User of the passkey.
    pub user: UserId,
    /// Passkey.
    pub passkey: AuthenticatorId,
    /// Use whose counter went back.
    pub back: WentBack,
}

/// Returns the commit that records uses. It contains no writes if all of them are recorded already. It clashes if one of
/// the users is deleted in between; then it must be computed again.
///
/// # Errors
/// If the store cannot be read, or a record cannot be encoded.
pub fn commit(world: &dyn World, waiting: &[CredentialUse]) -> Result<Recording, Corrupt> {
    let mut by_user: BTreeMap<(OrganizationId, UserId), Vec<CredentialUse>> = BTreeMap::new();
    for one in waiting {
        by_user.entry((one.organization, one.user)).or_default().push(*one);
    }
    let mut recording = Recording::default();
    for ((organization, id), uses) in by_user {
        // The uses in an organization that cannot be read do not keep those in others from being recorded.
        let Ok(Some(snapshot)) = world.organization(organization) else { continue };
        let Some(user) = snapshot.user(id) else { continue };
        let key = sign_in::last_uses(organization, user.id);
        let mut record = match world.records().read(&key)? {
            Some(bytes) => LastUses::decode(&bytes)?,
            None => LastUses::default(),
        };
        let update = record.update(user, &uses);
        if update.is_changed {
            recording.commit.must_not_exist.push(layout::deleted_user(organization, user.id));
            recording.commit.writes.push(Write::put(key, &record)?);
            recording.commit.writes.extend(established(world, &snapshot, user, &uses));
        }
        let back = |(passkey, back)| PasskeyBack { organization, user: user.id, passkey, back };
        recording.went_back.extend(update.went_back.into_iter().map(back));
    }
    Ok(recording)
}

/// Returns the index entries by which a user is found by the keys that stamped something, so that no other registration of
/// them counts. Keys that expire have none: nobody knows them before they are used.
fn established(
    world: &dyn World,
    organization: &Organization,
    holder: &User,
    uses: &[CredentialUse],
) -> Vec<Write> {
    let Some(parent) = organization.head.parent else { return Vec::new() };
    let has_stamped = |key: &&ApiKey| {
        key.expiration_seconds.is_none()
            && uses.iter().any(|one| one.credential == Credential::ApiKey(key.id))
    };
    let entry = |key: &ApiKey| {
        let (id, of) = (organization.id(), holder.id.as_bytes());
        layout::lookup_entry(world.index(), parent, Lookup::EstablishedKey, &key.public_key, id, of)
    };
    holder.api_keys.iter().filter(has_stamped).map(|key| Write::mark(entry(key), &[])).collect()
}

/// Returns when the credentials of an organization were last used, as far as it is recorded. Half of the rows that an
/// answer may read are read at most.
///
/// # Errors
/// If the store cannot be read.
pub fn of_organization(world: &dyn World, organization: &Organization) -> Result<Vec<LastUse>, Corrupt> {
    let rows = (world.limits().rows_per_answer / 2).max(1);
    let most = organization.users().count().clamp(1, rows);
    let prefix = sign_in::last_uses_of(organization.id());
    let mut uses = Vec::new();
    for (_, bytes) in world.records().page(Page::first(&prefix, most))? {
        let record = LastUses::decode(&bytes)?;
        uses.extend(record.uses.iter().map(|(credential, at)| LastUse {
            credential_id: credential.id(),
            at_millis: *at,
            counter_went_back: record.went_back(*credential).map(WentBack::wire),
        }));
    }
    Ok(uses)
}

/// Returns the read-only sessions of an organization, also those that have ended and were not removed yet.
pub fn read_only_sessions(organization: &Organization) -> Vec<wire::ReadOnlySession> {
    let mut users: Vec<&User> = organization.users().collect();
    users.sort_by_key(|user| (user.created, user.id));
    let sessions =
        |user: &&'_ User| user.read_only_sessions.iter().map(|one| one.wire(user.id)).collect::<Vec<_>>();
    users.iter().flat_map(sessions).collect()
}
