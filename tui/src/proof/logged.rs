//! The check that the activity log has the state of an activity.

use quorate_common::activity_log::ActivityState;
use quorate_common::console::activity_log::EntryState;

use super::check::{Finding, attention, failed, unproven, verified};
use super::evidence::Evidence;
use crate::text::{ago, date_time};

/// Time within which a state is added to the log, in milliseconds.
const DELAY_MILLIS: u64 = 60_000;

/// Returns the finding; `None` if the daemon states no log.
pub(super) fn logged(evidence: &Evidence<'_>) -> Option<Finding> {
    let entry = evidence.record.log.as_ref()?;
    let activity = &evidence.record.row.activity;
    let checkpoint = match entry.checkpoint.open() {
        Ok((checkpoint, _)) => checkpoint,
        Err(error) => {
            return Some(failed(format!("the checkpoint of the activity log is not valid: {error}")));
        }
    };
    let changed = activity.updated_at.millis();
    Some(match &entry.state {
        EntryState::Included { index, proof } => {
            match ActivityState::of(activity).check_included(*index, proof, &checkpoint) {
                Ok(()) => {
                    let (number, size) = (index.saturating_add(1), checkpoint.size);
                    let time = date_time(checkpoint.time);
                    verified(format!("the activity log has this state: entry {number} of {size}, {time}"))
                }
                Err(error) => failed(format!("the activity log does not have this state: {error}")),
            }
        }
        EntryState::Waiting if evidence.now.saturating_sub(changed) > DELAY_MILLIS => {
            let age = ago(changed, evidence.now);
            attention(format!(
                "the activity log does not have this state, although the activity changed {age}"
            ))
        }
        EntryState::Waiting => {
            unproven("the activity log does not have this state yet: it follows within a second")
        }
        EntryState::Earlier => {
            unproven("the activity changed before the activity log began, as the daemon states")
        }
    })
}
