//! The entry of an activity in the activity log.

use quorate_common::console::activity_log::{EntryState, LogEntry};

use crate::activity_log::{self, Log};
use crate::error::Corrupt;
use crate::model::ActivityRecord;
use crate::world::World;

/// Returns the newest checkpoint, with the proof that the log has the present state of an activity, and that it begins with the
/// first `from` entries.
pub(super) fn log_entry(
    world: &dyn World,
    record: &ActivityRecord,
    from: Option<u64>,
) -> Result<LogEntry, Corrupt> {
    let log = Log::read(world.records())?;
    let state = if log.began_after(record.updated) {
        EntryState::Earlier
    } else {
        match log.find(activity_log::entry(record).leaf(), record.updated)? {
            Some(index) => EntryState::Included { index, proof: log.prove_entry(index)? },
            None => EntryState::Waiting,
        }
    };
    let installation = world.installation();
    let sign = |size, root, time| installation.sign_checkpoint(size, root, time);
    Ok(LogEntry { checkpoint: log.checkpoint(from, sign)?, state })
}
