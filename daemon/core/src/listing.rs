//! Lists of activities: by status and type, page by page.

use quorate_common::activity::Status;
use quorate_common::ids::{ActivityId, OrganizationId};

use crate::kinds;
use crate::model::record::Record;
use crate::model::{ActivityRecord, layout};
use crate::records;
use crate::refusal::Corrupt;
use crate::world::{Order, Page, Records};

/// Which activities are listed. An empty list means all.
#[derive(Debug, Clone, Copy)]
pub struct ActivityFilter<'a> {
    /// Statuses.
    pub statuses: &'a [Status],
    /// Numbers of types.
    pub numbers: &'a [u16],
}

/// Up to `limit` activities of an organization from behind `from`, in the order of reading.
///
/// With a filter, the ranges of its statuses and types are merged, so that the cost depends on the page and
/// not on how many activities there are.
pub fn activities(
    records: &dyn Records,
    organization: OrganizationId,
    filter: ActivityFilter<'_>,
    from: Option<ActivityId>,
    order: Order,
    limit: usize,
) -> Result<Vec<ActivityRecord>, Corrupt> {
    if filter.statuses.is_empty() && filter.numbers.is_empty() {
        let prefix = layout::activities(organization);
        let after = from.map(|id| layout::activity(organization, id));
        let rows = records.page(Page { prefix: &prefix, after: after.as_deref(), order, limit })?;
        return rows.iter().map(|(_, bytes)| ActivityRecord::decode(bytes)).collect();
    }
    let every_status = Status::ALL;
    let every_number: Vec<u16> = kinds::all().iter().map(|entry| entry.number).collect();
    let statuses = if filter.statuses.is_empty() { every_status.as_slice() } else { filter.statuses };
    let numbers = if filter.numbers.is_empty() { every_number.as_slice() } else { filter.numbers };
    let mut ids = Vec::new();
    for status in statuses {
        for number in numbers {
            let prefix = layout::activities_listed(organization, *status, *number);
            let after = from.map(|id| layout::activity_listed(organization, *status, *number, id));
            let keys = records.keys(Page { prefix: &prefix, after: after.as_deref(), order, limit })?;
            ids.extend(keys.iter().filter_map(|key| layout::activity_id(key)));
        }
    }
    ids.sort_unstable();
    ids.dedup();
    if order == Order::Descending {
        ids.reverse();
    }
    ids.truncate(limit);
    let found = ids
        .into_iter()
        .map(|id| records::activity(records, organization, id)?.ok_or(Corrupt::Record("activity")));
    found.collect()
}
