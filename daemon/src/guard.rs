//! The guard: a small file beside the store that knows how far the store had come. sled takes damage at the end of its
//! log for a write that was interrupted and drops what follows, so a store that lost acknowledged groups looks whole. It
//! is noticed because the guard has seen a later group.
//!
//! Each start of the daemon begins a run with a random id, and each durable group of it has a number. The store holds the
//! runs with their first numbers and, written with each group, the newest number; the guard file holds run and number of
//! the newest group that was acknowledged. Both are sealed. The file is written before a group is acknowledged, and
//! synced in the background: after a power cut it may be some groups behind the store, but never ahead of it.

mod mark;
mod syncer;

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quorate_core::model::Millis;
use quorate_core::model::write::Write;
use quorate_core::refusal::Corrupt;
use quorate_core::seal::NONCE;
use quorate_core::world::Records;

use self::mark::{Mark, RunId, Runs};
use self::syncer::Syncer;
use crate::barrier::Barrier;
use crate::store::{Batch, Change, Group, StoreError};
use crate::{clock, fail_points, private_file};

/// Key of the mark: run, number and time of the newest group.
const MARK: &[u8] = b"mg";
/// Key of the list of runs.
const RUNS: &[u8] = b"mr";
/// What the guard file is sealed for.
const PURPOSE: &[u8] = b"quorate/guard";
/// First bytes of each slot of the guard file.
const MAGIC: &[u8; 4] = b"QGD1";
/// The file has two slots, written in turn, so that an interrupted write leaves one. Each is in a sector of its own.
const SLOTS: u64 = 2;
/// Bytes from one slot to the next.
const SECTOR: u64 = 4096;
/// Length of a slot: magic, nonce, sealed mark, tag.
const SLOT: usize = MAGIC.len() + NONCE + Mark::LENGTH + 16;

/// What to do after a restore.
const ON_PURPOSE: &str = "; if you restored a backup on purpose, run 'quorated accept-loss'";

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
        "the store lost acknowledged changes: {}, and the guard file {} has seen changes after that (it was last written at {}); \
         restore the newest backup{ON_PURPOSE}", ended(*.found), .file.display(), clock::text(*.seen)
    )]
    Lost {
        /// The guard file.
        file: PathBuf,
        /// Time of the newest group in the store, if it has one.
        found: Option<Millis>,
        /// Newest time in the guard file.
        seen: Millis,
    },
    /// The store has another history than its guard.
    #[error(
        "the store is not the one that the guard file {} belongs to, or an older copy of it; put back the store or the file \
         that belong together{ON_PURPOSE}", .0.display()
    )]
    Other(PathBuf),
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

/// Keeps the guard file in step with the store.
pub struct Guard {
    path: PathBuf,
    state: Mutex<State>,
    syncer: Arc<Syncer>,
}

struct State {
    file: Arc<File>,
    /// Of the newest group that is durable.
    mark: Mark,
    /// The slot that is written next.
    slot: u64,
}

/// What the store and the guard file say at a start.
struct Found {
    mark: Option<Mark>,
    runs: Runs,
    file: Option<Mark>,
}

impl Found {
    fn read(path: &Path, barrier: &Barrier) -> Result<(Self, Option<GuardError>), GuardError> {
        let damaged = || Corrupt::Record("guard");
        let mark = barrier.read(MARK)?.map(|bytes| Mark::decode(&bytes).ok_or_else(damaged)).transpose()?;
        let runs = barrier.read(RUNS)?.map(|bytes| Runs::decode(&bytes).ok_or_else(damaged)).transpose()?;
        let (file, problem) = match read_file(path, barrier) {
            Ok(file) => (file, None),
            Err(problem) => (None, Some(problem)),
        };
        Ok((Self { mark, runs: runs.unwrap_or_default(), file }, problem))
    }

    /// Fails if the store is not what the guard file has seen, or newer.
    fn check(&self, path: &Path) -> Result<(), GuardError> {
        match (self.mark, self.file) {
            // A new store, or one of version 0.1.
            (None, None) => Ok(()),
            // The first start was interrupted before it wrote to the store.
            (None, Some(seen)) if seen.number == 0 => Ok(()),
            (None, Some(seen)) => Err(lost(path, None, &seen)),
            (Some(_), None) => Err(GuardError::Missing(path.to_owned())),
            (Some(mark), Some(seen)) => match self.runs.last_of(&seen.run, mark.number) {
                Some(last) if seen.number <= last => Ok(()),
                None | Some(_) if seen.number > mark.number => Err(lost(path, Some(mark.time), &seen)),
                None | Some(_) => Err(GuardError::Other(path.to_owned())),
            },
        }
    }

    fn newest(&self) -> (u64, Millis) {
        let marks = [self.mark, self.file].into_iter().flatten();
        let time = marks.map(|mark| mark.time).max().unwrap_or_default();
        (self.mark.map_or(0, |mark| mark.number), time)
    }
}

fn lost(path: &Path, found: Option<Millis>, seen: &Mark) -> GuardError {
    GuardError::Lost { file: path.to_owned(), found, seen: seen.time }
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
    Ok(barrier.read(MARK)?.and_then(|bytes| Mark::decode(&bytes)).map(|mark| mark.time))
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
    let (found, problem) = Found::read(path, barrier)?;
    problem.map_or_else(|| found.check(path), Err)?;
    Ok(found.newest().1)
}

/// Checks that the store is what its guard has seen, or newer. Writes nothing.
///
/// # Errors
/// When it is not, or one of the two cannot be read.
pub fn check(path: &Path, barrier: &Barrier) -> Result<(), GuardError> {
    let (found, problem) = Found::read(path, barrier)?;
    problem.map_or_else(|| found.check(path), Err)
}

impl Guard {
    /// Checks the store against its guard and begins a run. The returned time is the newest one that the daemon has ever
    /// seen, in milliseconds since 1970.
    ///
    /// # Errors
    /// When the store is older than its guard, or has another history, or one of the two cannot be read or written.
    pub fn open(path: &Path, barrier: &Barrier, now: Millis) -> Result<(Self, Millis), GuardError> {
        let (found, problem) = Found::read(path, barrier)?;
        problem.map_or_else(|| found.check(path), Err)?;
        Self::begin(path, barrier, found, now)
    }

    /// Begins a run of a store whatever its guard has seen.
    ///
    /// # Errors
    /// When the store or the guard file cannot be written.
    pub fn accept(path: &Path, barrier: &Barrier, now: Millis) -> Result<(Self, Millis), GuardError> {
        let (found, _) = Found::read(path, barrier)?;
        Self::begin(path, barrier, found, now)
    }

    /// Begins a run at this time, however far the daemon's time had come before.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn accept_clock(path: &Path, barrier: &Barrier, now: Millis) -> Result<Self, GuardError> {
        let (mut found, problem) = Found::read(path, barrier)?;
        problem.map_or_else(|| found.check(path), Err)?;
        for mark in [&mut found.mark, &mut found.file].into_iter().flatten() {
            mark.time = now;
        }
        Self::begin(path, barrier, found, now).map(|(guard, _)| guard)
    }

    fn begin(
        path: &Path,
        barrier: &Barrier,
        found: Found,
        now: Millis,
    ) -> Result<(Self, Millis), GuardError> {
        let (number, newest) = found.newest();
        let mark = Mark { run: random()?, number: number.saturating_add(1), time: newest.max(now) };
        if found.file.is_none() {
            // From the first group on, the store is never without a guard file.
            create_file(path, barrier, Mark { number, ..mark })?;
        }
        let mut runs = found.runs;
        runs.begin(mark.run, mark.number);
        let writes =
            vec![Write::mark(RUNS.to_vec(), &runs.encode()), Write::mark(MARK.to_vec(), &mark.encode())];
        let batch = Batch { writes: barrier.seal(writes)?, ..Batch::default() };
        barrier.store().commit(&Group::of(batch))?;
        create_file(path, barrier, mark)?;
        let opened = open_file(path).map_err(|source| GuardError::System { file: path.to_owned(), source });
        let file = Arc::new(opened?);
        let state = Mutex::new(State { file, mark, slot: 0 });
        let guard = Self { path: path.to_owned(), state, syncer: Syncer::start() };
        Ok((guard, newest))
    }

    /// Returns what is written to the store with the next group.
    ///
    /// # Errors
    /// When it cannot be sealed.
    pub fn trailer(&self, barrier: &Barrier, now: Millis) -> Result<Vec<Change>, Corrupt> {
        let mark = self.state().mark;
        let next = Mark { number: mark.number.saturating_add(1), time: mark.time.max(now), ..mark };
        barrier.seal(vec![Write::mark(MARK.to_vec(), &next.encode())])
    }

    /// Notes that the next group is durable. Must return before anybody is told of the group.
    ///
    /// # Errors
    /// When the guard file cannot be written.
    pub fn advance(&self, barrier: &Barrier, now: Millis) -> Result<(), GuardError> {
        let mut state = self.state();
        state.mark.number = state.mark.number.saturating_add(1);
        state.mark.time = state.mark.time.max(now);
        self.write(&mut state, barrier)
    }

    /// Notes the time, so that it never runs behind it again, whatever clock the next start finds.
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

    /// Goes on after the store was reopened: the group that failed is there or not.
    ///
    /// # Errors
    /// When the store is older than what was acknowledged, or the guard file cannot be written.
    pub fn resume(&self, barrier: &Barrier) -> Result<(), GuardError> {
        let stored = barrier.read(MARK)?.and_then(|bytes| Mark::decode(&bytes));
        let mut state = self.state();
        let stored = stored.ok_or(Corrupt::Record("guard"))?;
        if stored.run != state.mark.run || stored.number < state.mark.number {
            return Err(lost(&self.path, Some(stored.time), &state.mark));
        }
        state.mark.number = stored.number;
        state.mark.time = state.mark.time.max(stored.time);
        // The file may have been replaced, or its medium mounted again.
        let opened = open_file(&self.path);
        state.file = Arc::new(opened.map_err(|source| self.system(source))?);
        self.write(&mut state, barrier)
    }

    fn write(&self, state: &mut State, barrier: &Barrier) -> Result<(), GuardError> {
        fail_points::reach("guard.write");
        let slot = slot(barrier, state.mark)?;
        let offset = state.slot.saturating_mul(SECTOR);
        state.file.write_all_at(&slot, offset).map_err(|source| self.system(source))?;
        fail_points::reach("guard.written");
        state.slot = state.slot.saturating_add(1) % SLOTS;
        self.syncer.sync(&state.file).map_err(|source| self.system(source))
    }

    fn system(&self, source: io::Error) -> GuardError {
        GuardError::System { file: self.path.clone(), source }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // Whether it can be synced at the end changes nothing: the next start reads what is there.
        let _ = self.state().file.sync_data();
        self.syncer.stop();
    }
}

fn random() -> Result<RunId, Corrupt> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| Corrupt::Invariant("the random source does not answer"))?;
    Ok(bytes)
}

fn slot(barrier: &Barrier, mark: Mark) -> Result<Vec<u8>, Corrupt> {
    let mut nonce = [0; NONCE];
    getrandom::fill(&mut nonce).map_err(|_| Corrupt::Invariant("the random source does not answer"))?;
    let sealed = barrier.vault().seal().seal(nonce, PURPOSE, &mark.encode())?;
    Ok([MAGIC.as_slice(), &sealed].concat())
}

/// Creates or replaces the guard file, with the same mark in each slot.
fn create_file(path: &Path, barrier: &Barrier, mark: Mark) -> Result<(), GuardError> {
    let mut file = vec![0; usize::try_from(SLOTS * SECTOR).unwrap_or_default()];
    for sector in file.chunks_mut(usize::try_from(SECTOR).unwrap_or(1)) {
        sector.iter_mut().zip(slot(barrier, mark)?).for_each(|(to, from)| *to = from);
    }
    private_file::replace(path, &file).map_err(|source| GuardError::System { file: path.to_owned(), source })
}

fn open_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).custom_flags(libc::O_CLOEXEC).open(path)
}

/// Reads the newest slot of the guard file; `None` if there is no file.
fn read_file(path: &Path, barrier: &Barrier) -> Result<Option<Mark>, GuardError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(GuardError::System { file: path.to_owned(), source }),
    };
    let read = |number: u64| {
        let mut slot = [0; SLOT];
        file.read_exact_at(&mut slot, number.saturating_mul(SECTOR)).ok()?;
        let sealed = slot.strip_prefix(MAGIC)?;
        Mark::decode(&barrier.vault().seal().open(PURPOSE, sealed).ok()?)
    };
    let newest = (0..SLOTS).filter_map(read).max_by_key(|mark| (mark.number, mark.time));
    newest.map(Some).ok_or_else(|| GuardError::Damaged(path.to_owned()))
}

#[cfg(test)]
mod tests;
