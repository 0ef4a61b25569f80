//! Paginated lists: of activities, filtered by status and type, and of sub-organizations with a value.

use std::collections::{BTreeSet, BinaryHeap, VecDeque};

use quorate_common::activity::Status;
use quorate_common::ids::{ActivityId, OrganizationId};

use crate::error::Corrupt;
use crate::kinds;
use crate::model::ActivityRecord;
use crate::model::layout::{self, Key, Lookup, activity_id};
use crate::world::{Order, Page, Records, World};

/// A filter of activities. An empty list means all; duplicate entries count once.
#[derive(Debug, Clone, Copy)]
pub struct ActivityFilter<'a> {
    /// Statuses to list.
    pub statuses: &'a [Status],
    /// Numbers of the types to list.
    pub numbers: &'a [u16],
}

impl ActivityFilter<'_> {
    /// Returns whether an activity matches the filter. Its status may have changed since the index entry was
    /// read.
    pub fn matches(&self, activity: &ActivityRecord) -> bool {
        (self.statuses.is_empty() || self.statuses.contains(&activity.status))
            && (self.numbers.is_empty() || self.numbers.contains(&activity.number))
    }

    /// Returns the pairs of status and type that are listed, without duplicates; `None` if those are all
    /// pairs.
    fn pairs(&self) -> Option<Vec<(Status, u16)>> {
        let wanted = |status: &&Status| self.statuses.is_empty() || self.statuses.contains(status);
        let statuses: Vec<Status> = Status::ALL.iter().filter(wanted).copied().collect();
        let every: BTreeSet<u16> = kinds::all().iter().map(|entry| entry.number).collect();
        let named: BTreeSet<u16> = self.numbers.iter().copied().collect();
        let numbers = if named.is_empty() { &every } else { &named };
        if statuses.len() == Status::ALL.len() && numbers.is_superset(&every) {
            return None;
        }
        let of_status = |status: &Status| {
            let status = *status;
            numbers.iter().map(move |number| (status, *number))
        };
        Some(statuses.iter().flat_map(of_status).collect())
    }
}

/// Returns the ids of up to `limit` activities of an organization after `from`, in the order of reading.
///
/// With a filter, the ranges of its statuses and types are merged. The cost depends on the page and on the
/// number of activity types, not on the number of activities or the length of the filter.
///
/// # Errors
/// If the store cannot be read.
pub fn activities(
    records: &dyn Records,
    organization: OrganizationId,
    filter: ActivityFilter<'_>,
    from: Option<ActivityId>,
    order: Order,
    limit: usize,
) -> Result<Vec<ActivityId>, Corrupt> {
    let Some(pairs) = filter.pairs() else {
        let prefix = layout::activities(organization);
        let after = from.map(|id| layout::activity(organization, id));
        let keys = records.keys(Page { prefix: &prefix, after: after.as_deref(), order, limit })?;
        return Ok(keys.iter().filter_map(|key| activity_id(key)).collect());
    };
    // Together, the first reads of all ranges return about as many keys as the page has.
    let at_once = limit.div_ceil(pairs.len().max(1)).max(1);
    let mut ranges = Vec::with_capacity(pairs.len());
    let mut heads = BinaryHeap::with_capacity(pairs.len());
    for (status, number) in pairs {
        let after = from.map(|id| layout::activity_listed(organization, status, number, id));
        let prefix = layout::activities_listed(organization, status, number);
        let mut range = Range { prefix, after, order, at_once, ids: VecDeque::new(), is_read: false };
        heads.extend(range.next(records)?.map(|id| Head { rank: rank(order, id), range: ranges.len(), id }));
        ranges.push(range);
    }
    let mut ids = Vec::with_capacity(limit);
    while ids.len() < limit {
        let Some(Head { range: index, id, .. }) = heads.pop() else { break };
        // An activity whose status changes between two reads is found twice.
        if ids.last() != Some(&id) {
            ids.push(id);
        }
        if let Some(range) = ranges.get_mut(index) {
            heads.extend(range.next(records)?.map(|id| Head { rank: rank(order, id), range: index, id }));
        }
    }
    Ok(ids)
}

/// The next activity of a range. The first one in the order of reading is the greatest.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Head {
    rank: [u8; 16],
    range: usize,
    id: ActivityId,
}

fn rank(order: Order, id: ActivityId) -> [u8; 16] {
    match order {
        Order::Descending => *id.as_bytes(),
        Order::Ascending => id.as_bytes().map(|byte| !byte),
    }
}

/// The activities of one status and type, read in chunks.
struct Range {
    prefix: Key,
    after: Option<Key>,
    order: Order,
    at_once: usize,
    ids: VecDeque<ActivityId>,
    /// Whether the end of the range was read.
    is_read: bool,
}

impl Range {
    fn next(&mut self, records: &dyn Records) -> Result<Option<ActivityId>, Corrupt> {
        if self.ids.is_empty() && !self.is_read {
            let Self { prefix, after, order, at_once, .. } = self;
            let page = Page { prefix, after: after.as_deref(), order: *order, limit: *at_once };
            let keys = records.keys(page)?;
            self.is_read = keys.len() < self.at_once;
            self.ids.extend(keys.iter().filter_map(|key| activity_id(key)));
            self.after = keys.into_iter().next_back();
        }
        Ok(self.ids.pop_front())
    }
}

/// Returns the ids of up to `limit` sub-organizations with a value after a cursor, in an order. The entries of a
/// sub-organization that has the value several times are adjacent.
///
/// # Errors
/// If the store cannot be read.
pub fn sub_organizations_with(
    world: &dyn World,
    parent: OrganizationId,
    (lookup, value): (Lookup, &str),
    place: (Option<OrganizationId>, Order),
    limit: usize,
) -> Result<Vec<OrganizationId>, Corrupt> {
    let prefix = layout::lookup_entries(world.index(), parent, lookup, value);
    children_below(world.records(), &prefix, place, limit)
}

/// Returns the ids of up to `limit` sub-organizations with index entries below a prefix, as
/// [`sub_organizations_with`] does.
///
/// # Errors
/// If the store cannot be read.
pub fn children_below(
    records: &dyn Records,
    prefix: &[u8],
    (cursor, order): (Option<OrganizationId>, Order),
    limit: usize,
) -> Result<Vec<OrganizationId>, Corrupt> {
    let mut ids: Vec<OrganizationId> = Vec::new();
    let mut last = cursor;
    while ids.len() < limit {
        let after = last.map(|id| beyond_child(prefix, id, order));
        let keys = records.keys(Page { prefix, after: after.as_deref(), order, limit })?;
        let children = keys.iter().filter_map(|key| layout::lookup_child(key));
        ids.extend(children.filter(|id| Some(*id) != last));
        ids.dedup();
        if keys.len() < limit {
            break;
        }
        last = ids.last().copied();
    }
    ids.truncate(limit);
    Ok(ids)
}

/// Returns the key after which a page continues past all entries of a sub-organization.
fn beyond_child(prefix: &[u8], child: OrganizationId, order: Order) -> Key {
    let mut key = [prefix, child.as_bytes()].concat();
    if order == Order::Ascending {
        // Longer than each of its entries.
        key.extend_from_slice(&[0xff; 17]);
    }
    key
}
