//! Activities: one, or a page of them, newest first.

use quorate_common::activity::{Selection, Status};
use quorate_common::ids::{ActivityId, EvaluationId, VoteId};
use quorate_common::json::Document;
use quorate_common::wire::{self, Timestamp};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::{Asked, Cursor, Pagination, one, read};
use crate::answer::{activity_answer, activity_json};
use crate::kinds;
use crate::listing::{self, ActivityFilter};
use crate::model::Evaluation;
use crate::pipeline::can_flags;
use crate::records;
use crate::refusal::{Intent, Missing, Refusal};
use crate::world::Order;

/// How many bytes of activities one answer may hold; an answer that would hold more ends early.
const PAGE_BYTES: usize = 32 * 1024 * 1024;
/// Longest list of statuses or types that one query may carry, far more than there are.
const FILTER_LIMIT: usize = 1_000;
const FILTER_TOO_LONG: &str =
    "invalid request body: `filterByStatus` and `filterByType`: at most 1000 entries each";

/// One activity.
pub(super) fn get_activity(asked: &Asked<'_>, value: &Document) -> Result<Vec<u8>, Refusal> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Query {
        activity_id: ActivityId,
    }
    let query: Query = read(value)?;
    let record = records::activity(asked.world, asked.organization, query.activity_id)?;
    let record = record.ok_or(Missing::Activity)?;
    let can = can_flags(asked.world, &record, asked.organization, asked.caller, asked.now)?;
    Ok(activity_answer(&record, asked.organization, can)?)
}

/// What each policy said at each vote on an activity.
pub(super) fn get_policy_evaluations(asked: &Asked<'_>, value: &Document) -> Result<Vec<u8>, Refusal> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Query {
        activity_id: ActivityId,
    }
    let query: Query = read(value)?;
    let record = records::activity(asked.world, asked.organization, query.activity_id)?;
    let record = record.ok_or(Missing::Activity)?;
    // A rejection ends an activity without asking anybody.
    let approvals = record.votes.iter().filter(|vote| vote.selection == Selection::Approved);
    let told = approvals.map(|vote| wire::PolicyEvaluation {
        id: evaluation_id(vote.id),
        activity_id: record.id,
        organization_id: record.organization,
        vote_id: vote.id,
        policy_evaluations: vote.evaluations.iter().map(Evaluation::wire).collect(),
        created_at: Timestamp::of_millis(vote.created),
    });
    one("policyEvaluations", &told.collect::<Vec<_>>())
}

/// Names the evaluations of a vote, the same each time.
fn evaluation_id(vote: VoteId) -> EvaluationId {
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(Sha256::digest(vote.as_bytes())).for_each(|(to, from)| *to = from);
    EvaluationId::random(bytes)
}

/// A page of activities, newest first, of some statuses and types or of all.
pub(super) fn list_activities(asked: &Asked<'_>, value: &Document) -> Result<Vec<u8>, Refusal> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Query {
        #[serde(default)]
        filter_by_status: Vec<Status>,
        #[serde(default)]
        filter_by_type: Vec<String>,
        pagination_options: Option<Pagination>,
    }
    let query: Query = read(value)?;
    if query.filter_by_status.len().max(query.filter_by_type.len()) > FILTER_LIMIT {
        return Err(Intent::Text(FILTER_TOO_LONG).into());
    }
    let pagination = query.pagination_options.unwrap_or_default();
    let limit = pagination.limit()?;
    let id = |text: &str| -> Result<ActivityId, Refusal> {
        let id: ActivityId = text.parse().map_err(|_| Intent::Cursor)?;
        records::activity(asked.world, asked.organization, id)?
            .map(|_| id)
            .ok_or(Refusal::Intent(Intent::Cursor))
    };
    let (from, order) = match pagination.cursor()? {
        None => (None, Order::Descending),
        Some(Cursor::After(text)) => (Some(id(text)?), Order::Descending),
        Some(Cursor::Before(text)) => (Some(id(text)?), Order::Ascending),
    };
    let number = |name: &String| kinds::number_of(name).ok_or(Refusal::Intent(Intent::Type));
    let numbers = query.filter_by_type.iter().map(number).collect::<Result<Vec<_>, _>>()?;
    let filter = ActivityFilter { statuses: &query.filter_by_status, numbers: &numbers };
    let mut found = listing::activities(asked.world.records(), asked.id(), filter, from, order, limit)?;
    if order == Order::Ascending {
        found.reverse();
    }
    // One after the other, so that no more of them are in memory than the answer shows.
    let mut answer = b"{\"activities\":[".to_vec();
    let mut is_first = true;
    for id in found {
        let record = records::activity(asked.world, asked.organization, id)?;
        // One that was there a moment ago may be gone, or have another status.
        let Some(record) = record.filter(|record| filter.takes(record)) else { continue };
        let can = can_flags(asked.world, &record, asked.organization, asked.caller, asked.now)?;
        let json = activity_json(&record, asked.organization, can)?;
        if !is_first {
            if answer.len().saturating_add(json.len()) > PAGE_BYTES {
                break;
            }
            answer.push(b',');
        }
        answer.extend_from_slice(&json);
        is_first = false;
    }
    answer.extend_from_slice(b"]}");
    Ok(answer)
}
