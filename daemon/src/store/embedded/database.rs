//! A sled database, and calls of sled.
//!
//! If a background write of sled 0.34 fails, sled records the error, but does not always wake the calls that
//! wait for that part of the log. A later flush finds the error and wakes all of them. A thread therefore
//! checks for an error while calls are in progress. If there is one, the thread flushes and notifies the
//! committer, which reopens the store.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::panics::guarded;
use super::{FailureCallback, StoreError};
use crate::store::panics::caught;

/// Interval of the check for an error.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// An open database.
pub(super) struct Database {
    watched: Arc<Watched>,
    thread: Option<JoinHandle<()>>,
}

struct Watched {
    db: sled::Db,
    /// Configuration, which records the error of the database.
    config: sled::Config,
    notifier: Arc<FailureNotifier>,
    /// Number of calls in progress.
    calls: AtomicUsize,
    /// Whether the thread sleeps until it is woken.
    sleeps: AtomicBool,
    /// Whether the database is being closed.
    is_closing: Mutex<bool>,
    woken: Condvar,
}

impl Database {
    /// Starts the thread for a database that was opened with this configuration.
    pub(super) fn new(db: sled::Db, config: sled::Config, notifier: Arc<FailureNotifier>) -> Self {
        let watched = Arc::new(Watched {
            db,
            config,
            notifier,
            calls: AtomicUsize::new(0),
            sleeps: AtomicBool::new(false),
            is_closing: Mutex::new(false),
            woken: Condvar::new(),
        });
        let shared = Arc::clone(&watched);
        let thread = std::thread::Builder::new().name("store watch".to_owned()).spawn(move || shared.watch());
        if let Err(error) = &thread {
            tracing::warn!(cause = %error, "cannot watch the store: a failed write may block it");
        }
        Self { watched, thread: thread.ok() }
    }

    /// Calls sled.
    pub(super) fn call<T>(
        &self,
        doing: &'static str,
        call: impl FnOnce(&sled::Db) -> sled::Result<T>,
    ) -> Result<T, StoreError> {
        let _in_progress = self.watched.begin();
        guarded(doing, || call(&self.watched.db))
    }

    /// Reads with functions that convert the errors of sled themselves.
    pub(super) fn read<T>(
        &self,
        read: impl FnOnce(&sled::Db) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let _in_progress = self.watched.begin();
        caught("reading a record", || read(&self.watched.db))
    }

    /// Returns whether a write failed. The database then accepts no writes and not all reads.
    pub(super) fn has_failed(&self) -> bool {
        self.watched.config.global_error().is_err()
    }

    #[cfg(test)]
    pub(super) fn db(&self) -> sled::Db {
        self.watched.db.clone()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        *self.watched.is_closing.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.watched.woken.notify_one();
        if let Some(thread) = self.thread.take() {
            // The thread returns nothing.
            let _ = thread.join();
        }
    }
}

/// Calls a callback when the database fails.
#[derive(Default)]
pub(super) struct FailureNotifier(Mutex<Option<FailureCallback>>);

impl FailureNotifier {
    pub(super) fn set(&self, callback: FailureCallback) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(callback);
    }

    fn notify(&self) {
        if let Some(callback) = &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            callback();
        }
    }
}

/// Counts a call in progress.
struct InProgress<'a>(&'a AtomicUsize);

impl Drop for InProgress<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Watched {
    fn begin(&self) -> InProgress<'_> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        if self.sleeps.load(Ordering::SeqCst) && self.sleeps.swap(false, Ordering::SeqCst) {
            // The thread either holds the lock or waits. In both cases it then sees the call and stays awake.
            drop(self.is_closing.lock().unwrap_or_else(PoisonError::into_inner));
            self.woken.notify_one();
        }
        InProgress(&self.calls)
    }

    fn watch(&self) {
        let mut is_reported = false;
        let mut is_closing = self.is_closing.lock().unwrap_or_else(PoisonError::into_inner);
        while !*is_closing {
            if self.calls.load(Ordering::SeqCst) == 0 {
                self.sleeps.store(true, Ordering::SeqCst);
                if self.calls.load(Ordering::SeqCst) == 0 {
                    let sleeps = |closing: &mut bool| !*closing && self.sleeps.load(Ordering::SeqCst);
                    is_closing =
                        self.woken.wait_while(is_closing, sleeps).unwrap_or_else(PoisonError::into_inner);
                }
                self.sleeps.store(false, Ordering::SeqCst);
            }
            let waited = self.woken.wait_timeout_while(is_closing, CHECK_INTERVAL, |closing| !*closing);
            is_closing = waited.unwrap_or_else(PoisonError::into_inner).0;
            if self.config.global_error().is_err() {
                // The flush returns the known error, after it has woken all waiting calls.
                let _ = guarded("waking calls of the store", || self.db.flush());
                if !std::mem::replace(&mut is_reported, true) {
                    self.notifier.notify();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn the_thread_ends_with_the_database() {
        let folder = tempfile::tempdir().unwrap();
        let config = sled::Config::new().path(folder.path().join("store")).flush_every_ms(None);
        let database = Database::new(config.open().unwrap(), config.clone(), Arc::default());
        for number in 0..3_u8 {
            database.call("writing", |db| db.insert([number], &[number]).map(drop)).unwrap();
            // Wait until the thread goes to sleep between two calls.
            let deadline = std::time::Instant::now() + Duration::from_mins(1);
            while !database.watched.sleeps.load(Ordering::SeqCst) {
                assert!(std::time::Instant::now() < deadline, "the thread does not sleep");
                std::thread::yield_now();
            }
        }
        let watched = Arc::downgrade(&database.watched);
        drop(database);
        assert!(watched.upgrade().is_none(), "the database is closed");
    }
}
