//! State of the store and the guard file at a start.

use std::path::Path;

use quorate_core::error::Corrupt;
use quorate_core::model::Millis;
use quorate_core::world::Records;

use super::mark::{Mark, Runs, Stored, StoredDigest};
use super::{GuardError, INDEXED, MARK, RUNS, file};
use crate::barrier::Barrier;

/// State of the store and the guard file at a start.
pub(super) struct LoadedState {
    pub(super) mark: Option<Mark>,
    pub(super) digest: StoredDigest,
    pub(super) runs: Runs,
    pub(super) file: Option<Mark>,
    /// Whether the newest run kept the index of waiting activities up to date.
    pub(super) is_indexed: bool,
}

impl LoadedState {
    /// Reads and checks both.
    ///
    /// # Errors
    /// Returns an error if one of them cannot be read, or if the store does not match the guard file and is not
    /// newer. Also returns an error if the store was found to be altered.
    pub(super) fn read(path: &Path, barrier: &Barrier) -> Result<Self, GuardError> {
        let stored = stored(barrier)?;
        let runs = runs(barrier)?;
        let loaded = Self {
            is_indexed: runs.ends_with(barrier.read(INDEXED)?.as_deref()),
            mark: stored.map(|stored| stored.mark),
            digest: stored.map_or_else(StoredDigest::default, |stored| stored.digest),
            runs,
            file: file::read(path, barrier)?,
        };
        loaded.check(path)?;
        Ok(loaded)
    }

    /// Reads as much as possible. The digest of the store is kept if its records were found to be
    /// `unchanged`.
    pub(super) fn read_leniently(path: &Path, barrier: &Barrier, unchanged: bool) -> Self {
        let file = file::read(path, barrier).unwrap_or_default();
        let stored = stored(barrier).unwrap_or_default();
        let runs = barrier.read(RUNS).ok().flatten().and_then(|bytes| Runs::decode(&bytes));
        let is_kept = |digest: &StoredDigest| unchanged && *digest != StoredDigest::Altered;
        let digest = stored.map(|stored| stored.digest).filter(is_kept).unwrap_or_default();
        let mark = stored.map(|stored| stored.mark).or(file);
        // Whatever was lost, the index is built again.
        Self { mark, digest, runs: runs.unwrap_or_default(), file, is_indexed: false }
    }

    fn check(&self, path: &Path) -> Result<(), GuardError> {
        if self.digest == StoredDigest::Altered {
            return Err(GuardError::Altered);
        }
        match (self.mark, self.file) {
            // A new store, or one of version 0.1.
            (None, None) => Ok(()),
            // The first start was interrupted before it wrote to the store.
            (None, Some(seen)) if seen.number == 0 => Ok(()),
            (None, Some(seen)) => Err(lost(path, None, &seen)),
            (Some(_), None) => Err(GuardError::Missing(path.to_owned())),
            (Some(mark), Some(seen)) => match self.runs.last_of(&seen.run, mark.number) {
                Some(last) if seen.number <= last => Ok(()),
                None | Some(_) if seen.number > mark.number => Err(lost(path, Some(&mark), &seen)),
                None | Some(_) => Err(GuardError::Mismatch(path.to_owned())),
            },
        }
    }

    pub(super) fn newest(&self) -> (u64, Millis) {
        let marks = [self.mark, self.file].into_iter().flatten();
        let time = marks.map(|mark| mark.time).max().unwrap_or_default();
        (self.mark.map_or(0, |mark| mark.number), time)
    }
}

/// Returns whether the newest run kept the index of waiting activities up to date.
pub(super) fn is_indexed(barrier: &Barrier) -> Result<bool, Corrupt> {
    Ok(runs(barrier)?.ends_with(barrier.read(INDEXED)?.as_deref()))
}

fn runs(barrier: &Barrier) -> Result<Runs, Corrupt> {
    let damaged = || Corrupt::Record("guard");
    let runs = barrier.read(RUNS)?.map(|bytes| Runs::decode(&bytes).ok_or_else(damaged)).transpose()?;
    Ok(runs.unwrap_or_default())
}

pub(super) fn stored(barrier: &Barrier) -> Result<Option<Stored>, Corrupt> {
    decoded(barrier.read(MARK)?)
}

/// Decodes the record of the mark.
pub(super) fn decoded(record: Option<Vec<u8>>) -> Result<Option<Stored>, Corrupt> {
    record.map(|bytes| Stored::decode(&bytes).ok_or(Corrupt::Record("guard"))).transpose()
}

pub(super) fn lost(path: &Path, stored: Option<&Mark>, seen: &Mark) -> GuardError {
    let missing = seen.number.saturating_sub(stored.map_or(0, |mark| mark.number));
    let store_time = stored.map(|mark| mark.time);
    GuardError::Lost { file: path.to_owned(), store_time, guard_time: seen.time, missing }
}
