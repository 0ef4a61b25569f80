//! Queries of activities and their policy evaluations.

use quorate_common::activity::{Selection, Status};
use quorate_common::ids::{ActivityId, EvaluationId, VoteId};
use quorate_common::json::Document;
use quorate_common::wire::{self, Timestamp};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::{Cursor, Pagination, QueryContext, one, read};
use crate::answer::{activity_answer, activity_json};
use crate::error::{Intent, Missing, RequestError};
use crate::kinds;
use crate::listing::{self, ActivityFilter};
use crate::model::Evaluation;
use crate::pipeline::can_flags;
use crate::records;
use crate::world::Order;

/// Maximum bytes of activities in one answer; an answer that would contain more ends early.
const PAGE_BYTES: usize = 32 * 1024 * 1024;
/// Maximum length of a list of statuses or types in a query, far more than there are.
const FILTER_LIMIT: usize = 1_000;
const FILTER_TOO_LONG: &str =
    "invalid request body: `filterByStatus` and `filterByType`: at most 1000 entries each";

/// Answers with one activity.
pub(super) fn get_activity(context: &QueryContext<'_>, value: &Document) -> Result<Vec<u8>, RequestError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Query {
        activity_id: ActivityId,
    }
    let query: Query = read(value)?;
    let record = records::activity(context.world, context.organization, query.activity_id)?;
    let record = record.ok_or(Missing::Activity)?;
    let can = can_flags(context.world, &record, context.organization, context.caller, context.now)?;
    Ok(activity_answer(&record, context.organization, can)?)
}

/// Answers with the outcomes of policies at each vote on an activity.
pub(super) fn get_policy_evaluations(
    context: &QueryContext<'_>,
    value: &Document,
) -> Result<Vec<u8>, RequestError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Query {
        activity_id: ActivityId,
    }
    let query: Query = read(value)?;
    let record = records::activity(context.world, context.organization, query.activity_id)?;
    let record = record.ok_or(Missing::Activity)?;
    // A rejection ends an activity without evaluating policies.
    let approvals = record.votes.iter().filter(|vote| vote.selection == Selection::Approved);
    let evaluations = approvals.map(|vote| wire::PolicyEvaluation {
        id: evaluation_id(vote.id),
        activity_id: record.id,
        organization_id: record.organization,
        vote_id: vote.id,
        policy_evaluations: vote.evaluations.iter().map(Evaluation::wire).collect(),
        created_at: Timestamp::from_millis(vote.created),
    });
    one("policyEvaluations", &evaluations.collect::<Vec<_>>())
}

/// Derives the id of the evaluations of a vote from the id of the vote.
fn evaluation_id(vote: VoteId) -> EvaluationId {
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(Sha256::digest(vote.as_bytes())).for_each(|(to, from)| *to = from);
    EvaluationId::random(bytes)
}

/// Answers with a page of activities, newest first, filtered by status and type.
pub(super) fn list_activities(context: &QueryContext<'_>, value: &Document) -> Result<Vec<u8>, RequestError> {
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
    let id = |text: &str| -> Result<ActivityId, RequestError> {
        let id: ActivityId = text.parse().map_err(|_| Intent::Cursor)?;
        records::activity(context.world, context.organization, id)?
            .map(|_| id)
            .ok_or(RequestError::Intent(Intent::Cursor))
    };
    let (from, order) = match pagination.cursor()? {
        None => (None, Order::Descending),
        Some(Cursor::After(text)) => (Some(id(text)?), Order::Descending),
        Some(Cursor::Before(text)) => (Some(id(text)?), Order::Ascending),
    };
    let number = |name: &String| kinds::number_of(name).ok_or(RequestError::Intent(Intent::Type));
    let numbers = query.filter_by_type.iter().map(number).collect::<Result<Vec<_>, _>>()?;
    let filter = ActivityFilter { statuses: &query.filter_by_status, numbers: &numbers };
    let mut found = listing::activities(context.world.records(), context.id(), filter, from, order, limit)?;
    if order == Order::Ascending {
        found.reverse();
    }
    // Serialized one by one, so that no more activities are in memory than the answer contains.
    let mut answer = b"{\"activities\":[".to_vec();
    let mut is_first = true;
    for id in found {
        let record = records::activity(context.world, context.organization, id)?;
        // An activity may have been removed since, or have another status.
        let Some(record) = record.filter(|record| filter.matches(record)) else { continue };
        let can = can_flags(context.world, &record, context.organization, context.caller, context.now)?;
        let json = activity_json(&record, context.organization, can)?;
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
