//! What policies did of late: which activities they are about, and who changed them.

use quorate_common::activity::{Selection, Status};
use quorate_common::console::{ActivityRow, OrganizationDetail};
use quorate_common::ids::{ActivityId, UserId};
use quorate_policy::decide::PolicyProgram;
use serde_json::Value;

use super::request::Made;
use super::{Looked, signed};

/// An activity of late.
pub(crate) struct Past {
    /// Id.
    pub(crate) activity_id: ActivityId,
    /// `ACTIVITY_TYPE_*`.
    pub(crate) activity_type: String,
    /// Who asked.
    pub(crate) requester: UserId,
    /// When, in milliseconds since 1970.
    pub(crate) asked_millis: u64,
    /// What became of it.
    pub(crate) status: Status,
    made: Made,
}

/// How often a policy was matched, and what became of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Matched {
    /// Activities that were executed.
    pub(crate) executed: usize,
    /// Those that were rejected or denied.
    pub(crate) rejected: usize,
    /// Those that failed.
    pub(crate) failed: usize,
    /// Those that are still open.
    pub(crate) open: usize,
    /// When the last one was asked for, in milliseconds since 1970.
    pub(crate) last: Option<u64>,
}

impl Matched {
    /// Counts activities, newest first.
    pub(crate) fn count(past: &[&Past]) -> Self {
        let mut matched = Self { last: past.first().map(|past| past.asked_millis), ..Self::default() };
        for past in past {
            let place = match past.status {
                Status::Completed => &mut matched.executed,
                Status::Rejected => &mut matched.rejected,
                Status::Failed => &mut matched.failed,
                _ => &mut matched.open,
            };
            *place = place.saturating_add(1);
        }
        matched
    }

    /// How many there were.
    pub(crate) const fn all(&self) -> usize {
        self.executed.saturating_add(self.rejected).saturating_add(self.failed).saturating_add(self.open)
    }

    /// What became of them, in words.
    pub(crate) fn told(&self) -> String {
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

/// When a policy took its present form.
pub(crate) struct Change {
    /// The activity that gave it.
    pub(crate) activity_id: ActivityId,
    /// Who agreed to it.
    pub(crate) people: Vec<UserId>,
}

/// What happened of late.
#[derive(Default)]
pub(crate) struct History {
    /// How many activities were looked at.
    pub(crate) looked_at: usize,
    past: Vec<Past>,
    changes: Vec<ActivityRow>,
}

impl History {
    /// From the activities of late and from those that made and changed policies, each newest first.
    pub(crate) fn new(
        organization: &OrganizationDetail,
        rows: &[ActivityRow],
        looked: &Looked,
        changes: Vec<ActivityRow>,
    ) -> Self {
        let past = rows.iter().filter_map(|row| {
            let (body, requester) = signed(row)?;
            Some(Past {
                activity_id: row.activity.id,
                activity_type: row.activity.activity_type.clone(),
                requester,
                asked_millis: row.activity.created_at.millis(),
                status: row.activity.status,
                made: body.made(organization, looked).ok()?,
            })
        });
        Self { looked_at: rows.len(), past: past.collect(), changes }
    }

    /// The activities that a policy is about, as it is now, newest first. Those whose names stand for nothing any more
    /// are not among them.
    pub(crate) fn matched(&self, program: &PolicyProgram) -> Vec<&Past> {
        let is_about = |past: &&Past| past.made.is_matched(program, past.asked_millis);
        self.past.iter().filter(is_about).collect()
    }

    /// The last change of the policy of this id, if it is known.
    pub(crate) fn changed(&self, policy_id: &str) -> Option<Change> {
        let executed = |row: &&ActivityRow| row.activity.status == Status::Completed;
        let about = |row: &&ActivityRow| mentions(&row.activity.result, policy_id);
        let activity = &self.changes.iter().filter(executed).find(about)?.activity;
        let agreed = activity.votes.iter().filter(|vote| vote.selection == Selection::Approved);
        let mut people: Vec<UserId> = Vec::new();
        for vote in agreed {
            if !people.contains(&vote.user_id) {
                people.push(vote.user_id);
            }
        }
        Some(Change { activity_id: activity.id, people })
    }
}

/// Whether a text stands somewhere within.
fn mentions(value: &Value, wanted: &str) -> bool {
    match value {
        Value::String(text) => text == wanted,
        Value::Array(elements) => elements.iter().any(|element| mentions(element, wanted)),
        Value::Object(members) => members.values().any(|member| mentions(member, wanted)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
