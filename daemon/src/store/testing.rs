//! A store that counts reads and fails on demand.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use quorate_common::console::{EngineStatus, StoreDaemon};
use quorate_core::world::Page;

use super::embedded::Embedded;
use super::{Acceptance, BatchOutcome, FailureCallback, Group, Register, Row, Store, StoreError};

/// An embedded store that counts reads and fails on demand.
pub(crate) struct FaultyStore {
    store: Embedded,
    /// Number of records and empty results that were read.
    pub(crate) reads: AtomicUsize,
    /// Number of attempts to reopen the store.
    pub(crate) recoveries: AtomicUsize,
    /// Whether the disk is full.
    pub(crate) is_full: AtomicBool,
    /// Whether commits and reopening fail.
    pub(crate) rejects_writes: AtomicBool,
    /// Whether everything fails until the store is reopened.
    pub(crate) is_unavailable: AtomicBool,
    /// Whether only the first rows can be read.
    pub(crate) has_damaged_page: AtomicBool,
}

impl FaultyStore {
    pub(crate) fn new(store: Embedded) -> Self {
        Self {
            store,
            reads: AtomicUsize::default(),
            recoveries: AtomicUsize::default(),
            is_full: AtomicBool::default(),
            rejects_writes: AtomicBool::default(),
            is_unavailable: AtomicBool::default(),
            has_damaged_page: AtomicBool::default(),
        }
    }

    fn writable(&self) -> Result<(), StoreError> {
        if self.is_full.load(Ordering::Relaxed) {
            return Err(StoreError::Full { folder: "store".to_owned(), free: 0, needed: 1 });
        }
        if self.rejects_writes.load(Ordering::Relaxed) {
            return Err(StoreError::Failed {
                doing: "testing",
                cause: "the disk is not writable".to_owned(),
            });
        }
        Ok(())
    }

    fn available(&self) -> Result<(), StoreError> {
        if self.is_unavailable.load(Ordering::Relaxed) { Err(StoreError::Unavailable) } else { Ok(()) }
    }

    fn readable(&self, page: &Page<'_>) -> Result<(), StoreError> {
        if self.has_damaged_page.load(Ordering::Relaxed) && page.after.is_some() {
            return Err(StoreError::Failed { doing: "reading a range", cause: "a damaged page".to_owned() });
        }
        self.available()
    }

    fn count<T>(&self, found: Vec<T>) -> Vec<T> {
        self.reads.fetch_add(found.len().max(1), Ordering::Relaxed);
        found
    }
}

impl Store for FaultyStore {
    fn value(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.available()?;
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.store.value(key)
    }

    fn rows(&self, page: Page<'_>) -> Result<Vec<Row>, StoreError> {
        self.readable(&page)?;
        self.store.rows(page).map(|found| self.count(found))
    }

    fn keys(&self, page: Page<'_>) -> Result<Vec<Vec<u8>>, StoreError> {
        self.readable(&page)?;
        self.store.keys(page).map(|found| self.count(found))
    }

    fn register(&self, key: &[u8]) -> Result<u64, StoreError> {
        self.available()?;
        self.store.register(key)
    }

    fn engine(&self) -> EngineStatus {
        self.store.engine()
    }

    fn daemons(&self) -> Result<Vec<StoreDaemon>, StoreError> {
        self.store.daemons()
    }

    fn commit(&self, group: &Group<'_>) -> Result<Vec<BatchOutcome>, StoreError> {
        self.available()?;
        self.writable()?;
        self.store.commit(group)
    }

    fn ready(&self) -> Result<(), StoreError> {
        self.available()?;
        self.writable()?;
        self.store.ready()
    }

    fn on_failure(&self, callback: FailureCallback) {
        self.store.on_failure(callback);
    }

    fn recover(&self, acceptance: &dyn Acceptance) -> Result<(), StoreError> {
        self.recoveries.fetch_add(1, Ordering::Relaxed);
        self.writable()?;
        acceptance.check(&|key| self.store.value(key))?;
        self.is_unavailable.store(false, Ordering::Relaxed);
        Ok(())
    }

    fn confirm(&self, expected: &[Register]) -> Result<bool, StoreError> {
        self.available()?;
        self.store.confirm(expected)
    }
}
