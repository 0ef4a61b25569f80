//! Recent history of policies: the activities that they match, and who changed them.

use quorate_common::activity::{Selection, Status};
use quorate_common::console::{ActivityRow, OrganizationDetail};
use quorate_common::ids::{ActivityId, UserId};
use quorate_policy::decide::PolicyProgram;
use serde_json::Value;

use super::content::ResolvedNames;
use super::replay::signed;
use super::request::ParsedRequest;

/// A recent activity.
pub(crate) struct PastActivity {
    pub(crate) activity_id: ActivityId,
    /// `ACTIVITY_TYPE_*`.
    pub(crate) activity_type: String,
    pub(crate) proposer: UserId,
    /// When it was proposed, in milliseconds since the Unix epoch.
    pub(crate) proposed_millis: u64,
    pub(crate) status: Status,
    parsed: ParsedRequest,
}

/// The number of activities that a policy matched, by their status.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Matched {
    /// Executed activities.
    pub(crate) executed: usize,
    /// Rejected or denied activities.
    pub(crate) rejected: usize,
    /// Failed activities.
    pub(crate) failed: usize,
    /// Activities that are still open.
    pub(crate) open: usize,
    /// When the last one was proposed, in milliseconds since the Unix epoch.
    pub(crate) last: Option<u64>,
}

impl Matched {
    /// Counts activities, which must be sorted newest first.
    pub(crate) fn count(past: &[&PastActivity]) -> Self {
        let mut matched = Self { last: past.first().map(|past| past.proposed_millis), ..Self::default() };
        for past in past {
            let counter = match past.status {
                Status::Completed => &mut matched.executed,
                Status::Rejected => &mut matched.rejected,
                Status::Failed => &mut matched.failed,
                _ => &mut matched.open,
            };
            *counter = counter.saturating_add(1);
        }
        matched
    }

    /// Returns the total number.
    pub(crate) const fn all(&self) -> usize {
        self.executed.saturating_add(self.rejected).saturating_add(self.failed).saturating_add(self.open)
    }

    /// Returns the numbers by status as text.
    pub(crate) fn summary(&self) -> String {
        let parts = [
            (self.executed, "executed"),
            (self.rejected, "rejected"),
            (self.failed, "failed"),
            (self.open, "waiting"),
        ];
        let parts = parts.iter().filter(|(number, _)| *number > 0);
        parts.map(|(number, word)| format!("{number} {word}")).collect::<Vec<_>>().join(", ")
    }
}

/// The last change of a policy.
pub(crate) struct Change {
    /// Activity that made the change.
    pub(crate) activity_id: ActivityId,
    /// Users who approved it.
    pub(crate) people: Vec<UserId>,
}

/// Recent activities and changes of policies.
#[derive(Default)]
pub(crate) struct History {
    /// Number of examined activities.
    pub(crate) examined: usize,
    past: Vec<PastActivity>,
    changes: Vec<ActivityRow>,
}

impl History {
    /// Creates the history from recent activities and from those that created and changed policies, both
    /// newest first.
    pub(crate) fn new(
        organization: &OrganizationDetail,
        rows: &[ActivityRow],
        resolved: &ResolvedNames,
        changes: Vec<ActivityRow>,
    ) -> Self {
        let past = rows.iter().filter_map(|row| {
            let (body, proposer) = signed(row)?;
            Some(PastActivity {
                activity_id: row.activity.id,
                activity_type: row.activity.activity_type.clone(),
                proposer,
                proposed_millis: row.activity.created_at.millis(),
                status: row.activity.status,
                parsed: body.parsed(organization, resolved).ok()?,
            })
        });
        Self { examined: rows.len(), past: past.collect(), changes }
    }

    /// Returns the activities that the current policy matches, newest first. Activities that name deleted
    /// objects are omitted.
    pub(crate) fn matched(&self, program: &PolicyProgram) -> Vec<&PastActivity> {
        let is_about = |past: &&PastActivity| past.parsed.is_matched(program, past.proposed_millis);
        self.past.iter().filter(is_about).collect()
    }

    /// Returns the last change of the policy with this id, if it is known.
    pub(crate) fn changed(&self, policy_id: &str) -> Option<Change> {
        let executed = |row: &&ActivityRow| row.activity.status == Status::Completed;
        let about = |row: &&ActivityRow| mentions(&row.activity.result, policy_id);
        let activity = &self.changes.iter().filter(executed).find(about)?.activity;
        let agreed = activity.votes.iter().filter(|vote| {
            // An attested stamp proves a step of an MFA policy, and is no approval.
            vote.selection == Selection::Approved && vote.attestation.is_none()
        });
        let mut people: Vec<UserId> = Vec::new();
        for vote in agreed {
            if !people.contains(&vote.user_id) {
                people.push(vote.user_id);
            }
        }
        Some(Change { activity_id: activity.id, people })
    }
}

/// Returns whether the value contains this string at any depth.
fn mentions(value: &Value, wanted: &str) -> bool {
    match value {
        Value::String(text) => text == wanted,
        Value::Array(elements) => elements.iter().any(|element| mentions(element, wanted)),
        Value::Object(members) => members.values().any(|member| mentions(member, wanted)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
