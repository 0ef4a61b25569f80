//! A database of sled, and calls of it.
//!
//! Where sled 0.34 writes part of its log in the background and that fails, it remembers the error, but does not in all
//! cases wake the calls that wait for this part. A flush that begins later finds the error and wakes all of them, so a
//! thread looks for an error while calls are under way. It flushes when there is one, and tells whoever reopens the store.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::panics::guarded;
use super::{Alert, StoreError};

/// How often an error is looked for.
const LOOK: Duration = Duration::from_millis(50);

/// A database that is open.
pub(super) struct Database {
    watched: Arc<Watched>,
    thread: Option<JoinHandle<()>>,
}

struct Watched {
    db: sled::Db,
    /// Knows the error of the database.
    config: sled::Config,
    alarm: Arc<Alarm>,
    /// Calls under way.
    calls: AtomicUsize,
    /// Whether the thread sleeps until it is woken.
    sleeps: AtomicBool,
    /// Whether the database is being closed.
    is_over: Mutex<bool>,
    woken: Condvar,
}

impl Database {
    /// A database that was opened with these settings.
    pub(super) fn new(db: sled::Db, config: sled::Config, alarm: Arc<Alarm>) -> Self {
        let watched = Arc::new(Watched {
            db,
            config,
            alarm,
            calls: AtomicUsize::new(0),
            sleeps: AtomicBool::new(false),
            is_over: Mutex::new(false),
            woken: Condvar::new(),
        });
        let shared = Arc::clone(&watched);
        let thread = std::thread::Builder::new().name("store watch".to_owned()).spawn(move || shared.watch());
        if let Err(error) = &thread {
            tracing::warn!(cause = %error, "the store is not watched: a failed write may block it");
        }
        Self { watched, thread: thread.ok() }
    }

    /// Calls sled.
    pub(super) fn call<T>(
        &self,
        doing: &'static str,
        call: impl FnOnce(&sled::Db) -> sled::Result<T>,
    ) -> Result<T, StoreError> {
        let _under_way = self.watched.begin();
        guarded(doing, || call(&self.watched.db))
    }

    /// Whether a write failed. It takes no more writes then, and not all reads.
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
        *self.watched.is_over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.watched.woken.notify_one();
        if let Some(thread) = self.thread.take() {
            // It has no result.
            let _ = thread.join();
        }
    }
}

/// Who is told of a failed database.
#[derive(Default)]
pub(super) struct Alarm(Mutex<Option<Alert>>);

impl Alarm {
    pub(super) fn set(&self, alert: Alert) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(alert);
    }

    fn sound(&self) {
        if let Some(alert) = &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            alert();
        }
    }
}

/// A call under way.
struct UnderWay<'a>(&'a AtomicUsize);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Watched {
    fn begin(&self) -> UnderWay<'_> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        if self.sleeps.load(Ordering::SeqCst) && self.sleeps.swap(false, Ordering::SeqCst) {
            // Whoever holds the lock has seen that it sleeps no more, or will.
            drop(self.is_over.lock().unwrap_or_else(PoisonError::into_inner));
            self.woken.notify_one();
        }
        UnderWay(&self.calls)
    }

    fn watch(&self) {
        let mut is_told = false;
        let mut is_over = self.is_over.lock().unwrap_or_else(PoisonError::into_inner);
        while !*is_over {
            if self.calls.load(Ordering::SeqCst) == 0 {
                self.sleeps.store(true, Ordering::SeqCst);
                if self.calls.load(Ordering::SeqCst) == 0 {
                    let woken = |over: &mut bool| !*over && self.sleeps.load(Ordering::SeqCst);
                    is_over = self.woken.wait_while(is_over, woken).unwrap_or_else(PoisonError::into_inner);
                }
                self.sleeps.store(false, Ordering::SeqCst);
            }
            let looked = self.woken.wait_timeout_while(is_over, LOOK, |over| !*over);
            is_over = looked.unwrap_or_else(PoisonError::into_inner).0;
            if self.config.global_error().is_err() {
                // Returns the error that is known, after it has woken all that wait.
                let _ = guarded("waking calls of the store", || self.db.flush());
                if !std::mem::replace(&mut is_told, true) {
                    self.alarm.sound();
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
            // Long enough that the thread goes to sleep between two calls.
            let deadline = std::time::Instant::now() + Duration::from_mins(1);
            while !database.watched.sleeps.load(Ordering::SeqCst) {
                assert!(std::time::Instant::now() < deadline, "the thread does not rest");
                std::thread::yield_now();
            }
        }
        let watched = Arc::downgrade(&database.watched);
        drop(database);
        assert!(watched.upgrade().is_none(), "the database is closed");
    }
}
