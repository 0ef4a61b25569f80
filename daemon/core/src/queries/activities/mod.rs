//! Activities and the outcomes of policies at their votes.

use super::prelude::*;
use crate::model::ActivityRecord;
use crate::records;

mod get_activity;
mod get_policy_evaluations;
mod list_activities;

pub(super) const ENTRIES: &[Entry] = &[
    entry::<get_activity::GetActivity>("get_activity", "activity"),
    entry::<get_policy_evaluations::GetPolicyEvaluations>("get_policy_evaluations", "policyEvaluations"),
    entry::<list_activities::ListActivities>("list_activities", "activities"),
];

/// Returns the activity with this id.
fn activity(context: &QueryContext<'_>, id: ActivityId) -> Result<ActivityRecord, RequestError> {
    records::activity(context.world, context.organization, id)?.ok_or(Missing::Activity.into())
}
