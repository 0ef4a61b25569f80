//! The guard detects a store that does not match what was acknowledged.
//!
//! A small file beside the store records how far the store has advanced. If the end of its log is damaged,
//! sled assumes an interrupted write and drops it, so a store that lost acknowledged groups looks complete.
//! The loss is detected because the file has seen a later group. In addition, a digest over all records is
//! updated with each group and compared with the records after each start. It detects damage in the middle of
//! the log, which sled also drops, and old but authentic records that someone has put back on the disk.
//!
//! Each start of the daemon begins a run with a random id, and each durable group has a number. The store
//! holds the runs with their first numbers; the newest number and the digest are written with each group. The
//! guard file holds the run and number of the newest acknowledged group. Both are sealed. The file is written
//! before a group is acknowledged and synced in the background. After a power cut it may be behind the store,
//! but never ahead. A run is stored with its first group, so a daemon can start and read on a read-only disk.
//!
//! Each daemon of a shared store has a guard file, runs and a mark of its own, with the digest over what it added and removed.
//! The exclusive or of these digests is the one over all records.

mod comparing;
mod comparison;
mod error;
mod file;
mod group;
mod journaling;
mod loaded;
mod mark;
mod slot;
mod state;
mod syncer;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quorate_common::activity_log::LogHash;
use quorate_core::error::Corrupt;
use quorate_core::model::Millis;
use quorate_core::model::layout;
use quorate_core::model::write::Write;
use quorate_core::world::{Page, Records};

pub use self::comparison::Comparison;
pub use self::error::GuardError;
use self::file::{Entry, GuardFile};
pub use self::group::GroupMark;
pub use self::journaling::check_journal;
use self::loaded::LoadedState;
use self::mark::{Mark, RunId, Stored, StoredDigest};
use self::slot::Slot;
use self::state::{Pending, State};
use self::syncer::Syncer;
use crate::backup::Recorder;
use crate::barrier::{self, Barrier};
use crate::private_file;
use crate::store::{Acceptance, Batch, BatchOutcome, ReadRecord, Store, StoreError};

/// Record key of the mark: run, number and time of the newest group, and the digest over all other records. The keys of
/// daemons that share a store end with their ids.
const MARK: &[u8] = b"mg";
/// Record key of the list of runs.
const RUNS: &[u8] = b"mr";
/// Record key of the newest run that kept the index of waiting activities up to date. Earlier versions store their runs
/// without it.
const INDEXED: &[u8] = b"mi";

/// Keeps the guard file up to date with the store.
pub struct Guard {
    path: PathBuf,
    state: Mutex<State>,
    syncer: Arc<Syncer>,
}

/// Accepts a reopened store that has all acknowledged groups.
pub struct HasAcknowledged<'g> {
    guard: &'g Guard,
    barrier: &'g Barrier,
    key: Vec<u8>,
}

impl Acceptance for HasAcknowledged<'_> {
    fn check(&self, read: ReadRecord<'_>) -> Result<(), StoreError> {
        let (terms, value) = (read(barrier::TERMS)?, read(&self.key)?);
        // Another daemon may have ended the term of what this one sealed, which it commits no longer then.
        let terms = self.barrier.adopt_terms(terms.as_deref());
        let stored = terms.and_then(|terms| {
            self.barrier.end_terms_before(terms.newest());
            value.map(|value| self.barrier.open(&self.key, &value)).transpose()
        });
        let checked = stored
            .and_then(loaded::decoded)
            .map_err(GuardError::from)
            .and_then(|stored| self.guard.state().check(&self.guard.path, stored.as_ref()));
        checked.map_err(|error| StoreError::Failed { doing: "reopening the store", cause: error.to_string() })
    }
}

/// Checks that the guard file of a new store in `folder` does not exist and can be created. Writes nothing.
///
/// # Errors
/// Returns an error if the file exists, or its directory does not.
pub fn check_new(path: &Path, folder: &Path) -> Result<(), GuardError> {
    let own = private_file::folder(path);
    if path.try_exists().map_err(|source| GuardError::System { file: path.to_owned(), source })? {
        return Err(GuardError::NoStore { file: path.to_owned(), folder: folder.to_owned() });
    }
    // The directory of the store is created later.
    if own != folder && !own.is_dir() {
        return Err(GuardError::NoDirectory(own.to_owned()));
    }
    Ok(())
}

/// State of the index of waiting activities in a store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum IndexState {
    /// It must equal what waits.
    Current,
    /// It was complete before an earlier version changed the store.
    Outdated,
    /// It was never completed.
    #[default]
    Incomplete,
}

/// Returns the state of the index of waiting activities.
///
/// # Errors
/// Returns an error if the store cannot be read.
pub fn index_state(barrier: &Barrier) -> Result<IndexState, Corrupt> {
    if barrier.read(&layout::waiting_is_complete(barrier.vault().index()))?.is_none() {
        return Ok(IndexState::Incomplete);
    }
    let is_current = slot::occupied(barrier)?.iter().all(|one| one.is_indexed);
    Ok(if is_current { IndexState::Current } else { IndexState::Outdated })
}

/// Returns the time of the newest group in the store, in milliseconds since 1970. Returns `None` if the store
/// never had a guard, as with version 0.1.
///
/// # Errors
/// Returns an error if the store cannot be read.
pub fn end(barrier: &Barrier) -> Result<Option<Millis>, Corrupt> {
    Ok(slot::occupied(barrier)?.iter().map(|one| one.stored.mark.time).max())
}

/// Returns whether a store ever had a guard. Stores of version 0.1 have none. Its values may be encrypted.
///
/// # Errors
/// Returns an error if the store cannot be read.
pub fn is_marked(store: &dyn Store) -> Result<bool, StoreError> {
    Ok(!store.keys(Page::first(MARK, 1))?.is_empty())
}

/// Returns the newest time that the daemon has ever seen, in milliseconds since 1970.
///
/// # Errors
/// Returns an error if the store does not match its guard file, or one of the two cannot be read.
pub fn newest_time(path: &Path, barrier: &Barrier) -> Result<Millis, GuardError> {
    Ok(LoadedState::read(path, barrier, false)?.newest().1)
}

/// Checks that the store matches its guard file, or is newer. Writes nothing.
///
/// # Errors
/// Returns an error if it is older or different, or if one of the two cannot be read.
pub fn check(path: &Path, barrier: &Barrier) -> Result<(), GuardError> {
    LoadedState::read(path, barrier, false).map(drop)
}

/// Compares all records with the digest over them. Writes nothing.
///
/// # Errors
/// Returns [`GuardError::Altered`] if they differ, and an error if the store cannot be read.
pub fn compare(barrier: &Barrier) -> Result<(), GuardError> {
    let mut comparison = Comparison::default();
    while comparison.read_more(barrier)?.is_none() {}
    comparison.finish()
}

impl Guard {
    /// Checks the store against its guard file and begins a run. Also returns the newest time that the daemon
    /// has ever seen, in milliseconds since 1970. Writes only to a new store.
    ///
    /// # Errors
    /// Returns an error if the store is older than its guard file or has another history, or if one of the
    /// two cannot be read.
    pub fn open(path: &Path, barrier: &Barrier, now: Millis) -> Result<(Self, Millis), GuardError> {
        Self::begin(path, barrier, LoadedState::read(path, barrier, false)?, now)
    }

    /// Does the same for a new daemon among those that share a store, which has no guard file yet.
    ///
    /// # Errors
    /// See [`Self::open`].
    pub fn join(path: &Path, barrier: &Barrier, now: Millis) -> Result<(Self, Millis), GuardError> {
        Self::begin(path, barrier, LoadedState::read(path, barrier, true)?, now)
    }

    /// Begins a run regardless of the guard file, even if the guard's records in the store cannot be read.
    /// The next comparison accepts the records as they are, unless they were found to be `unchanged`.
    ///
    /// # Errors
    /// Returns an error if the store or the guard file cannot be written.
    pub fn accept(
        path: &Path,
        barrier: &Barrier,
        now: Millis,
        unchanged: bool,
    ) -> Result<(Self, Millis), GuardError> {
        let loaded = LoadedState::read_leniently(path, barrier, unchanged)?;
        let others = loaded.others.clone();
        let (guard, newest) = Self::begin(path, barrier, loaded, now)?;
        guard.replace(barrier, now, others)?;
        guard.compare_until_known(barrier)?;
        Ok((guard, newest))
    }

    /// Begins a run at the given time, even if it is earlier than the newest recorded one.
    ///
    /// # Errors
    /// See [`Self::open`].
    pub fn accept_clock(path: &Path, barrier: &Barrier, now: Millis) -> Result<Self, GuardError> {
        let mut loaded = LoadedState::read(path, barrier, false)?;
        let others = loaded.others.iter_mut().map(|(_, stored)| &mut stored.mark);
        for mark in [&mut loaded.mark, &mut loaded.file].into_iter().flatten().chain(others) {
            mark.time = now;
        }
        let others = loaded.others.clone();
        let (guard, _) = Self::begin(path, barrier, loaded, now)?;
        guard.replace(barrier, now, others)?;
        Ok(guard)
    }

    fn begin(
        path: &Path,
        barrier: &Barrier,
        loaded: LoadedState,
        now: Millis,
    ) -> Result<(Self, Millis), GuardError> {
        let (number, newest) = loaded.newest();
        let (run, slot) = (loaded.run, loaded.slot);
        barrier.store().become_daemon(slot.id())?;
        // Another daemon that ends a term waits for this one from now on.
        barrier.load_terms()?;
        let mark = Mark { run: loaded.mark.map_or(run, |mark| mark.run), number, time: newest.max(now) };
        let daemon = barrier.store().is_remote().then(|| slot.id());
        if loaded.file.is_none() {
            // The guard file must exist before the first group.
            file::create(path, barrier, Entry { mark, daemon })?;
        }
        let mut runs = loaded.runs;
        runs.begin(run, number.saturating_add(1));
        let file = GuardFile::open(path, barrier, daemon)?;
        let index = if loaded.is_indexed { IndexState::Current } else { IndexState::Outdated };
        let others = slot::combined(loaded.others.iter().map(|(_, stored)| stored.digest));
        let state = State::new((file, slot), mark, (loaded.digest, others), (run, runs), index);
        let guard = Self { path: path.to_owned(), state: Mutex::new(state), syncer: Syncer::start(path) };
        Ok((guard, newest))
    }

    /// Returns the id of this daemon among those that share the store.
    pub fn daemon(&self) -> RunId {
        self.state().slot.id()
    }

    /// Records the changes of all groups from now on, as long as the recorder exists. An earlier recorder gets none anymore.
    pub fn record(&self, recorder: &Arc<Recorder>) {
        self.state().recorder = Some(Arc::downgrade(recorder));
    }

    /// Returns whether a backup that is being written lags behind the changes.
    pub fn backup_lags(&self) -> bool {
        self.state().recorder().is_some_and(|recorder| recorder.lags())
    }

    /// Returns whether a key is that of the mark of this daemon, which is written with each group.
    pub fn is_own_mark(&self, key: &[u8]) -> bool {
        self.state().slot.mark() == key
    }

    /// Returns whether the index of waiting activities may differ from them, because an earlier version has changed the
    /// store. With the first group of this run, the index counts as incomplete.
    pub fn is_index_outdated(&self) -> bool {
        self.state().is_index_outdated()
    }

    /// Commits a batch in a group of its own, while nothing else is committed.
    ///
    /// # Errors
    /// Returns an error if the store or the guard file cannot be written.
    pub fn commit(&self, barrier: &Barrier, now: Millis, batch: Batch) -> Result<(), GuardError> {
        self.commit_logged(barrier, now, batch, &[]).map(drop)
    }

    /// Does the same for a batch that adds entries to the activity log. Returns its outcome.
    ///
    /// # Errors
    /// See [`Self::commit`].
    pub fn commit_logged(
        &self,
        barrier: &Barrier,
        now: Millis,
        batch: Batch,
        entries: &[LogHash],
    ) -> Result<BatchOutcome, GuardError> {
        let mut batches = vec![batch];
        let mark = self.mark(barrier, now)?.with_entries(vec![entries]).with_journal(&mut batches)?;
        let outcomes = barrier.store().commit(&mark.group(batches))?;
        self.advance(barrier, now)?;
        Ok(outcomes.first().copied().unwrap_or(BatchOutcome::Clash))
    }

    /// Stores the run at once and replaces the guard file, whatever it contains. Also replaces the marks of `others`.
    fn replace(&self, barrier: &Barrier, now: Millis, others: Vec<(Slot, Stored)>) -> Result<(), GuardError> {
        let write = |(slot, stored): (Slot, Stored)| Write::mark(slot.mark(), &stored.encode());
        let writes = barrier.seal(others.into_iter().map(write).collect())?;
        barrier
            .store()
            .commit(&self.mark(barrier, now)?.group(vec![Batch { writes, ..Batch::default() }]))?;
        let mut state = self.state();
        state.advance(barrier, now);
        state.create_file(&self.path, barrier)?;
        state.open_file(&self.path, barrier)
    }

    /// Prepares the mark of the next group.
    ///
    /// # Errors
    /// Returns an error if the random source fails, or the terms of the store cannot be read.
    pub fn mark<'g>(&'g self, barrier: &'g Barrier, time: Millis) -> Result<GroupMark<'g>, Corrupt> {
        let term = barrier.terms()?.newest();
        let state = self.state();
        let run = if state.is_stored { None } else { Some(state.runs(barrier)?) };
        Ok(GroupMark::new(self, barrier, (time, term), run))
    }

    /// Returns a batch that changes nothing but the records of the guard, so that its group has a mark.
    ///
    /// # Errors
    /// Returns an error if the random source fails.
    pub fn renewal(&self, barrier: &Barrier) -> Result<Batch, Corrupt> {
        self.state().runs(barrier)
    }

    /// Records that the newest group is durable. Must return before the group is answered or published.
    ///
    /// # Errors
    /// Returns an error if the guard file cannot be written.
    pub fn advance(&self, barrier: &Barrier, now: Millis) -> Result<(), GuardError> {
        let mut state = self.state();
        state.advance(barrier, now);
        let synced = self.syncer.report();
        synced.map_err(|source| GuardError::System { file: self.path.clone(), source })?;
        self.write(&mut state, barrier)
    }

    /// Records the time. The daemon's time never goes back behind it, even if the system clock is set back.
    ///
    /// # Errors
    /// Returns an error if the guard file cannot be written.
    pub fn persist_time(&self, barrier: &Barrier, now: Millis) -> Result<(), GuardError> {
        let mut state = self.state();
        if state.mark.time >= now {
            return Ok(());
        }
        state.mark.time = now;
        self.write(&mut state, barrier)
    }

    /// Returns the condition under which a reopened store may be read.
    pub fn acceptance<'g>(&'g self, barrier: &'g Barrier) -> HasAcknowledged<'g> {
        HasAcknowledged { guard: self, barrier, key: self.state().slot.mark() }
    }

    /// Continues after the store was reopened, with or without the group that failed.
    ///
    /// # Errors
    /// Returns an error if the store lost acknowledged groups, or the guard file cannot be written.
    pub fn resume(&self, barrier: &Barrier) -> Result<(), GuardError> {
        let mut state = self.state();
        let stored = loaded::decoded(barrier.read(&state.slot.mark())?)?;
        state.check(&self.path, stored.as_ref())?;
        if let Some(stored) = stored {
            state.resume(stored);
        }
        state.pending = Pending::default();
        let committed = barrier.store().register(&layout::journal(state.slot.key_part()))?;
        if let Some(journal) = state.journal.journal() {
            // What cannot be written now is written with the next frame.
            let _ = journal.resume(barrier, committed);
        }
        if let Some(recorder) = state.recorder() {
            // It may or may not include the failed group.
            recorder.interrupt();
        }
        // The records compared so far may or may not include the failed group.
        if state.comparison.is_some() || state.digest == StoredDigest::Unknown {
            state.comparison = Some(Comparison::default());
        }
        // The file may have been removed or replaced, or its file system mounted again.
        if !self.path.try_exists().map_err(|source| GuardError::System { file: self.path.clone(), source })? {
            state.create_file(&self.path, barrier)?;
        }
        state.open_file(&self.path, barrier)?;
        let mark = state.mark;
        state.file.write(&self.path, barrier, mark)?;
        let synced = self.syncer.sync_now(state.file.handle());
        synced.map_err(|source| GuardError::System { file: self.path.clone(), source })
    }

    fn write(&self, state: &mut State, barrier: &Barrier) -> Result<(), GuardError> {
        state.file.write(&self.path, barrier, state.mark)?;
        self.syncer.sync(state.file.handle());
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // A failed sync needs no handling: the next start reads the file as it is.
        let _ = self.state().file.handle().sync_data();
        self.syncer.stop();
    }
}

fn random() -> Result<RunId, Corrupt> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| Corrupt::Invariant("the random source failed"))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;
