//! What a running daemon does for backups, and for a store that was restored from one.

use std::sync::Arc;

use quorate_core::error::Corrupt;
use quorate_core::model::Millis;
use quorate_core::model::write::Write;
use quorate_core::world::Records;

use super::{Commit, Executor, TermError};
use crate::backup::Recorder;
use crate::clock::now;
use crate::epoch::Epoch;

/// Key of the record with the time of the newest backup.
const LAST_BACKUP: &[u8] = b"mb";

impl Executor {
    /// Records the time of which a backup contains the store, in milliseconds since 1970, unless a newer one is recorded.
    ///
    /// # Errors
    /// Returns an error if the store does not accept that.
    pub async fn backup_is_stored(&self, ended: Millis) -> Result<(), TermError> {
        if self.last_backup()?.is_some_and(|last| last >= ended) {
            return Ok(());
        }
        let write = Write::mark(LAST_BACKUP.to_vec(), &ended.to_be_bytes());
        Ok(self.commit(Commit { writes: vec![write], ..Commit::default() }).await?)
    }

    /// Returns the time of which the newest backup contains the store, in milliseconds since 1970.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn last_backup(&self) -> Result<Option<Millis>, Corrupt> {
        let stored = self.shared.barrier.read(LAST_BACKUP)?;
        let decode = |stored: Vec<u8>| stored.try_into().map_err(|_| Corrupt::Record("time of a backup"));
        Ok(stored.map(decode).transpose()?.map(Millis::from_be_bytes))
    }

    /// Lets a restored store accept changes. Returns whether it did not before.
    ///
    /// # Errors
    /// Returns an error if the store does not accept that.
    pub async fn release(&self) -> Result<bool, TermError> {
        let epoch = Epoch::read(&self.shared.barrier)?;
        if epoch.is_held {
            self.commit(Commit { writes: vec![epoch.released(now()).write()], ..Commit::default() }).await?;
            self.shared.is_held()?;
        }
        Ok(epoch.is_held)
    }

    /// Records the changes of all groups from now on, as long as the recorder exists.
    pub fn record(&self, recorder: &Arc<Recorder>) {
        self.shared.guard.record(recorder);
    }

    /// Returns whether a backup that is being written lags behind the changes.
    pub fn backup_lags(&self) -> bool {
        self.shared.guard.backup_lags()
    }
}
