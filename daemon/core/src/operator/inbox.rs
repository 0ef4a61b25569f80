//! What waits for votes in an organization and in all its sub-organizations. An index lists it by tenant, so that
//! neither ended activities nor organizations in which nothing waits cost anything.

use quorate_common::console::{ActivityRow, InboxPage, OrganizationInbox, PAGE_LIMIT};
use quorate_common::ids::{ActivityId, OrganizationId};

use super::activities::{PAGE_BYTES, pending, row};
use super::{detail, load_organization};
use crate::error::{Corrupt, Intent, RequestError};
use crate::model::layout::{self, Key};
use crate::model::{Millis, Organization};
use crate::records;
use crate::world::{Page, World};

/// Maximum number of activities that are counted.
const COUNTED: usize = 5000;
/// Maximum number of organizations on one page, each of which is shown whole.
const ORGANIZATIONS: usize = 25;

/// Returns a page of the activities that wait for votes in an organization and then in its sub-organizations, after the
/// cursor of an earlier page.
///
/// # Errors
/// If there is no such organization, the cursor is invalid, or the store cannot be read.
pub fn inbox(
    world: &dyn World,
    id: OrganizationId,
    after: Option<&str>,
    limit: usize,
    now: Millis,
) -> Result<InboxPage, RequestError> {
    let head = &load_organization(world, id)?.head;
    let listed = Listed { tenant: head.tenant(), only: head.parent.map(|_| id) };
    let cursor = after.map(|text| parse(text).ok_or(Intent::Cursor)).transpose()?;
    let waiting = if cursor.is_none() { listed.count(world)? } else { None };
    let limit = limit.clamp(1, PAGE_LIMIT);
    let keys = listed.keys(world, cursor, limit)?;
    let is_full = keys.len() == limit;
    let (organizations, last) = read(world, &keys, now)?;
    let next = match last {
        Some(last) => Some(last),
        None => keys.last().filter(|_| is_full).and_then(|key| layout::waiting_activity(key)),
    };
    Ok(InboxPage {
        organizations,
        next: next.map(|(organization, activity)| {
            let part = u8::from(organization != listed.tenant);
            format!("{part}.{organization}.{activity}")
        }),
        waiting,
        is_complete: !world.installation().is_index_outdated()
            && world.records().read(&layout::waiting_is_complete(world.index()))?.is_some(),
    })
}

/// Position of an activity in the list.
type Position = (OrganizationId, ActivityId);

/// What an inbox lists.
struct Listed {
    tenant: OrganizationId,
    /// The only organization, if the inbox is that of a sub-organization.
    only: Option<OrganizationId>,
}

impl Listed {
    /// Returns index entries after a position. Those of the tenant itself precede those of its sub-organizations, so that
    /// what waits in these, which anybody may have, never delays what waits in the tenant.
    fn keys(&self, world: &dyn World, after: Option<Position>, limit: usize) -> Result<Vec<Key>, Corrupt> {
        let (records, index) = (world.records(), world.index());
        let own = layout::waiting_of(index, self.tenant, Some(self.only.unwrap_or(self.tenant)));
        let mut cursor =
            after.map(|(organization, id)| layout::waiting(index, self.tenant, organization, id));
        let is_own = |key: &Key| key.starts_with(&own);
        let mut keys = Vec::new();
        if cursor.as_ref().is_none_or(is_own) {
            keys = records.keys(Page { after: cursor.as_deref(), ..Page::first(&own, limit) })?;
            cursor = None;
        }
        let all = layout::waiting_of(index, self.tenant, None);
        while self.only.is_none() && keys.len() < limit {
            let wanted = limit.saturating_sub(keys.len());
            let found = records.keys(Page { after: cursor.as_deref(), ..Page::first(&all, wanted) })?;
            let is_end = found.len() < wanted;
            cursor = found.last().cloned();
            keys.extend(found.into_iter().filter(|key| !is_own(key)));
            if is_end {
                break;
            }
        }
        Ok(keys)
    }

    /// Counts the entries, unless there are so many that an answer may not read them.
    fn count(&self, world: &dyn World) -> Result<Option<u64>, Corrupt> {
        let prefix = layout::waiting_of(world.index(), self.tenant, self.only);
        let most = COUNTED.min(world.limits().rows_per_answer / 2);
        let keys = world.records().keys(Page::first(&prefix, most))?;
        Ok(u64::try_from(keys.len()).ok().filter(|_| keys.len() < most))
    }
}

/// Parses a cursor: a number that orders cursors as the list, and the ids of an organization and of an activity.
fn parse(cursor: &str) -> Option<Position> {
    let (organization, activity) =
        cursor.strip_prefix("0.").or(cursor.strip_prefix("1."))?.split_once('.')?;
    Some((organization.parse().ok()?, activity.parse().ok()?))
}

/// The last activity of a page that ends early.
type End = Option<Position>;

/// Reads the activities of index entries. Also returns the last one if the others do not fit on the page.
fn read(world: &dyn World, keys: &[Key], now: Millis) -> Result<(Vec<OrganizationInbox>, End), RequestError> {
    let mut found: Vec<OrganizationInbox> = Vec::new();
    let (mut bytes, mut last) = (0_usize, None);
    let entries: Vec<_> = keys.iter().filter_map(|key| layout::waiting_activity(key)).collect();
    for of_one in entries.chunk_by(|one, other| one.0 == other.0) {
        let Some((id, _)) = of_one.first() else { continue };
        if found.len() >= ORGANIZATIONS {
            return Ok((found, last));
        }
        // An organization may have been deleted since.
        let Some(organization) = world.organization(*id)? else { continue };
        bytes = bytes.saturating_add(organization.bytes());
        if bytes > PAGE_BYTES && last.is_some() {
            return Ok((found, last));
        }
        let mut inbox = OrganizationInbox { organization: detail(&organization), activities: Vec::new() };
        for (_, activity) in of_one {
            let is_first = last.is_none();
            let Some((row, size)) = waiting(world, &organization, *activity, now)? else { continue };
            bytes = bytes.saturating_add(size);
            // A row is correct only if its policies were evaluated completely.
            if (bytes > PAGE_BYTES || world.budget().steps_left() == 0) && !is_first {
                found.extend((!inbox.activities.is_empty()).then_some(inbox));
                return Ok((found, last));
            }
            inbox.activities.push(row);
            last = Some((*id, *activity));
        }
        found.extend((!inbox.activities.is_empty()).then_some(inbox));
    }
    Ok((found, None))
}

/// Returns an activity with the length of its votes, if it still waits.
fn waiting(
    world: &dyn World,
    organization: &Organization,
    id: ActivityId,
    now: Millis,
) -> Result<Option<(ActivityRow, usize)>, RequestError> {
    let Some(record) = records::activity(world, organization, id)? else { return Ok(None) };
    if !record.status.waits() {
        return Ok(None);
    }
    let size = record.votes.iter().map(|vote| vote.message.len()).sum();
    let row = row(&record, organization, pending(world, &record, organization, now)?.as_ref())?;
    Ok(Some((row, size)))
}
