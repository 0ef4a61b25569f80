//! State that the committing thread keeps between groups.

use std::path::Path;

use super::files::{LogWitness, blobs_changed, has_blobs};
use crate::store::StoreError;
use crate::store::judge::KnownRegisters;

/// State for commits.
pub(super) struct Commits {
    /// Registers as of the last group.
    pub(super) registers: KnownRegisters,
    /// Time at which the directory of blobs last changed.
    blobs: Option<std::time::SystemTime>,
    /// Detects failed writes that sled does not report.
    pub(super) log: LogWitness,
}

impl Commits {
    pub(super) fn new(folder: &Path) -> Result<Self, StoreError> {
        let (registers, blobs) = (KnownRegisters::default(), blobs_changed(folder));
        Ok(Self { registers, blobs, log: LogWitness::open(folder)? })
    }

    /// Returns an error if sled has stored a node in a separate file, which would not survive a power cut.
    pub(super) fn check_no_blobs(&mut self, folder: &Path) -> Result<(), StoreError> {
        let changed = blobs_changed(folder);
        if changed == self.blobs {
            return Ok(());
        }
        if has_blobs(folder) {
            let cause = "a record is stored in a separate file, which is never synced".to_owned();
            return Err(StoreError::Failed { doing: "making a group durable", cause });
        }
        self.blobs = changed;
        Ok(())
    }
}
