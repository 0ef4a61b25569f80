//! The connection that commits, and one attempt to commit a group on it.

use tokio::runtime::Handle;
use tokio::sync::Notify;

use super::daemon::Daemon;
use super::errors::StatementError;
use super::group;
use super::session::Session;
use crate::backoff;
use crate::fail_points;
use crate::store::judge::{Judge, KnownRegisters};
use crate::store::{Access, BatchOutcome, Change, Group, StoreError};

/// Maximum rest before a further attempt, in milliseconds, for each attempt so far.
const REST: u64 = 10;

/// The connection that commits.
pub(super) struct Committing {
    pub(super) session: Session,
    pub(super) daemon: Daemon,
    /// Access that the session has now.
    pub(super) access: Access,
    /// Keys of the extra records of the last group. The next group will probably write them again.
    pub(super) extra: Vec<Vec<u8>>,
}

impl Committing {
    /// Commits a group once. Notifies `bell` if the group has a notice.
    pub(super) fn attempt(
        &mut self,
        runtime: &Handle,
        group: &Group<'_>,
        bell: &Notify,
    ) -> Result<Vec<BatchOutcome>, GroupError> {
        let Self { session, daemon, extra: further, .. } = self;
        fail_points::reach("store.check");
        let begun = group::begin(runtime, session, group, further)?;
        let extra: Vec<Change>;
        // Registers are always read, because their rows are locked.
        let mut known = KnownRegisters::default();
        let mut judge = Judge::new(&begun, &mut known);
        let verdicts = group.batches.iter().map(|batch| judge.add(batch)).collect::<Result<Vec<_>, _>>()?;
        let (_, mut write) = judge.finish();
        if write.is_empty() {
            begun.roll_back()?;
            return Ok(verdicts);
        }
        if let Some(source) = group.extra {
            extra = source.records(&verdicts, &mut write.changed())?;
            write.add_changes(&begun, &extra)?;
            *further = extra.iter().map(|change| change.key.clone()).collect();
        }
        write.bytes()?;
        let notice =
            group.announcement.map(|announcement| announcement.notice(&verdicts)).transpose()?.flatten();
        let is_noticed = notice.is_some();
        fail_points::reach("store.apply");
        let rows: Vec<_> = write.into_rows().map(|(key, replaced)| (key.to_vec(), replaced)).collect();
        begun.write(rows.into_iter(), notice.as_deref(), daemon, group.term)?;
        if is_noticed {
            bell.notify_one();
        }
        fail_points::reach("store.synced");
        daemon.last_group = daemon.last_group.saturating_add(1);
        Ok(verdicts)
    }
}

/// An error of an attempt to commit a group.
pub(super) enum GroupError {
    Statement(StatementError),
    Store(StoreError),
}

impl From<StatementError> for GroupError {
    fn from(error: StatementError) -> Self {
        Self::Statement(error)
    }
}

impl From<StoreError> for GroupError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Rests for a random time before a further attempt.
pub(super) fn rest(attempt: u32) {
    std::thread::sleep(backoff::random(u64::from(attempt).saturating_mul(REST)));
}
