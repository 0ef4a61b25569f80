//! The store in a single file of redb. Only this module uses redb.
//!
//! redb never overwrites pages of its last commit, and a commit returns after it was synced. Readers share one
//! snapshot, which is replaced after each durable commit. After a failure, the file is opened again.

mod errors;
mod file;
mod rows;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use quorate_common::console::EngineStatus;
use quorate_core::world::Page;
use redb::{Durability, StorageError};

use self::errors::failed;
use self::file::{FILE, Opened, RECORDS, open};
use self::rows::{Records, Written};
use super::files::{clear_unused, drop_page_cache, is_unused, mark_unused};
use super::judge::{Judge, KnownRegisters, number};
use super::panics::caught;
use super::range::bounds;
use super::space::Space;
use super::{
    Acceptance, BatchOutcome, Change, Existence, FailureCallback, Group, Register, Row, Store, StoreError,
};
use crate::fail_points;

/// Size of a page of redb in bytes.
const PAGE: u64 = 4096;
/// Maximum number of pages that redb writes for each group: its roots, branches, and records of freed pages.
const PAGES_PER_GROUP: u64 = 16;
/// Maximum number of further pages that redb writes for each changed record.
const PAGES_PER_CHANGE: u64 = 3;
/// Maximum number of bytes that redb writes for each byte of a group: records share pages, whose sizes are powers
/// of two and which are split.
const AMPLIFICATION: u64 = 8;
/// Minimum size of the file for each byte of the record of its free space, in bytes.
const BYTES_PER_FREE_SPACE_BYTE: u64 = 4096;

/// How a group becomes durable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CommitMode {
    /// With one sync. After a power cut, checksums show which commit is complete.
    #[default]
    OnePhase,
    /// With two syncs, so that no checksums are needed.
    TwoPhase,
    /// With two syncs, and with a record of the free space of the file, so that the next start after a kill need not read
    /// the whole file.
    QuickRepair,
}

impl CommitMode {
    /// All modes.
    #[cfg(test)]
    const ALL: [Self; 3] = [Self::OnePhase, Self::TwoPhase, Self::QuickRepair];

    /// Returns the mode by its settings.
    pub const fn of(two_phase: bool, quick_repair: bool) -> Self {
        match (two_phase, quick_repair) {
            (_, true) => Self::QuickRepair,
            (true, false) => Self::TwoPhase,
            (false, false) => Self::OnePhase,
        }
    }
}

/// A redb database in a directory.
pub struct Redb {
    folder: PathBuf,
    space: Space,
    mode: CommitMode,
    state: RwLock<State>,
    /// Locked by the thread that commits or recovers.
    commits: Mutex<KnownRegisters>,
    /// Whether a call of the disk has failed since the file was opened.
    failed: AtomicBool,
    /// Whether the process is ending.
    is_closed: AtomicBool,
    on_failure: Mutex<Option<FailureCallback>>,
}

/// State for readers.
#[derive(Default)]
struct State {
    /// `None` while the store is being reopened.
    opened: Option<Opened>,
    /// Keys that a failed group changes; it is unknown whether the changes are durable.
    uncertain: Vec<Vec<u8>>,
}

impl Redb {
    /// Name of the engine.
    pub(super) const NAME: &'static str = "redb";
    /// Name of the file of all records.
    pub(super) const DATA_FILE: &'static str = FILE;

    /// Opens the store in a directory. Groups are rejected while fewer than `reserve` bytes are free on its file
    /// system.
    ///
    /// # Errors
    /// Returns an error if there is no store, another process has it open, or it is damaged.
    pub fn open(folder: &Path, reserve: u64, mode: CommitMode) -> Result<Self, StoreError> {
        Self::open_as(Existence::Required, folder, reserve, mode)
    }

    /// Creates a store, which is marked as unused until [`super::engine::begin`]. Opens a store that exists.
    ///
    /// # Errors
    /// See [`Self::open`].
    pub fn create(folder: &Path, reserve: u64, mode: CommitMode) -> Result<Self, StoreError> {
        let space = Space::new(folder, reserve);
        let failed = |source| space.failed("creating the store", folder, source);
        mark_unused(folder, FILE).map_err(failed)?;
        match Self::open_as(Existence::Optional, folder, reserve, mode) {
            // An earlier start was interrupted.
            Err(StoreError::Damaged(_)) if is_unused(folder).map_err(failed)? => {
                clear_unused(folder).map_err(failed)?;
                Self::open_as(Existence::Optional, folder, reserve, mode)
            }
            opened => opened,
        }
    }

    fn open_as(
        existence: Existence,
        folder: &Path,
        reserve: u64,
        mode: CommitMode,
    ) -> Result<Self, StoreError> {
        let space = Space::new(folder, reserve);
        space.free_spare();
        let opened = open(folder, &space, existence)?;
        space.restore();
        Ok(Self::of(opened, folder, space, mode))
    }

    fn of(opened: Opened, folder: &Path, space: Space, mode: CommitMode) -> Self {
        Self {
            folder: folder.to_owned(),
            space,
            mode,
            state: RwLock::new(State { opened: Some(opened), uncertain: Vec::new() }),
            commits: Mutex::default(),
            failed: AtomicBool::new(false),
            is_closed: AtomicBool::new(false),
            on_failure: Mutex::default(),
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn commits(&self) -> MutexGuard<'_, KnownRegisters> {
        self.commits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads from the newest durable state.
    fn reading<T>(
        &self,
        doing: &'static str,
        read: impl FnOnce(&Records) -> Result<T, StorageError>,
    ) -> Result<T, StoreError> {
        let state = self.read();
        let opened = state.opened.as_ref().ok_or(StoreError::Unavailable)?;
        let mut is_of_disk = false;
        let found = caught(doing, || {
            read(&opened.records).map_err(|error| {
                is_of_disk = errors::is_of_disk(&error);
                failed(doing, error)
            })
        });
        drop(state);
        if is_of_disk {
            self.fail();
        }
        found.map_err(|error| if self.has_failed() { StoreError::Unavailable } else { error })
    }

    /// After a failed call of the disk, redb makes no other call, so the file must be opened again.
    fn fail(&self) {
        self.stop();
        if let Some(callback) = &*self.on_failure.lock().unwrap_or_else(PoisonError::into_inner) {
            callback();
        }
    }

    /// Rejects commits until the file was opened again.
    fn stop(&self) {
        self.failed.store(true, Ordering::Release);
    }

    fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    fn check_usable(&self) -> Result<(), StoreError> {
        if self.has_failed() { Err(StoreError::Unavailable) } else { Ok(()) }
    }

    /// Returns an upper bound of the number of bytes that redb writes for a group.
    fn most_written(&self, bytes: u64, changes: usize) -> u64 {
        let pages = (changes as u64).saturating_mul(PAGES_PER_CHANGE).saturating_add(PAGES_PER_GROUP);
        let free_space = match self.mode {
            CommitMode::QuickRepair => self.file_bytes() / BYTES_PER_FREE_SPACE_BYTE,
            CommitMode::OnePhase | CommitMode::TwoPhase => 0,
        };
        let records = bytes.saturating_mul(AMPLIFICATION).saturating_add(pages.saturating_mul(PAGE));
        records.saturating_add(free_space)
    }

    /// Returns the size of the file.
    fn file_bytes(&self) -> u64 {
        std::fs::metadata(self.folder.join(FILE)).map_or(0, |file| file.len())
    }

    /// Writes the changes of a group and syncs them. Returns the records as they are then.
    fn write_group(&self, written: &Written<'_>) -> Result<Records, StoreError> {
        const DOING: &str = "writing a group";
        let state = self.read();
        let opened = state.opened.as_ref().ok_or(StoreError::Unavailable)?;
        caught(DOING, || {
            let mut transaction = opened.db.begin_write().map_err(|error| failed(DOING, error))?;
            transaction.set_durability(Durability::Immediate).map_err(|error| failed(DOING, error))?;
            transaction.set_two_phase_commit(self.mode != CommitMode::OnePhase);
            transaction.set_quick_repair(self.mode == CommitMode::QuickRepair);
            let mut records = transaction.open_table(RECORDS).map_err(|error| failed(DOING, error))?;
            for (key, after) in written {
                match after {
                    Some(after) => records.insert(*key, after.as_ref()).map(drop),
                    None => records.remove(*key).map(drop),
                }
                .map_err(|error| failed(DOING, error))?;
            }
            drop(records);
            fail_points::reach("store.applied");
            transaction.commit().map_err(|error| failed("making a group durable", error))?;
            fail_points::reach("store.synced");
            opened.records_now()
        })
    }
}

impl Drop for Redb {
    fn drop(&mut self) {
        close(self.write().opened.take());
    }
}

/// Closes a database. redb writes once more.
fn close(opened: Option<Opened>) {
    let closed = caught("closing the store", || {
        drop(opened);
        Ok(())
    });
    if let Err(error) = closed {
        tracing::debug!(cause = %error, "the store was closed with an error");
    }
}

impl Store for Redb {
    fn value(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.reading("reading a record", |records| records.value(key))
    }

    fn rows(&self, page: Page<'_>) -> Result<Vec<Row>, StoreError> {
        let Some(range) = bounds(&page) else { return Ok(Vec::new()) };
        self.reading("reading a range", |records| {
            records.scan(&range, page, |key, value| (key.to_vec(), value.to_vec()))
        })
    }

    fn keys(&self, page: Page<'_>) -> Result<Vec<Vec<u8>>, StoreError> {
        let Some(range) = bounds(&page) else { return Ok(Vec::new()) };
        self.reading("reading a range", |records| records.scan(&range, page, |key, _| key.to_vec()))
    }

    fn register(&self, key: &[u8]) -> Result<u64, StoreError> {
        self.value(key)?.map_or(Ok(0), |bytes| number(&bytes))
    }

    fn engine(&self) -> EngineStatus {
        let settings = [
            ("two_phase", self.mode != CommitMode::OnePhase),
            ("quick_repair", self.mode == CommitMode::QuickRepair),
        ];
        let durability = settings.map(|(name, is_set)| (name.to_owned(), is_set.to_string())).into();
        EngineStatus { name: Self::NAME.to_owned(), durability, ..EngineStatus::default() }
    }

    fn commit(&self, group: &Group<'_>) -> Result<Vec<BatchOutcome>, StoreError> {
        let mut known = self.commits();
        self.check_usable()?;
        fail_points::reach("store.check");
        let extra: Vec<Change>;
        let state = self.read();
        let records = &state.opened.as_ref().ok_or(StoreError::Unavailable)?.records;
        let judged = caught("reading a record", || {
            let mut judge = Judge::new(records, &mut known);
            let verdicts =
                group.batches.iter().map(|batch| judge.add(batch)).collect::<Result<Vec<_>, _>>()?;
            Ok((verdicts, judge.finish()))
        });
        let (verdicts, (registers, mut write)) = judged.inspect_err(|_| self.stop())?;
        if write.is_empty() {
            return Ok(verdicts);
        }
        if let Some(source) = group.extra {
            extra = source.records(&verdicts, &mut write.changed())?;
            caught("reading a record", || write.add_changes(records, &extra)).inspect_err(|_| self.stop())?;
        }
        drop(state);
        self.space.check(self.most_written(write.bytes()?, write.len()))?;
        let written: Written<'_> = write.into_rows().map(|(key, replaced)| (key, replaced.after)).collect();
        fail_points::reach("store.apply");
        match self.write_group(&written) {
            Ok(records) => {
                let mut state = self.write();
                if let Some(opened) = &mut state.opened {
                    opened.records = records;
                }
            }
            Err(error) => {
                // Readers keep the state before the group, because it is unknown how much of it is on disk.
                self.write().uncertain = written.into_iter().map(|(key, _)| key.to_vec()).collect();
                self.stop();
                return Err(error);
            }
        }
        known.keep(registers);
        Ok(verdicts)
    }

    fn ready(&self) -> Result<(), StoreError> {
        self.check_usable()?;
        self.space.check(0)
    }

    fn on_failure(&self, callback: FailureCallback) {
        *self.on_failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(callback);
    }

    fn recover(&self, acceptance: &dyn Acceptance) -> Result<(), StoreError> {
        let mut known = self.commits();
        if self.is_closed.load(Ordering::Acquire) {
            return Err(StoreError::Unavailable);
        }
        self.space.free_spare();
        self.space.probe()?;
        // The failed database holds the lock of the file.
        let failed = self.write().opened.take();
        close(failed);
        drop_page_cache(&self.folder)?;
        let opened = open(&self.folder, &self.space, Existence::Required)?;
        let accepted = acceptance.check(&|key| {
            caught("reading a record", || {
                opened.records.value(key).map_err(|error| errors::failed("reading a record", error))
            })
        });
        if let Err(error) = accepted {
            close(Some(opened));
            return Err(error);
        }
        *known = KnownRegisters::default();
        *self.write() = State { opened: Some(opened), uncertain: Vec::new() };
        self.failed.store(false, Ordering::Release);
        self.space.restore();
        Ok(())
    }

    fn close(&self) {
        // Waits for the group in progress.
        let _known = self.commits();
        self.is_closed.store(true, Ordering::Release);
        self.stop();
        close(self.write().opened.take());
    }

    fn confirm(&self, expected: &[Register]) -> Result<bool, StoreError> {
        // Reads return durable values, which are current until the group that replaces them is durable. Only
        // for the keys changed by a failed group, it is unknown which value is durable.
        let state = self.read();
        if state.opened.is_none() {
            return Err(StoreError::Unavailable);
        }
        let is_uncertain = |(key, _): &Register| state.uncertain.contains(key);
        if expected.iter().any(is_uncertain) { Err(StoreError::Unavailable) } else { Ok(true) }
    }
}

#[cfg(test)]
mod power_cuts;
#[cfg(test)]
mod tests;
