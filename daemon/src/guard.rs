//! The guard notices a store that is not what was acknowledged. A small file beside the store knows how far the store had
//! come: sled takes damage at the end of its log for a write that was interrupted and drops what follows, so a store that
//! lost acknowledged groups looks whole. It is noticed because the file has seen a later group. And a digest over all
//! records, kept up to date with each group, is compared with the records after each start: sled also drops damaged parts
//! in the middle of its log, and a person with access to the disk can put back an old record, which is authentic.
//!
//! Each start of the daemon begins a run with a random id, and each durable group of it has a number. The store holds the
//! runs with their first numbers, and the newest number and the digest, which are written with each group; the guard file
//! holds run and number of the newest group that was acknowledged. Both are sealed. The file is written before a group is
//! acknowledged, and synced in the background: after a power cut it may be some groups behind the store, but never ahead
//! of it. A run is stored with its first group, so that a daemon can start, and read, while the disk takes no writes.

mod comparison;
mod file;
mod found;
mod mark;
mod state;
mod syncer;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use quorate_core::model::Millis;
use quorate_core::model::write::Write;
use quorate_core::refusal::Corrupt;
use quorate_core::world::Records;

pub use self::comparison::Comparison;
use self::file::GuardFile;
use self::found::{Found, lost, stored};
use self::mark::{Mark, RunId, Stored, StoredDigest};
use self::state::{Pending, State};
use self::syncer::Syncer;
use crate::barrier::Barrier;
use crate::store::{Batch, Change, Changed, Group, StoreError, Trailer};
use crate::{clock, private_file};

/// Key of the mark: run, number and time of the newest group, and the digest over all other records.
const MARK: &[u8] = b"mg";
/// Key of the list of runs.
const RUNS: &[u8] = b"mr";
/// What to do after a restore.
const ON_PURPOSE: &str = "; to go on with what is there, run 'quorated accept-loss'";

/// Up to when a store has changes.
fn ended(found: Option<Millis>) -> String {
    found.map_or_else(
        || "it has no acknowledged change".to_owned(),
        |time| format!("it ends at {}", clock::text(time)),
    )
}

/// The store and its guard do not fit together.
#[derive(Debug, thiserror::Error)]
pub enum GuardError {
    /// The store is older than its guard.
    #[error(
        "the store lost acknowledged changes: {}, and at least {missing} later commits are missing (the guard file {} was last \
         written at {}); restore a backup that ends later{ON_PURPOSE}", ended(*.found), .file.display(), clock::text(*.seen)
    )]
    Lost {
        /// The guard file.
        file: PathBuf,
        /// Time of the newest group in the store, if it has one.
        found: Option<Millis>,
        /// Newest time in the guard file.
        seen: Millis,
        /// How many groups it has seen that the store does not have.
        missing: u64,
    },
    /// The store has another history than its guard.
    #[error(
        "the store is not the one that the guard file {} belongs to, or an older copy of it; put back the store or the file \
         that belong together{ON_PURPOSE}", .0.display()
    )]
    Other(PathBuf),
    /// The records of the store are not those that the daemon wrote.
    #[error(
        "records of the store were removed, put back, added or damaged, by a fault or by someone who can write to the disk; \
         'quorated verify' names those it can; restore the newest backup, or run 'quorated accept-loss' to go on with what \
         is there"
    )]
    Altered,
    /// There is a guard file, and nothing in the store.
    #[error(
        "there is nothing in the store; is its disk mounted? Put back the store, or restore a backup; to begin a new store, move \
         the whole data folder and the guard file away"
    )]
    Empty,
    /// There is no guard file.
    #[error(
        "the guard file {} is missing, so that it is unknown whether the store is complete; put it back{ON_PURPOSE}",
        .0.display()
    )]
    Missing(PathBuf),
    /// The guard file of a new store cannot be created.
    #[error("the folder {} of the guard file does not exist; create it (mode 0700)", .0.display())]
    NoFolder(PathBuf),
    /// There is a guard file, and no store.
    #[error(
        "the guard file {} belongs to a store that is not in {}; restore that store, or move the guard file away to create a \
         new store", .file.display(), .folder.display()
    )]
    NoStore {
        /// The guard file.
        file: PathBuf,
        /// Folder of the store.
        folder: PathBuf,
    },
    /// The guard file cannot be read.
    #[error(
        "the guard file {} is damaged or belongs to another store; put back the right one{ON_PURPOSE}", .0.display()
    )]
    Damaged(PathBuf),
    /// The system does not let the file be read or written.
    #[error("guard file {}: {source}", .file.display())]
    System {
        /// The guard file.
        file: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The records of the guard in the store cannot be read.
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl GuardError {
    /// Whether the store could not be read, so that nothing is known of its records.
    #[must_use]
    pub const fn is_of_store(&self) -> bool {
        matches!(self, Self::Store(_) | Self::Corrupt(Corrupt::Store(_) | Corrupt::Unavailable))
    }
}

/// Keeps the guard file in step with the store.
pub struct Guard {
    path: PathBuf,
    state: Mutex<State>,
    syncer: Arc<Syncer>,
}

/// Makes the mark that is written with a group.
pub struct GroupMark<'g> {
    guard: &'g Guard,
    barrier: &'g Barrier,
    time: Millis,
    /// Stores the run, unless a durable group did.
    run: Option<Batch>,
}

impl GroupMark<'_> {
    /// The group of these batches, to which one is added if the run is not stored yet.
    pub fn group(&self, mut batches: Vec<Batch>) -> Group<'_> {
        batches.extend(self.run.clone());
        Group { batches, trailer: Some(self) }
    }
}

impl Trailer for GroupMark<'_> {
    fn records(&self, changed: &mut dyn Iterator<Item = Changed<'_>>) -> Result<Vec<Change>, StoreError> {
        let mut state = self.guard.state();
        let mut pending = Pending::default();
        for Changed { key, before, after } in changed {
            let was_compared = state.comparison.as_ref().is_some_and(|comparison| comparison.is_past(key));
            for value in [before, after].into_iter().flatten() {
                let digest = self.barrier.vault().digests().of(key, value);
                pending.all.toggle(digest);
                if was_compared {
                    pending.compared.toggle(digest);
                }
            }
        }
        let stored = Stored { mark: state.next(self.time), digest: state.digest.toggled(pending.all) };
        state.pending = pending;
        let sealed = self.barrier.seal(vec![Write::mark(MARK.to_vec(), &stored.encode())]);
        sealed.map_err(|corrupt| StoreError::Failed {
            doing: "making the mark of a group",
            cause: corrupt.to_string(),
        })
    }
}

/// Fails if the guard file of a new store in `folder` is there already, or cannot be created. Writes nothing.
///
/// # Errors
/// As described.
pub fn check_new(path: &Path, folder: &Path) -> Result<(), GuardError> {
    let own = private_file::folder(path);
    if path.try_exists().map_err(|source| GuardError::System { file: path.to_owned(), source })? {
        return Err(GuardError::NoStore { file: path.to_owned(), folder: folder.to_owned() });
    }
    // The folder of the store is created.
    if own != folder && !own.is_dir() {
        return Err(GuardError::NoFolder(own.to_owned()));
    }
    Ok(())
}

/// Returns the time of the newest group in the store, in milliseconds since 1970; `None` if it never had a guard, as
/// stores of version 0.1.
///
/// # Errors
/// When the store cannot be read.
pub fn end(barrier: &Barrier) -> Result<Option<Millis>, Corrupt> {
    Ok(stored(barrier)?.map(|stored| stored.mark.time))
}

/// Whether the store has ever had a guard. Stores of version 0.1 have none.
///
/// # Errors
/// When the store cannot be read.
pub fn has_mark(barrier: &Barrier) -> Result<bool, Corrupt> {
    Ok(barrier.read(MARK)?.is_some())
}

/// Returns the newest time that the daemon has ever seen, in milliseconds since 1970.
///
/// # Errors
/// When the store is not what its guard has seen, or one of the two cannot be read.
pub fn newest_time(path: &Path, barrier: &Barrier) -> Result<Millis, GuardError> {
    Ok(Found::read(path, barrier)?.newest().1)
}

/// Checks that the store is what its guard has seen, or newer. Writes nothing.
///
/// # Errors
/// When it is not, or one of the two cannot be read.
pub fn check(path: &Path, barrier: &Barrier) -> Result<(), GuardError> {
    Found::read(path, barrier).map(drop)
}

/// Compares all records with the digest over them. Writes nothing.
///
/// # Errors
/// [`GuardError::Altered`] if they differ, and when the store cannot be read.
pub fn compare(barrier: &Barrier) -> Result<(), GuardError> {
    let mut comparison = Comparison::default();
    while comparison.go_on(barrier)?.is_none() {}
    comparison.end(barrier)
}

impl Guard {
    /// Checks the store against its guard and begins a run. The returned time is the newest one that the daemon has ever
    /// seen, in milliseconds since 1970. Only a new store is written to.
    ///
    /// # Errors
    /// When the store is older than its guard, or has another history, or one of the two cannot be read.
    pub fn open(path: &Path, barrier: &Barrier, now: Millis) -> Result<(Self, Millis), GuardError> {
        Self::begin(path, barrier, Found::read(path, barrier)?, now)
    }

    /// Begins a run of a store whatever its guard has seen, and whether or not its own records of the guard can be read. The
    /// next comparison takes the records as they are, unless they were found to be `unchanged`.
    ///
    /// # Errors
    /// When the store or the guard file cannot be written.
    pub fn accept(
        path: &Path,
        barrier: &Barrier,
        now: Millis,
        unchanged: bool,
    ) -> Result<(Self, Millis), GuardError> {
        let found = Found::read_leniently(path, barrier, unchanged);
        let (guard, newest) = Self::begin(path, barrier, found, now)?;
        guard.replace(barrier, now)?;
        Ok((guard, newest))
    }

    /// Begins a run at this time, however far the daemon's time had come before.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn accept_clock(path: &Path, barrier: &Barrier, now: Millis) -> Result<Self, GuardError> {
        let mut found = Found::read(path, barrier)?;
        for mark in [&mut found.mark, &mut found.file].into_iter().flatten() {
            mark.time = now;
        }
        let (guard, _) = Self::begin(path, barrier, found, now)?;
        guard.replace(barrier, now)?;
        Ok(guard)
    }

    fn begin(
        path: &Path,
        barrier: &Barrier,
        found: Found,
        now: Millis,
    ) -> Result<(Self, Millis), GuardError> {
        let (number, newest) = found.newest();
        let run = random()?;
        let mark = Mark { run: found.mark.map_or(run, |mark| mark.run), number, time: newest.max(now) };
        if found.file.is_none() {
            // From the first group on, the store is never without a guard file.
            file::create(path, barrier, mark)?;
        }
        let mut runs = found.runs;
        runs.begin(run, number.saturating_add(1));
        let state = State::new(GuardFile::open(path, barrier)?, mark, found.digest, run, runs);
        let guard = Self { path: path.to_owned(), state: Mutex::new(state), syncer: Syncer::start(path) };
        Ok((guard, newest))
    }

    /// Stores the run at once, and replaces the guard file, whatever it has seen.
    fn replace(&self, barrier: &Barrier, now: Millis) -> Result<(), GuardError> {
        barrier.store().commit(&self.mark(barrier, now)?.group(Vec::new()))?;
        let mut state = self.state();
        state.advance(now);
        file::create(&self.path, barrier, state.mark)?;
        state.file = GuardFile::open(&self.path, barrier)?;
        Ok(())
    }

    /// Returns what makes the mark of the next group.
    ///
    /// # Errors
    /// When the random source does not answer.
    pub fn mark<'g>(&'g self, barrier: &'g Barrier, time: Millis) -> Result<GroupMark<'g>, Corrupt> {
        let state = self.state();
        let run = if state.is_stored { None } else { Some(state.runs(barrier)?) };
        Ok(GroupMark { guard: self, barrier, time, run })
    }

    /// Records that the group with the newest mark is durable. Nothing may be answered or published before it returns.
    ///
    /// # Errors
    /// When the guard file cannot be written.
    pub fn advance(&self, barrier: &Barrier, now: Millis) -> Result<(), GuardError> {
        let mut state = self.state();
        state.advance(now);
        let synced = self.syncer.report();
        synced.map_err(|source| GuardError::System { file: self.path.clone(), source })?;
        self.write(&mut state, barrier)
    }

    /// Whether the digest is still being compared with the records.
    pub fn is_comparing(&self) -> bool {
        self.state().comparison.is_some()
    }

    /// Goes on comparing the digest with the records, for a moment. Nothing may be committed meanwhile.
    ///
    /// # Errors
    /// [`GuardError::Altered`] if they differ, which is kept in the store, and when the store fails.
    pub fn compare(&self, barrier: &Barrier) -> Result<(), GuardError> {
        let mut state = self.state();
        let Some(comparison) = &mut state.comparison else { return Ok(()) };
        let digest = match comparison.go_on(barrier) {
            Ok(None) => return Ok(()),
            Ok(Some(digest)) => digest,
            // Reopened once, the store might have read it.
            Err(error @ GuardError::Store(StoreError::Failed { .. })) if state.was_unreadable => {
                state.comparison = None;
                drop(state);
                tracing::error!(cause = %error, "a record of the store cannot be read");
                return self.conclude(barrier, StoredDigest::Altered);
            }
            Err(error) => {
                state.was_unreadable |= matches!(error, GuardError::Store(StoreError::Failed { .. }));
                return Err(error);
            }
        };
        state.comparison = None;
        let known = match state.digest {
            StoredDigest::Known(expected) if expected == digest => return Ok(()),
            StoredDigest::Unknown => StoredDigest::Known(digest),
            StoredDigest::Known(_) | StoredDigest::Altered => StoredDigest::Altered,
        };
        drop(state);
        self.conclude(barrier, known)
    }

    /// Keeps what a comparison came to in the store, as a group of its own: a mark from before, which knows less, is older than
    /// what the guard file has seen.
    fn conclude(&self, barrier: &Barrier, digest: StoredDigest) -> Result<(), GuardError> {
        let mut state = self.state();
        state.digest = digest;
        let (time, runs) = (state.mark.time, state.runs(barrier)?);
        drop(state);
        let kept = barrier.store().commit(&self.mark(barrier, time)?.group(vec![runs]));
        self.state().is_finding_stored = kept.is_ok() && digest == StoredDigest::Altered;
        let kept = kept.map_err(GuardError::from).and_then(|_| self.advance(barrier, time));
        match (kept, digest) {
            (_, StoredDigest::Altered) => Err(GuardError::Altered),
            // The next group brings it.
            (Ok(()) | Err(GuardError::Store(StoreError::Full { .. })), _) => Ok(()),
            (Err(error), _) => Err(error),
        }
    }

    /// Stores that the records were found to be altered, if that could not be done before.
    pub fn keep_finding(&self, barrier: &Barrier) {
        let state = self.state();
        let is_due = state.digest == StoredDigest::Altered && !state.is_finding_stored;
        drop(state);
        if is_due {
            // It is known already, and tried again if it fails.
            let _ = self.conclude(barrier, StoredDigest::Altered);
        }
    }

    /// As [`Self::compare`], for so long, or until it is over.
    ///
    /// # Errors
    /// As [`Self::compare`].
    pub fn compare_for(&self, barrier: &Barrier, time: Duration) -> Result<(), GuardError> {
        let until = Instant::now() + time;
        while self.is_comparing() && Instant::now() < until {
            self.compare(barrier)?;
        }
        Ok(())
    }

    /// Records the time: the daemon never goes back behind it, even if the clock is set back before the next start.
    ///
    /// # Errors
    /// When the guard file cannot be written.
    pub fn keep_time(&self, barrier: &Barrier, now: Millis) -> Result<(), GuardError> {
        let mut state = self.state();
        if state.mark.time >= now {
            return Ok(());
        }
        state.mark.time = now;
        self.write(&mut state, barrier)
    }

    /// Continues after the store was reopened. The group that failed may be in it or not.
    ///
    /// # Errors
    /// When the store is older than what was acknowledged, or the guard file cannot be written.
    pub fn resume(&self, barrier: &Barrier) -> Result<(), GuardError> {
        let stored = stored(barrier)?;
        let mut state = self.state();
        match stored {
            Some(Stored { mark, .. }) if mark.number < state.mark.number || !state.knows(mark.run) => {
                return Err(lost(&self.path, Some(&mark), &state.mark));
            }
            Some(stored) => state.resume(stored),
            None if state.is_new() => {}
            None => return Err(lost(&self.path, None, &state.mark)),
        }
        state.pending = Pending::default();
        // It is unknown whether what was compared has the group that failed.
        if state.comparison.is_some() || state.digest == StoredDigest::Unknown {
            state.comparison = Some(Comparison::default());
        }
        // The file may have been removed or replaced, or its medium mounted again.
        if !self.path.try_exists().map_err(|source| GuardError::System { file: self.path.clone(), source })? {
            file::create(&self.path, barrier, state.mark)?;
        }
        state.file = GuardFile::open(&self.path, barrier)?;
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
        // Whether it can be synced at the end changes nothing: the next start reads what is there.
        let _ = self.state().file.handle().sync_data();
        self.syncer.stop();
    }
}

fn random() -> Result<RunId, Corrupt> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| Corrupt::Invariant("the random source does not answer"))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;
