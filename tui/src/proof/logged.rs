//! The check that the activity log has the state of an activity.

use quorate_common::activity_log::ActivityState;
use quorate_common::console::activity_log::EntryState;

use super::check::{Finding, attention, failed, unproven, verified};
use super::evidence::Evidence;
use crate::text::{ago, date_time};

/// Time within which a state is added to the log, in milliseconds.
const DELAY_MILLIS: u64 = 60_000;

/// Time after a restore in which reviews state it, in milliseconds: 30 days.
const RESTORED_MILLIS: u64 = 30 * 24 * 60 * 60 * 1000;

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
                    let text = format!("the activity log has this state: entry {number} of {size}");
                    let recent =
                        checkpoint.restored().filter(|at| evidence.now.saturating_sub(*at) < RESTORED_MILLIS);
                    match recent {
                        None => verified(format!("{text}, {}", date_time(checkpoint.time))),
                        Some(restored) => attention(format!(
                            "{text}, but the store was restored from a backup {}: what changed between the backup and the \
                             restore is missing, such as keys that were deleted",
                            date_time(restored)
                        )),
                    }
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
        EntryState::Waiting if changed > evidence.now.saturating_add(DELAY_MILLIS) => {
            unproven("the activity log has no state of this time: the clock of the daemon was ahead")
        }
        EntryState::Waiting => {
            unproven("the activity log does not have this state yet: it follows within a second")
        }
        EntryState::Earlier => {
            unproven("the activity changed before the activity log began, as the daemon states")
        }
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

    use ed25519_dalek::SigningKey;
    use quorate_common::activity_log::{Checkpoint, VerifierKey, origin};
    use quorate_common::console::ReviewRecord;
    use quorate_common::console::activity_log::{LogCheckpoint, LogEntry};

    use super::*;
    use crate::book::Book;
    use crate::known_keys::KnownKeys;
    use crate::proof::{Mark, Record, Siblings, Viewer};
    use crate::testing::{NOW, tag_proposal};

    /// Returns the record with an entry in a log that has only this entry.
    fn logged_record(state: EntryState) -> ReviewRecord {
        of_epoch(state, 0)
    }

    fn of_epoch(state: EntryState, epoch: u32) -> ReviewRecord {
        let (_, mut record) = tag_proposal();
        let key = SigningKey::from_bytes(&[7; 32]);
        let root = ActivityState::of(&record.row.activity).leaf();
        let checkpoint = Checkpoint { origin: origin("5f"), size: 1, root, time: NOW, epoch };
        let checkpoint = LogCheckpoint {
            checkpoint: checkpoint.sign(&key).unwrap(),
            verifier_key: VerifierKey::new(origin("5f"), key.verifying_key()).to_string(),
            consistency: Vec::new(),
        };
        record.log = Some(LogEntry { checkpoint, state });
        record
    }

    fn found(record: ReviewRecord, now: u64) -> Option<Finding> {
        logged(&Evidence {
            record: &Record::from(record),
            siblings: &Siblings::default(),
            known_keys: &KnownKeys::default(),
            book: &Book::default(),
            viewer: &Viewer::default(),
            now,
            reference: None,
        })
    }

    #[test]
    fn a_state_is_verified_unless_its_proof_is_another_one() {
        let included = |index| EntryState::Included { index, proof: Vec::new() };
        let (mark, text) = found(logged_record(included(0)), NOW).unwrap();
        assert_eq!(mark, Mark::Verified);
        assert!(text.contains("entry 1 of 1"), "{text}");
        assert_eq!(found(logged_record(included(1)), NOW).unwrap().0, Mark::Failed);
        let mut voted = logged_record(included(0));
        let vote = voted.row.activity.votes[0].clone();
        voted.row.activity.votes.push(vote);
        assert_eq!(found(voted, NOW).unwrap().0, Mark::Failed);
        let mut forged = logged_record(included(0));
        if let Some(entry) = &mut forged.log {
            entry.checkpoint.checkpoint = entry.checkpoint.checkpoint.replace("\n1\n", "\n2\n");
        }
        assert_eq!(found(forged, NOW).unwrap().0, Mark::Failed);
        assert_eq!(found(tag_proposal().1, NOW), None);
        let day = 24 * 60 * 60 * 1000;
        for (age, mark) in [(29 * day, Mark::Attention), (31 * day, Mark::Verified)] {
            let epoch = u32::try_from((NOW - age) / 1000).unwrap();
            assert_eq!(found(of_epoch(included(0), epoch), NOW).unwrap().0, mark);
        }
    }

    #[test]
    fn a_state_that_is_missing_for_long_needs_attention() {
        let changed = tag_proposal().1.row.activity.updated_at.millis();
        let mark = |state: EntryState, age| found(logged_record(state), changed + age).unwrap().0;
        assert_eq!(mark(EntryState::Waiting, DELAY_MILLIS), Mark::Stated);
        assert_eq!(mark(EntryState::Waiting, DELAY_MILLIS + 1), Mark::Attention);
        assert_eq!(mark(EntryState::Earlier, DELAY_MILLIS + 1), Mark::Stated);
    }
}
