//! The index of the activities that wait for votes, by tenant. Stores of earlier versions have none; it is built once, in
//! the background.

use quorate_common::activity::Status;
use quorate_common::ids::OrganizationId;

use crate::error::Corrupt;
use crate::model::layout::{self, Key};
use crate::model::organization::Head;
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
    /// The entries, on the condition that their organizations are unchanged. Otherwise, the step must be repeated, best
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
        for status in Status::WAITING {
            let prefix = layout::activities_of_status(id, status);
            let listed = records.keys(Page::first(&prefix, usize::MAX))?;
            let waiting = listed.iter().filter_map(|key| layout::activity_id(key));
            let entries = waiting.map(|activity| layout::waiting(index, head.tenant(), id, activity));
            commit.writes.extend(entries.map(|entry| Write::mark(entry, &[])));
        }
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

/// Returns the head of an organization, unless it is deleted, or damaged and so not served.
fn head(records: &dyn Records, id: OrganizationId) -> Result<Option<Head>, Corrupt> {
    match records::head(records, id) {
        Err(Corrupt::Record(_)) => Ok(None),
        found => Ok(found?.filter(|head| head.deleted.is_none())),
    }
}
