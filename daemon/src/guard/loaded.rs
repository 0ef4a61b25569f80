//! State of the store and the guard file at a start.

use std::path::Path;

use quorate_core::error::Corrupt;
use quorate_core::model::Millis;

use super::file::Entry;
use super::mark::{Mark, RunId, Runs, Stored, StoredDigest};
use super::slot::{self, Occupied, Slot};
use super::{GuardError, file, random};
use crate::barrier::Barrier;
use crate::digest::StoreDigest;

/// State of the store and the guard file at a start.
pub(super) struct LoadedState {
    /// Id of the run that begins.
    pub(super) run: RunId,
    /// Where this daemon keeps its mark.
    pub(super) slot: Slot,
    pub(super) mark: Option<Mark>,
    pub(super) digest: StoredDigest,
    pub(super) runs: Runs,
    pub(super) file: Option<Mark>,
    /// Whether other daemons may use the store.
    is_shared: bool,
    /// Whether nothing is expected of this daemon: it has committed nothing yet.
    is_new: bool,
    /// What the other daemons of the store keep.
    pub(super) others: Vec<(Slot, Stored)>,
    /// Whether the newest run of each daemon kept the index of waiting activities up to date.
    pub(super) is_indexed: bool,
}

impl LoadedState {
    /// Reads and checks both. A guard file may be missing if the daemon `joins` those that share the store.
    ///
    /// # Errors
    /// Returns an error if one of them cannot be read, or if the store does not match the guard file and is not
    /// newer. Also returns an error if the store was found to be altered.
    pub(super) fn read(path: &Path, barrier: &Barrier, joins: bool) -> Result<Self, GuardError> {
        let occupied = slot::occupied(barrier)?;
        let is_shared = barrier.store().is_remote();
        let loaded = Self::of(occupied, file::read(path, barrier)?, random()?, is_shared, joins);
        loaded.check(path)?;
        Ok(loaded)
    }

    /// Selects what belongs to this daemon; `run` is the id of a daemon that is new to a shared store.
    fn of(occupied: Vec<Occupied>, file: Option<Entry>, run: RunId, is_shared: bool, joins: bool) -> Self {
        let named = file.and_then(|entry| entry.daemon).filter(|_| is_shared);
        let file = file.map(|entry| entry.mark);
        let is_new = file.map_or(joins || occupied.is_empty(), |seen| seen.number == 0);
        let of_file = |one: &Occupied| file.is_some_and(|seen| one.runs.contains(&seen.run));
        let slot = match (occupied.iter().find(|one| of_file(one)), file) {
            (Some(own), _) => own.slot,
            (None, _) if let Some(id) = named => Slot::of(id),
            (None, Some(seen)) if is_shared && is_new => Slot(Some(seen.run)),
            (None, None) if is_shared && is_new => Slot(Some(run)),
            // The store is older than the run in a file of an earlier version. Which of several daemons this was is unknown then.
            (None, _) if is_shared => match occupied.as_slice() {
                [only] => only.slot,
                _ => Slot(Some(run)),
            },
            (None, _) => Slot(None),
        };
        let is_indexed = occupied.iter().all(|one| one.is_indexed);
        let (own, others): (Vec<_>, Vec<_>) = occupied.into_iter().partition(|one| one.slot == slot);
        let others: Vec<_> = others.into_iter().map(|one| (one.slot, one.stored)).collect();
        // A daemon that joins has added and removed nothing yet.
        let joined = if others.is_empty() {
            StoredDigest::default()
        } else {
            StoredDigest::Known(StoreDigest::default())
        };
        let own = own.into_iter().next();
        Self {
            run,
            slot,
            mark: own.as_ref().map(|own| own.stored.mark),
            digest: own.as_ref().map_or(joined, |own| own.stored.digest),
            runs: own.map(|own| own.runs).unwrap_or_default(),
            file,
            is_shared,
            is_new,
            others,
            is_indexed,
        }
    }

    /// Reads as much as possible. The digest of the store is kept if its records were found to be `unchanged`. Otherwise, it
    /// will be that of this daemon alone.
    pub(super) fn read_leniently(
        path: &Path,
        barrier: &Barrier,
        unchanged: bool,
    ) -> Result<Self, GuardError> {
        let file = file::read(path, barrier).unwrap_or_default();
        let is_shared = barrier.store().is_remote();
        let mut loaded = Self::of(slot::readable(barrier), file, random()?, is_shared, true);
        if !unchanged || loaded.digest == StoredDigest::Altered {
            loaded.digest = StoredDigest::default();
            let others = loaded.others.iter_mut();
            others.for_each(|(_, stored)| stored.digest = StoredDigest::Known(StoreDigest::default()));
        }
        // Whatever was lost, the index is built again.
        Ok(Self { mark: loaded.mark.or(loaded.file), is_indexed: false, ..loaded })
    }

    fn check(&self, path: &Path) -> Result<(), GuardError> {
        if self.digest == StoredDigest::Altered {
            return Err(GuardError::Altered);
        }
        if self.others.iter().any(|(_, stored)| stored.digest == StoredDigest::Altered) {
            return Err(GuardError::Altered);
        }
        match (self.mark, self.file) {
            // A new store, one of version 0.1, or a daemon that joins others.
            (None, None) if self.is_new => Ok(()),
            (None | Some(_), None) if self.is_shared => Err(GuardError::MissingOnShared(path.to_owned())),
            (None | Some(_), None) => Err(GuardError::Missing(path.to_owned())),
            // The first start was interrupted before it wrote to the store.
            (None, Some(seen)) if seen.number == 0 => Ok(()),
            (None, Some(seen)) => Err(lost(path, None, self.end(), &seen)),
            (Some(mark), Some(seen)) => match self.runs.last_of(&seen.run, mark.number) {
                Some(last) if seen.number <= last => Ok(()),
                None | Some(_) if seen.number > mark.number => {
                    Err(lost(path, Some(&mark), self.end(), &seen))
                }
                None | Some(_) => Err(GuardError::Mismatch(path.to_owned())),
            },
        }
    }

    /// Returns the time of the newest group of any daemon in the store, in milliseconds since 1970.
    fn end(&self) -> Option<Millis> {
        let others = self.others.iter().map(|(_, stored)| stored.mark.time);
        self.mark.map(|mark| mark.time).into_iter().chain(others).max()
    }

    /// Returns the number of the newest group of this daemon, and the newest time that any daemon has seen, in milliseconds
    /// since 1970.
    pub(super) fn newest(&self) -> (u64, Millis) {
        let others = self.others.iter().map(|(_, stored)| stored.mark);
        let marks = [self.mark, self.file].into_iter().flatten().chain(others);
        let time = marks.map(|mark| mark.time).max().unwrap_or_default();
        (self.mark.map_or(0, |mark| mark.number), time)
    }
}

/// Decodes the record of a mark.
pub(super) fn decoded(record: Option<Vec<u8>>) -> Result<Option<Stored>, Corrupt> {
    record.map(|bytes| Stored::decode(&bytes).ok_or(Corrupt::Record("guard"))).transpose()
}

/// Returns the error of a store that ends at `store_time` and has less of this daemon than the guard file has `seen`.
pub(super) fn lost(
    path: &Path,
    stored: Option<&Mark>,
    store_time: Option<Millis>,
    seen: &Mark,
) -> GuardError {
    let missing = seen.number.saturating_sub(stored.map_or(0, |mark| mark.number));
    GuardError::Lost { file: path.to_owned(), store_time, guard_time: seen.time, missing }
}
