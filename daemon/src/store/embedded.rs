//! The embedded store. Only this module uses sled.
//!
//! sled makes a batch visible when it is applied, before it is durable, and stays unusable after an I/O
//! error. This module therefore serves the values that a group replaces to readers until the group is
//! durable. After a failure, it replaces the whole database by a newly opened one.

mod commits;
mod database;
mod files;
mod merge;
mod panics;
mod rows;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use quorate_common::console::EngineStatus;
use quorate_core::world::{Order as Direction, Page};

use self::commits::Commits;
use self::database::{Database, FailureNotifier};
use self::files::{LOG, create, has_blobs, open, open_from_log, open_patiently};
use self::panics::guarded;
use self::rows::{Before, batch_of};
use super::files::{clear_unused, drop_page_cache, mark_unused};
use super::judge::{Judge, number};
use super::range::bounds;
use super::space::Space;
use super::{
    Acceptance, BatchOutcome, Change, FailureCallback, Group, Register, Row, Store, StoreError, durable,
};
use crate::fail_points;

/// Maximum number of bytes that sled writes for each byte of a group.
const AMPLIFICATION: u64 = 4;

/// A sled database in a directory.
pub struct Embedded {
    folder: PathBuf,
    space: Space,
    state: RwLock<State>,
    /// Locked by the thread that commits or recovers.
    commits: Mutex<Commits>,
    /// Whether a commit has failed since the database was opened.
    failed: AtomicBool,
    notifier: Arc<FailureNotifier>,
}

/// State for readers.
struct State {
    /// `None` while the store is being reopened.
    db: Option<Arc<Database>>,
    /// Durable values of all keys whose changes are not durable, or may not be; `None` where no record
    /// exists.
    before: Before,
}

impl Embedded {
    /// Name of the engine.
    pub(super) const NAME: &'static str = "sled";
    /// Name of the file of all records.
    pub(super) const DATA_FILE: &'static str = LOG;

    /// Opens the store in a directory, which is created if it is missing. Groups are rejected while fewer
    /// than `reserve` bytes are free on its file system.
    ///
    /// # Errors
    /// Returns an error if another process has the store open, it is damaged, or writes cannot be made
    /// durable.
    pub fn open(folder: &Path, reserve: u64) -> Result<Self, StoreError> {
        durable::require_fsync()?;
        let space = Space::new(folder, reserve);
        create(folder, &space)?;
        space.free_spare();
        let notifier = Arc::default();
        Self::of(open(folder, &space, &notifier)?, notifier, folder, space)
    }

    /// Opens the store as [`Self::open`] does, but only from its log if its snapshot is damaged or does not
    /// match. The caller must check that nothing is missing.
    ///
    /// # Errors
    /// See [`Self::open`].
    pub fn open_guarded(folder: &Path, reserve: u64) -> Result<Self, StoreError> {
        match Self::open(folder, reserve) {
            Err(StoreError::Damaged(_)) => {
                let (notifier, space) = (Arc::default(), Space::new(folder, reserve));
                Self::of(open_from_log(folder, &space, &notifier)?, notifier, folder, space)
            }
            opened => opened,
        }
    }

    /// Creates a store, which is marked as unused until [`super::engine::begin`].
    ///
    /// # Errors
    /// See [`Self::open`].
    pub fn create(folder: &Path, reserve: u64) -> Result<Self, StoreError> {
        let space = Space::new(folder, reserve);
        let failed = |source| space.failed("creating the store", folder, source);
        mark_unused(folder, LOG).map_err(failed)?;
        match Self::open(folder, reserve) {
            // An earlier start was interrupted.
            Err(StoreError::Damaged(_)) => {
                clear_unused(folder).map_err(failed)?;
                Self::open(folder, reserve)
            }
            opened => opened,
        }
    }

    /// Opens a store that this process had open before. Waits for threads of sled that still hold its lock.
    ///
    /// # Errors
    /// See [`Self::open`].
    pub fn open_again(folder: &Path, reserve: u64) -> Result<Self, StoreError> {
        let (notifier, space) = (Arc::default(), Space::new(folder, reserve));
        Self::of(open_patiently(folder, &space, &notifier)?, notifier, folder, space)
    }

    fn of(
        db: Database,
        notifier: Arc<FailureNotifier>,
        folder: &Path,
        space: Space,
    ) -> Result<Self, StoreError> {
        let commits = Commits::new(folder)?;
        space.restore();
        Ok(Self {
            folder: folder.to_owned(),
            space,
            state: RwLock::new(State { db: Some(Arc::new(db)), before: Before::new() }),
            commits: Mutex::new(commits),
            failed: AtomicBool::new(false),
            notifier,
        })
    }

    /// Returns whether sled has stored nodes in separate files, as stores of version 0.1 may have.
    #[must_use]
    pub fn has_blobs(folder: &Path) -> bool {
        has_blobs(folder)
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn commits(&self) -> MutexGuard<'_, Commits> {
        self.commits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn scan<T>(&self, page: Page<'_>, take: impl Fn(Vec<u8>, sled::IVec) -> T) -> Result<Vec<T>, StoreError> {
        let Some((start, end)) = bounds(&page) else { return Ok(Vec::new()) };
        let state = self.read();
        let db = state.db()?;
        let found = db.call("reading a range", |db| {
            let within = (start.as_ref().map(Vec::as_slice), end.as_ref().map(Vec::as_slice));
            let before = state.before.range::<[u8], _>(within);
            let before = before.map(|(key, value)| (key.as_ref(), value.as_ref()));
            let rows = db.range((start, end));
            let found = match page.order {
                Direction::Ascending => merge::merge(rows, before, page.order, page.limit),
                Direction::Descending => merge::merge(rows.rev(), before.rev(), page.order, page.limit),
            };
            Ok(found?.into_iter().map(|(key, value)| take(key, value)).collect())
        });
        found.map_err(|error| self.reading(&state, error))
    }

    /// Returns the error of a failed read. After a failure, sled cannot read everything that is not in
    /// memory.
    fn reading(&self, state: &State, error: StoreError) -> StoreError {
        if self.has_failed(state) { StoreError::Unavailable } else { error }
    }

    /// Returns whether a commit failed, or a write that sled made in the background.
    fn has_failed(&self, state: &State) -> bool {
        self.failed.load(Ordering::Acquire) || state.db.as_ref().is_some_and(|db| db.has_failed())
    }

    fn check_usable(&self) -> Result<(), StoreError> {
        if self.has_failed(&self.read()) { Err(StoreError::Unavailable) } else { Ok(()) }
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        close(self.write().db.take());
    }
}

/// Closes a database. sled writes once more and may panic after a failed write.
fn close(db: Option<Arc<Database>>) {
    let closed = guarded("closing the store", || {
        drop(db);
        Ok(())
    });
    if let Err(error) = closed {
        tracing::debug!(cause = %error, "the store was closed with an error");
    }
}

impl State {
    fn db(&self) -> Result<&Arc<Database>, StoreError> {
        self.db.as_ref().ok_or(StoreError::Unavailable)
    }

    fn value(&self, key: &[u8]) -> Result<Option<sled::IVec>, StoreError> {
        if let Some(before) = self.before.get(key) {
            return Ok(before.clone());
        }
        self.db()?.call("reading a record", |db| db.get(key))
    }
}

impl Store for Embedded {
    fn value(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        let state = self.read();
        let value = state.value(key).map_err(|error| self.reading(&state, error))?;
        Ok(value.map(|value| value.to_vec()))
    }

    fn rows(&self, page: Page<'_>) -> Result<Vec<Row>, StoreError> {
        self.scan(page, |key, value| (key, value.to_vec()))
    }

    fn keys(&self, page: Page<'_>) -> Result<Vec<Vec<u8>>, StoreError> {
        self.scan(page, |key, _| key)
    }

    fn register(&self, key: &[u8]) -> Result<u64, StoreError> {
        self.value(key)?.map_or(Ok(0), |bytes| number(&bytes))
    }

    fn engine(&self) -> EngineStatus {
        EngineStatus { name: Self::NAME.to_owned(), ..EngineStatus::default() }
    }

    fn commit(&self, group: &Group<'_>) -> Result<Vec<BatchOutcome>, StoreError> {
        let mut commits = self.commits();
        self.check_usable()?;
        let db = Arc::clone(self.read().db()?);
        fail_points::reach("store.check");
        let extra: Vec<Change>;
        let (verdicts, (registers, mut write)) = db.read(|db| {
            let mut judge = Judge::new(db, &mut commits.registers);
            let verdicts =
                group.batches.iter().map(|batch| judge.add(batch)).collect::<Result<Vec<_>, _>>()?;
            Ok((verdicts, judge.finish()))
        })?;
        if write.is_empty() {
            return Ok(verdicts);
        }
        if let Some(source) = group.extra {
            extra = source.records(&verdicts, &mut write.changed())?;
            db.read(|db| write.add_changes(db, &extra))?;
        }
        self.space.check(write.bytes()?.saturating_mul(AMPLIFICATION))?;
        let (after, before) = batch_of(write);
        self.write().before = before;
        fail_points::reach("store.apply");
        let written = db.call("writing a group", |db| {
            db.apply_batch(after)?;
            // sled splits a node that has grown too large when the node is next read. Reading it now writes
            // the split before this group is synced, instead of in a sync of its own for the next group.
            for key in group.batches.iter().flat_map(|batch| &batch.must_not_exist) {
                db.contains_key(key)?;
            }
            fail_points::reach("store.applied");
            db.flush().map(drop)
        });
        fail_points::reach("store.synced");
        let written = written
            .and_then(|()| commits.check_no_blobs(&self.folder))
            .and_then(|()| commits.log.check_no_loss());
        if let Err(error) = written {
            // The changes of the group stay hidden from readers, because it is unknown how much of it is on
            // disk.
            self.failed.store(true, Ordering::Release);
            return Err(error);
        }
        self.write().before.clear();
        commits.registers.keep(registers);
        Ok(verdicts)
    }

    fn ready(&self) -> Result<(), StoreError> {
        self.check_usable()?;
        self.space.check(0)
    }

    fn on_failure(&self, callback: FailureCallback) {
        self.notifier.set(callback);
    }

    fn recover(&self, acceptance: &dyn Acceptance) -> Result<(), StoreError> {
        let mut commits = self.commits();
        self.space.free_spare();
        self.space.probe()?;
        // The failed database writes when it is dropped, so it must be dropped before another one is opened.
        let failed = self.write().db.take();
        close(failed);
        drop_page_cache(&self.folder)?;
        let db = Arc::new(open_patiently(&self.folder, &self.space, &self.notifier)?);
        let accepted = acceptance
            .check(&|key| Ok(db.call("reading a record", |db| db.get(key))?.map(|value| value.to_vec())));
        if let Err(error) = accepted {
            close(Some(db));
            return Err(error);
        }
        *commits = Commits::new(&self.folder)?;
        *self.write() = State { db: Some(db), before: Before::new() };
        self.failed.store(false, Ordering::Release);
        self.space.restore();
        Ok(())
    }

    fn confirm(&self, expected: &[Register]) -> Result<bool, StoreError> {
        // Reads return durable values, which are current until the group that replaces them is durable. Only
        // for the keys changed by a failed group, it is unknown which value is durable.
        let state = self.read();
        state.db()?;
        let failed = self.has_failed(&state);
        let uncertain = failed && expected.iter().any(|(key, _)| state.before.contains_key(key.as_slice()));
        if uncertain { Err(StoreError::Unavailable) } else { Ok(true) }
    }
}

#[cfg(test)]
mod tests;
