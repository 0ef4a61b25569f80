//! The index of the activities that wait for votes, by tenant. Stores of earlier versions have none, and earlier versions do
//! not keep it up to date; it is built in the background, and compared in checks of a whole store.

use std::collections::BTreeSet;

use quorate_common::activity::Status;
use quorate_common::ids::{ActivityId, OrganizationId};

use crate::error::Corrupt;
use crate::model::ActivityRecord;
use crate::model::layout::{self, IndexKey, Key, Letter};
use crate::model::organization::Head;
use crate::model::record::Record;
use crate::model::write::Write;
use crate::pipeline::Commit;
use crate::records;
use crate::world::{Page, Records, World};

/// Maximum number of organizations in one step.
pub const ORGANIZATIONS: usize = 64;
/// A step ends after the organization with which it has at least this many entries.
const ENTRIES: usize = 1024;

/// One step of building the index.
pub struct Step {
    /// The entries that are missing, and the removal of those that are superfluous, on the condition that their organizations are unchanged. Otherwise, the step must be repeated, best
    /// with fewer organizations.
    pub commit: Commit,
    /// Key after which the next step starts; `None` after the last step.
    pub next: Option<Key>,
}

/// Returns the step after a key of an earlier step, with at most this many organizations. Returns `None` if the index is
/// complete.
///
/// # Errors
/// If the store cannot be read.
pub fn step(world: &dyn World, after: Option<&[u8]>, organizations: usize) -> Result<Option<Step>, Corrupt> {
    let (records, index) = (world.records(), world.index());
    let complete = layout::waiting_is_complete(index);
    if records.read(&complete)?.is_some() {
        return Ok(None);
    }
    let limit = organizations.clamp(1, ORGANIZATIONS);
    let keys = records.keys(Page { after, ..Page::first(layout::ORGANIZATIONS, limit) })?;
    let mut commit = Commit::default();
    for key in &keys {
        let Some(id) = layout::organization_id(key) else { continue };
        let Some(head) = head(records, id)? else { continue };
        let before = commit.writes.len();
        let wanted = entries(records, index, &head)?;
        let prefix = layout::waiting_of(index, head.tenant(), Some(id));
        let present: BTreeSet<Key> = records.keys(Page::first(&prefix, usize::MAX))?.into_iter().collect();
        let missing = wanted.difference(&present).map(|entry| Write::mark(entry.clone(), &[]));
        commit.writes.extend(missing);
        commit.writes.extend(present.difference(&wanted).cloned().map(Write::remove));
        if commit.writes.len() > before {
            commit.expect.push((id, head.version));
        }
        if commit.writes.len() >= ENTRIES {
            return Ok(Some(Step { commit, next: Some(key.clone()) }));
        }
    }
    let next = keys.into_iter().nth(limit.saturating_sub(1));
    if next.is_none() {
        commit.writes.push(Write::mark(complete, &[]));
    }
    Ok(Some(Step { commit, next }))
}

/// Returns the commit after which the index counts as incomplete, so that it is built again.
pub fn restart(index: &IndexKey) -> Commit {
    Commit { writes: vec![Write::remove(layout::waiting_is_complete(index))], ..Commit::default() }
}

/// Describes how a record differs from the complete index: an activity that waits without an entry, or an entry of an
/// activity that does not wait.
///
/// # Errors
/// If a record cannot be read.
pub fn difference(records: &dyn Records, index: &IndexKey, key: &[u8]) -> Result<Option<String>, Corrupt> {
    let of = |organization: OrganizationId, id: ActivityId, problem: &str| {
        Some(format!("activity {id} of organization {organization}: {problem}"))
    };
    if layout::is_waiting(key) {
        // The record that states that the index is complete names no activity.
        let Some((organization, id)) = layout::waiting_activity(key) else { return Ok(None) };
        let is_superfluous = !is_wanted(records, index, key, organization, id)?;
        let problem = "the index of waiting activities lists it, but it does not wait for votes there";
        return Ok(if is_superfluous { of(organization, id, problem) } else { None });
    }
    let listed = if Letter::ActivityListed.starts(key) { layout::listed_activity(key) } else { None };
    let Some((organization, status, _, id)) = listed else { return Ok(None) };
    if !Status::WAITING.iter().any(|waiting| waiting.number() == status) {
        return Ok(None);
    }
    let Some(head) = head(records, organization)?.filter(|head| head.deleted.is_none()) else {
        return Ok(None);
    };
    let is_missing = records.read(&layout::waiting(index, head.tenant(), organization, id))?.is_none();
    let problem = "waits for votes, but the index of waiting activities does not list it";
    Ok(if is_missing { of(organization, id, problem) } else { None })
}

/// Returns whether an activity waits, so that it has an entry with this key.
fn is_wanted(
    records: &dyn Records,
    index: &IndexKey,
    key: &[u8],
    organization: OrganizationId,
    id: ActivityId,
) -> Result<bool, Corrupt> {
    let Some(head) = head(records, organization)?.filter(|head| head.deleted.is_none()) else {
        return Ok(false);
    };
    let Some(record) = records.read(&layout::activity(organization, id))? else { return Ok(false) };
    let waits = ActivityRecord::decode(&record)?.status.waits();
    Ok(waits && key == layout::waiting(index, head.tenant(), organization, id))
}

/// Returns the entries that an organization must have. A deleted one has none.
fn entries(records: &dyn Records, index: &IndexKey, head: &Head) -> Result<BTreeSet<Key>, Corrupt> {
    let mut found = BTreeSet::new();
    for status in Status::WAITING.iter().filter(|_| head.deleted.is_none()) {
        let prefix = layout::activities_of_status(head.id, *status);
        let listed = records.keys(Page::first(&prefix, usize::MAX))?;
        let waiting = listed.iter().filter_map(|key| layout::activity_id(key));
        found.extend(waiting.map(|activity| layout::waiting(index, head.tenant(), head.id, activity)));
    }
    Ok(found)
}

/// Returns the head of an organization, unless it is damaged and so not served.
fn head(records: &dyn Records, id: OrganizationId) -> Result<Option<Head>, Corrupt> {
    match records::head(records, id) {
        Err(Corrupt::Record(_)) => Ok(None),
        found => found,
    }
}
