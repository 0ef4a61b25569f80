//! Lists activities by status and type, page by page.
//!
//! - `{}` is answered.
//! - `{"filterByStatus": ["ACTIVITY_STATUS_CONSENSUS_NEEDED"]}` is answered.
//! - `{"filterByType": ["ACTIVITY_TYPE_CREATE_WALLET"], "paginationOptions": {"before": "$activity"}}` is answered.
//! - `{"filterByType": ["NONE"]}` is refused with 400: invalid request body: `type` does not belong to this path
//! - `{"paginationOptions": {"limit": "101"}}` is refused with 400: invalid request body: `paginationOptions.limit`: expected 1 to 100

use quorate_common::activity::{Activity, Status};

use crate::answer::activity_json;
use crate::error::Corrupt;
use crate::kinds;
use crate::listing::{self, ActivityFilter};
use crate::pipeline::can_flags;
use crate::queries::prelude::*;
use crate::queries::query::Answer;
use crate::records;
use crate::world::Order;

/// Maximum bytes of activities in one answer; an answer that would contain more ends early.
const PAGE_BYTES: usize = 32 * 1024 * 1024;
/// Maximum length of a list of statuses or types in a query, far more than there are.
const FILTER_LIMIT: usize = 1_000;
const FILTER_TOO_LONG: &str =
    "invalid request body: `filterByStatus` and `filterByType`: at most 1000 entries each";

// The body of the answer, rendered one activity after another.
#[derive(JsonSchema)]
pub(super) struct Rendered(#[schemars(with = "Vec<Activity>")] Vec<u8>);

impl Answer for Rendered {
    fn body(self, _: &str) -> Result<Vec<u8>, Corrupt> {
        Ok(self.0)
    }
}

/// Returns a page of activities, newest first.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListActivities {
    /// Statuses to list; all if empty.
    #[serde(default)]
    #[schemars(length(max = FILTER_LIMIT))]
    filter_by_status: Vec<Status>,
    /// Activity types to list; all if empty.
    #[serde(default)]
    #[schemars(length(max = FILTER_LIMIT), inner(length(max = 255)))]
    filter_by_type: Vec<String>,
    pagination_options: Option<Pagination>,
}

impl Query for ListActivities {
    type Answer = Rendered;

    fn answer(self, context: &QueryContext<'_>) -> Result<Rendered, RequestError> {
        if self.filter_by_status.len().max(self.filter_by_type.len()) > FILTER_LIMIT {
            return Err(Intent::Text(FILTER_TOO_LONG).into());
        }
        let pagination = self.pagination_options.unwrap_or_default();
        let limit = pagination.limit()?;
        let (from, is_before) = pagination.cursor(|text| {
            let id: ActivityId = text.parse().map_err(|_| Intent::Cursor)?;
            let record = records::activity(context.world, context.organization, id)?;
            Ok(record.map(|_| id).ok_or(Intent::Cursor)?)
        })?;
        let order = if is_before { Order::Ascending } else { Order::Descending };
        let number = |name: &String| kinds::number_of(name).ok_or(Intent::Type);
        let numbers = self.filter_by_type.iter().map(number).collect::<Result<Vec<_>, _>>()?;
        let filter = ActivityFilter { statuses: &self.filter_by_status, numbers: &numbers };
        let records = context.world.records();
        let mut found = listing::activities(records, context.id(), filter, from, order, limit)?;
        if is_before {
            found.reverse();
        }
        rendered(context, filter, found)
    }
}

/// Renders activities one by one, so that no more of them are in memory than the answer contains.
fn rendered(
    context: &QueryContext<'_>,
    filter: ActivityFilter<'_>,
    found: Vec<ActivityId>,
) -> Result<Rendered, RequestError> {
    let mut body = b"{\"activities\":[".to_vec();
    let mut is_first = true;
    for id in found {
        let record = records::activity(context.world, context.organization, id)?;
        // An activity may have been removed since, or have another status.
        let Some(record) = record.filter(|record| filter.matches(record)) else { continue };
        let can = can_flags(context.world, &record, context.organization, context.caller, context.now)?;
        let json = activity_json(&record, context.organization, can)?;
        if !is_first {
            if body.len().saturating_add(json.len()) > PAGE_BYTES {
                break;
            }
            body.push(b',');
        }
        body.extend_from_slice(&json);
        is_first = false;
    }
    body.extend_from_slice(b"]}");
    Ok(Rendered(body))
}
