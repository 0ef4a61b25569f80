//! Activities as the console shows them: pages, and the reviews of waiting ones.

use quorate_common::activity::{Status, VOTE_WINDOW_MILLIS};
use quorate_common::console::{
    ActivityPage, ActivityRow, PAGE_LIMIT, ReviewRecord, Waiting, WaitingReason, WaitingRule,
};
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::{ActivityId, OrganizationId};

use super::log::log_entry;
use super::{detail, load_organization, rule_inputs};
use crate::answer;
use crate::consensus;
use crate::error::{Denied, Intent, Missing, RequestError};
use crate::kinds;
use crate::listing::{self, ActivityFilter};
use crate::model::{ActivityRecord, Evaluation, Millis, Organization, layout};
use crate::pipeline::{Pending, Voters};
use crate::policy::{Decision, MfaState, Rule};
use crate::records;
use crate::world::{Order, Page, World};

/// Maximum bytes of activities on one page; a page that would contain more ends early.
pub(super) const PAGE_BYTES: usize = 1024 * 1024;
/// How many keys are counted at once.
const COUNT_CHUNK: usize = 1000;

/// The filter and the page of a list of activities.
#[derive(Debug, Default)]
pub struct ActivityQuery {
    /// Statuses to list; empty means all.
    pub statuses: Vec<Status>,
    /// Names of the types to list; empty means all.
    pub types: Vec<String>,
    /// Ids of the activities to list. If not empty, statuses and types are ignored.
    pub ids: Vec<ActivityId>,
    /// Last activity of the previous page.
    pub after: Option<ActivityId>,
    /// Page size, at most [`PAGE_LIMIT`].
    pub limit: usize,
}

/// Returns a page of activities, newest first.
///
/// # Errors
/// If there is no such organization or type, or the store cannot be read.
pub fn activities(
    world: &dyn World,
    organization: OrganizationId,
    query: &ActivityQuery,
    now: Millis,
) -> Result<ActivityPage, RequestError> {
    let snapshot = load_organization(world, organization)?;
    let limit = query.limit.clamp(1, PAGE_LIMIT);
    let number = |name: &String| kinds::number_of(name).ok_or(RequestError::Intent(Intent::Type));
    let numbers = query.types.iter().map(number).collect::<Result<Vec<_>, _>>()?;
    let filter = ActivityFilter { statuses: &query.statuses, numbers: &numbers };
    let is_named = !query.ids.is_empty();
    let found = if is_named {
        newest_first(&query.ids)
    } else {
        listing::activities(world.records(), organization, filter, query.after, Order::Descending, limit)?
    };
    // The next page starts after the last activity that was examined.
    let mut next = found.last().copied().filter(|_| found.len() == limit && !is_named);
    let is_inbox = !query.statuses.is_empty() && query.statuses.iter().all(|status| status.waits());
    let is_first = !is_named && query.after.is_none() && query.types.is_empty();
    let waiting =
        (is_inbox && is_first).then(|| waiting(world, organization, &query.statuses)).transpose()?;
    let mut activities: Vec<ActivityRow> = Vec::with_capacity(found.len());
    let mut bytes = 0_usize;
    for id in found {
        let record = records::activity(world, &snapshot, id)?;
        // An activity may have been removed since, or have another status.
        let Some(record) = record.filter(|record| filter.matches(record)) else { continue };
        bytes = bytes.saturating_add(record.votes.iter().map(|vote| vote.message.len()).sum());
        let last = activities.last().map(|last| last.activity.id);
        if bytes > PAGE_BYTES && last.is_some() {
            next = last;
            break;
        }
        let row = row(&record, &snapshot, pending(world, &record, &snapshot, now)?.as_ref())?;
        // A row is correct only if its policies were evaluated completely.
        if world.budget().steps_left() == 0 && last.is_some() {
            next = last;
            break;
        }
        activities.push(row);
    }
    Ok(ActivityPage { activities, next, waiting })
}

/// Returns these ids without duplicates, newest first, as many as fit on a page.
fn newest_first(ids: &[ActivityId]) -> Vec<ActivityId> {
    let mut ids: Vec<ActivityId> = ids.iter().copied().take(PAGE_LIMIT).collect();
    ids.sort_unstable_by(|one, other| other.cmp(one));
    ids.dedup();
    ids
}

/// Counts the activities of an organization that wait for votes with these statuses, of which there is a limit.
/// Decrypts no record.
fn waiting(
    world: &dyn World,
    organization: OrganizationId,
    statuses: &[Status],
) -> Result<u64, RequestError> {
    let mut count: u64 = 0;
    for status in Status::WAITING.into_iter().filter(|status| statuses.contains(status)) {
        count = count.saturating_add(waiting_with(world, organization, status)?);
    }
    Ok(count)
}

fn waiting_with(
    world: &dyn World,
    organization: OrganizationId,
    status: Status,
) -> Result<u64, RequestError> {
    let prefix = &layout::activities_of_status(organization, status);
    let mut count: u64 = 0;
    let mut last = None;
    loop {
        let page = Page { after: last.as_deref(), ..Page::first(prefix, COUNT_CHUNK) };
        let keys = world.records().keys(page)?;
        count = count.saturating_add(u64::try_from(keys.len()).unwrap_or(u64::MAX));
        match keys.into_iter().next_back() {
            Some(key) => last = Some(key),
            None => return Ok(count),
        }
    }
}

/// Returns everything that a review of an activity needs, from one snapshot. The checkpoint of the activity log has the proof that
/// it begins with the first `from` entries.
///
/// # Errors
/// If there is no such organization or activity, or the store cannot be read.
pub fn review(
    world: &dyn World,
    organization: OrganizationId,
    reference: &str,
    from: Option<u64>,
    now: Millis,
) -> Result<ReviewRecord, RequestError> {
    let snapshot = load_organization(world, organization)?;
    let record = find(world, &snapshot, reference, now)?;
    let pending = pending(world, &record, &snapshot, now)?;
    let row = row(&record, &snapshot, pending.as_ref())?;
    let rule_inputs = pending.map(|pending| rule_inputs(world, &record, &pending, now)).transpose()?;
    let log = Some(log_entry(world, &record, from)?);
    Ok(ReviewRecord { row, organization: detail(&snapshot), rule_inputs, log })
}

/// Finds an activity of an organization by its id or its fingerprint.
pub(crate) fn find(
    world: &dyn World,
    organization: &Organization,
    reference: &str,
    now: Millis,
) -> Result<ActivityRecord, RequestError> {
    let found = match (reference.parse::<ActivityId>(), reference.parse::<Fingerprint>()) {
        (Ok(id), _) => records::activity(world, organization, id)?,
        (_, Ok(fingerprint)) => records::activity_by_fingerprint(world, organization, &fingerprint, now)?,
        _ => return Err(Intent::Text("expected an activity id or a fingerprint").into()),
    };
    found.ok_or(RequestError::Missing(Missing::Activity))
}

/// Parses an activity again if it waits for votes.
pub(super) fn pending<'a>(
    world: &'a dyn World,
    record: &ActivityRecord,
    organization: &'a Organization,
    now: Millis,
) -> Result<Option<Pending<'a>>, RequestError> {
    let waits = record.status.waits();
    Ok(waits.then(|| Pending::of(world, record, organization, now)).transpose()?)
}

pub(super) fn row(
    record: &ActivityRecord,
    organization: &Organization,
    pending: Option<&Pending<'_>>,
) -> Result<ActivityRow, RequestError> {
    let activity = answer::activity(record, organization)?;
    let Some(pending) = pending else { return Ok(ActivityRow { activity, waiting: None }) };
    let Voters { open_to, approvals, decided, .. } = pending.voters(record);
    let counted = consensus::users(&approvals);
    let oldest = approvals.iter().map(|approval| approval.created).min();
    let reason = match decided.decision {
        Decision::Allow(_) => WaitingReason::NextVote,
        Decision::Wait(Rule::Policy) => WaitingReason::PolicyConsensus,
        Decision::Wait(Rule::Denied) | Decision::Deny(Denied::Explicit(_)) => WaitingReason::PolicyDenies,
        Decision::Wait(Rule::Authenticators) => WaitingReason::Authenticators,
        Decision::Wait(Rule::RootQuorumOnly) => WaitingReason::RootQuorumOnly,
        Decision::Wait(Rule::RootQuorum) | Decision::Deny(_) => WaitingReason::NoPolicyAllows,
    };
    let waiting = Waiting {
        rule: match reason {
            WaitingReason::PolicyConsensus => WaitingRule::Policy,
            _ => WaitingRule::RootQuorum,
        },
        reason,
        policy_evaluations: decided.evaluations.iter().map(Evaluation::wire).collect(),
        needed: organization.head.quorum.threshold,
        open_to: open_to.into_iter().filter(|user| !counted.contains(user)).collect(),
        counted,
        mfa: decided.mfa.iter().map(MfaState::wire).collect(),
        expires_at_millis: oldest.map(|created| created.saturating_add(VOTE_WINDOW_MILLIS)),
    };
    Ok(ActivityRow { activity, waiting: Some(waiting) })
}
