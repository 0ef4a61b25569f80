//! The engine on a PostgreSQL database, which several daemons may share. Those hold an advisory lock together; who uses the
//! store alone, such as for a copy, holds it exclusively.
//!
//! Groups are committed on one connection, and reads use others. All calls wait for the server; threads of an
//! asynchronous runtime hand over their other tasks before. If a connection ends, all are opened again.

mod committing;
mod confirmer;
mod connections;
mod daemon;
mod durability;
mod errors;
mod group;
mod lease;
mod primary;
mod replicated;
mod rivals;
mod rows;
mod schema;
mod session;
mod settings;
mod shared;
mod snapshot;
mod watcher;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use quorate_common::console::{EngineStatus, StoreDaemon};
use quorate_core::world::Page;
use tokio::runtime::{Handle, Runtime};

use self::committing::{Committing, GroupError, rest};
use self::connections::{Reading, Server};
use self::daemon::Daemon;
pub use self::errors::DatabaseError;
use self::errors::StatementError;
use self::session::{ANSWER, Session, answered};
pub use self::settings::{DatabaseSettings, DatabaseUrl, KeyClasses};
use self::shared::Shared;
use self::snapshot::Moment;
use super::judge::number;
use super::{
    Acceptance, Access, BatchOutcome, DaemonId, Existence, FailureCallback, Group, NoticeCallback, Register,
    Row, Snapshot, Store, StoreError,
};

/// Number of connections for reads.
const READERS: usize = 4;
/// Maximum number of attempts to commit a group.
const ATTEMPTS: u32 = 5;
/// Time after which a group is not attempted again, such as one that waited for a lock of another client.
const PATIENCE: Duration = Duration::from_secs(1);

/// A store in a PostgreSQL database.
pub struct Postgres {
    settings: DatabaseSettings,
    access: Access,
    /// Id of the daemon that this process is, once that is known.
    id: Mutex<Option<DaemonId>>,
    shared: Arc<Shared>,
    /// Locked by the thread that commits or recovers. `None` while the store is being reopened.
    commits: Mutex<Option<Committing>>,
    /// `None` while the store is being reopened.
    reads: RwLock<Option<Reading>>,
    next_reader: AtomicUsize,
    /// Whether the file system of the server was full.
    is_full: AtomicBool,
    /// The header, as it was read or written last.
    known_header: Mutex<Option<Vec<u8>>>,
    /// The server of all connections, once the store was opened.
    server: Mutex<Option<Server>>,
    runtime: Option<Runtime>,
}

impl Postgres {
    /// Name of the engine.
    pub(super) const NAME: &'static str = "postgres";

    /// Opens the store in a database.
    ///
    /// # Errors
    /// Returns a [`DatabaseError`] if the database cannot be used or contains no store.
    pub fn open(settings: &DatabaseSettings, access: Access) -> Result<Self, StoreError> {
        Self::open_as(Existence::Required, settings, access)
    }

    /// Creates a store, which is unused until it has a header. Opens a store that exists.
    ///
    /// # Errors
    /// Returns a [`DatabaseError`] if the database cannot be used.
    pub fn create(settings: &DatabaseSettings, access: Access) -> Result<Self, StoreError> {
        Self::open_as(Existence::Optional, settings, access)
    }

    /// Removes all records of a store that was never used, such as those of a copy that was interrupted.
    ///
    /// # Errors
    /// Returns [`DatabaseError::NoHeader`] if the store was used and lost its header, and an error if the database cannot
    /// be read or written.
    pub fn clear_unused(&self) -> Result<(), StoreError> {
        if self.header()?.is_some() {
            return Ok(());
        }
        let is_unused = self.reading("reading the state of the store", async |session: Arc<Session>| {
            session.client.query_opt("SELECT FROM meta WHERE name = 'unused'", &[]).await
        })?;
        is_unused.ok_or(DatabaseError::NoHeader)?;
        self.writing("TRUNCATE record, queue, register", &[]).map(drop)
    }

    fn open_as(
        existence: Existence,
        settings: &DatabaseSettings,
        access: Access,
    ) -> Result<Self, StoreError> {
        let built = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("postgres")
            .enable_all()
            .build();
        let runtime = built.map_err(|error| StoreError::Failed {
            doing: "starting the runtime of the database",
            cause: error.to_string(),
        })?;
        let store = Self {
            settings: settings.clone(),
            access,
            id: Mutex::default(),
            shared: Arc::new(Shared::new(settings.hosts())),
            commits: Mutex::new(None),
            reads: RwLock::default(),
            next_reader: AtomicUsize::new(0),
            is_full: AtomicBool::new(false),
            known_header: Mutex::default(),
            server: Mutex::default(),
            runtime: Some(runtime),
        };
        let (committing, reading) = store.committing(existence, None)?;
        *store.commits() = Some(committing);
        *store.reads.write().unwrap_or_else(PoisonError::into_inner) = Some(reading);
        Ok(store)
    }

    /// Returns the runtime of the connections.
    fn runtime(&self) -> Result<&Handle, StoreError> {
        self.runtime.as_ref().map(Runtime::handle).ok_or(StoreError::Unavailable)
    }

    fn commits(&self) -> MutexGuard<'_, Option<Committing>> {
        self.commits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known_header(&self) -> MutexGuard<'_, Option<Vec<u8>>> {
        self.known_header.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns something of the connections that read.
    fn of_reading<T>(&self, part: impl FnOnce(&Reading) -> Option<T>) -> Result<T, StoreError> {
        self.check_usable()?;
        let reads = self.reads.read().unwrap_or_else(PoisonError::into_inner);
        reads.as_ref().and_then(part).ok_or(StoreError::Unavailable)
    }

    /// Converts the error of a statement that reads. After a lost connection, all are opened again. If the database was changed,
    /// or another client has locked a table, no other request waits for it until the store was reopened.
    fn unread(&self, error: &StatementError, doing: &'static str) -> StoreError {
        let failed = error.failed(doing);
        if error.is_outage() || error.is_transient() {
            tracing::warn!(cause = %failed, "the database did not answer a query");
            self.shared.fail(failed.to_string());
            return StoreError::Unavailable;
        }
        failed
    }

    /// Returns the error of a server without space, which is tried again until it has some.
    fn full(&self) -> StoreError {
        self.is_full.store(true, Ordering::Release);
        DatabaseError::Full(self.settings.url.place()).into()
    }

    fn check_usable(&self) -> Result<(), StoreError> {
        let is_usable =
            !self.shared.failed.load(Ordering::Acquire) && !self.shared.is_closed.load(Ordering::Acquire);
        if is_usable { Ok(()) } else { Err(StoreError::Unavailable) }
    }

    /// Reads with the next of the connections for reads.
    fn reading<T, F>(
        &self,
        doing: &'static str,
        read: impl FnOnce(Arc<Session>) -> F,
    ) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, tokio_postgres::Error>>,
    {
        let next = self.next_reader.fetch_add(1, Ordering::Relaxed);
        let session = self.of_reading(|reading| {
            reading.sessions.get(next.checked_rem(reading.sessions.len())?).map(Arc::clone)
        })?;
        answered(self.runtime()?, ANSWER, read(session)).map_err(|error| self.unread(&error, doing))
    }

    /// Remembers that the versions which a group has set are at the standby, if commits wait for one.
    fn add_replicated(&self, group: &Group<'_>, verdicts: &[BatchOutcome]) {
        if !self.shared.waits_for_standby() {
            return;
        }
        if let Ok(replicated) = self.of_reading(|reading| Some(Arc::clone(&reading.replicated))) {
            let done =
                group.batches.iter().zip(verdicts).filter(|(_, verdict)| **verdict == BatchOutcome::Done);
            done.for_each(|(batch, _)| replicated.add_own(&batch.set));
        }
    }

    /// Executes a statement that changes something. Returns the number of changed rows.
    fn writing(
        &self,
        text: &str,
        parameters: &[&(dyn tokio_postgres::types::ToSql + Sync)],
    ) -> Result<u64, StoreError> {
        let commits = self.commits();
        let session = &commits.as_ref().ok_or(StoreError::Unavailable)?.session;
        let written = answered(self.runtime()?, ANSWER, session.client.execute(text, parameters));
        written.map_err(|error| error.failed("writing to the database"))
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.close();
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Store for Postgres {
    fn value(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.reading("reading a record", async |session: Arc<Session>| rows::value(&session, key).await)
    }

    fn rows(&self, page: Page<'_>) -> Result<Vec<Row>, StoreError> {
        self.reading("reading a range", async |session: Arc<Session>| rows::page(&session, page, true).await)
    }

    fn keys(&self, page: Page<'_>) -> Result<Vec<Vec<u8>>, StoreError> {
        let found = self.reading("reading a range", async |session: Arc<Session>| {
            rows::page(&session, page, false).await
        });
        Ok(found?.into_iter().map(|(key, _)| key).collect())
    }

    fn register(&self, key: &[u8]) -> Result<u64, StoreError> {
        self.value(key)?.map_or(Ok(0), |bytes| number(&bytes))
    }

    fn is_remote(&self) -> bool {
        true
    }

    fn end_terms_before(&self, term: u32) -> Result<(), StoreError> {
        // Waits for the groups in progress, each of which changes the row of its daemon at its end.
        const END: &str = "UPDATE daemon SET term = $1::int8 WHERE term < $1::int8";
        self.writing(END, &[&i64::from(term)]).map(drop)
    }

    fn become_daemon(&self, id: DaemonId) -> Result<(), StoreError> {
        const DOING: &str = "registering the daemon in the database";
        let mut commits = self.commits();
        self.check_usable()?;
        let (runtime, committing) = (self.runtime()?, commits.as_mut().ok_or(StoreError::Unavailable)?);
        let session = &committing.session;
        daemon::lock_daemon(runtime, session, id)?;
        committing.daemon.remove(runtime, session).map_err(|error| error.failed(DOING))?;
        committing.daemon =
            Daemon::register(runtime, session, Some(id)).map_err(|error| error.failed(DOING))?;
        *self.id.lock().unwrap_or_else(PoisonError::into_inner) = Some(id);
        self.watch(id, self.of_reading(|reading| Some(Arc::clone(&reading.lease)))?)
    }

    fn share(&self) -> Result<(), StoreError> {
        let mut commits = self.commits();
        let committing = commits.as_mut().ok_or(StoreError::Unavailable)?;
        if (self.access, committing.access) == (Access::Shared, Access::Exclusive) {
            let shared = daemon::share_store(self.runtime()?, &committing.session);
            shared.map_err(|error| error.failed("sharing the database"))?;
            committing.access = Access::Shared;
        }
        Ok(())
    }

    fn snapshot(&self) -> Result<Option<Box<dyn Snapshot>>, StoreError> {
        self.check_usable()?;
        let runtime = self.runtime()?;
        let session = self.connect_aside()?;
        Ok(Some(Box::new(Moment::begin(runtime, session)?)))
    }

    fn engine(&self) -> EngineStatus {
        let server = self.server.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let server = server.map(|server| self.settings.url.server(server.host));
        let durability = self.shared.durability.lock().unwrap_or_else(PoisonError::into_inner);
        let notice_lag_millis = self.shared.notice_lag();
        EngineStatus { server, notice_lag_millis, ..durability.status(Self::NAME) }
    }

    fn daemons(&self) -> Result<Vec<StoreDaemon>, StoreError> {
        let own = self.id.lock().unwrap_or_else(PoisonError::into_inner).map(const_hex::encode);
        self.reading("reading the daemons of the store", async |session: Arc<Session>| {
            daemon::list(&session, own).await
        })
    }

    fn commit(&self, group: &Group<'_>) -> Result<Vec<BatchOutcome>, StoreError> {
        const DOING: &str = "committing a group to the database";
        let mut commits = self.commits();
        self.check_usable()?;
        let committing = commits.as_mut().ok_or(StoreError::Unavailable)?;
        let begun = Instant::now();
        for attempt in 1..=ATTEMPTS {
            let error = match committing.attempt(self.runtime()?, group, &self.shared.bell) {
                Ok(verdicts) => {
                    self.add_replicated(group, &verdicts);
                    return Ok(verdicts);
                }
                Err(GroupError::Store(error)) => {
                    self.shared.failed.store(true, Ordering::Release);
                    return Err(error);
                }
                Err(GroupError::Statement(error)) => error,
            };
            if error.is_full() {
                return Err(self.full());
            }
            if !error.is_transient() || attempt == ATTEMPTS || begun.elapsed() > PATIENCE {
                self.shared.failed.store(true, Ordering::Release);
                return Err(error.failed(DOING));
            }
            rest(attempt);
        }
        Err(StoreError::Unavailable)
    }

    fn ready(&self) -> Result<(), StoreError> {
        self.check_usable()?;
        if !self.is_full.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        let commits = self.commits();
        let session = &commits.as_ref().ok_or(StoreError::Unavailable)?.session;
        match schema::probe_space(self.runtime()?, session) {
            Ok(()) => Ok(()),
            Err(error) if error.is_full() => Err(self.full()),
            Err(error) => {
                self.shared.failed.store(true, Ordering::Release);
                Err(error.failed("writing to the database"))
            }
        }
    }

    fn failure(&self) -> Option<String> {
        self.shared.failure()
    }

    fn on_failure(&self, callback: FailureCallback) {
        *self.shared.on_failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(callback);
    }

    fn on_notice(&self, callback: NoticeCallback) {
        *self.shared.on_notice.write().unwrap_or_else(PoisonError::into_inner) = Some(callback);
    }

    fn recover(&self, acceptance: &dyn Acceptance) -> Result<(), StoreError> {
        let mut commits = self.commits();
        if self.shared.is_closed.load(Ordering::Acquire) {
            return Err(StoreError::Unavailable);
        }
        self.shared.generation.fetch_add(1, Ordering::AcqRel);
        let id = *self.id.lock().unwrap_or_else(PoisonError::into_inner);
        *commits = None;
        *self.reads.write().unwrap_or_else(PoisonError::into_inner) = None;
        let (committing, reading) = self.committing(Existence::Required, id)?;
        self.is_full.store(false, Ordering::Release);
        let runtime = self.runtime()?;
        acceptance.check(&|key| {
            let value = answered(runtime, ANSWER, rows::value(&committing.session, key));
            value.map_err(|error| error.failed("reading a record"))
        })?;
        if let Some(id) = id {
            self.watch(id, Arc::clone(&reading.lease))?;
        }
        *self.reads.write().unwrap_or_else(PoisonError::into_inner) = Some(reading);
        *commits = Some(committing);
        self.shared.recovered();
        Ok(())
    }

    fn close(&self) {
        // Waits for the group in progress.
        let mut commits = self.commits();
        self.shared.is_closed.store(true, Ordering::Release);
        if let (Some(committing), Ok(runtime)) = (commits.take(), self.runtime()) {
            // Otherwise, the row states that the daemon is not seen anymore.
            let _ = committing.daemon.remove(runtime, &committing.session);
        }
        *self.reads.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn header(&self) -> Result<Option<Vec<u8>>, StoreError> {
        let found =
            self.reading("reading the header", async |session: Arc<Session>| rows::header(&session).await)?;
        self.known_header().clone_from(&found);
        Ok(found)
    }

    fn set_header(&self, header: &[u8]) -> Result<(), StoreError> {
        let changed = self.writing(rows::SET_HEADER, &[&header])?;
        if changed == 0 {
            return Err(DatabaseError::NoHeader.into());
        }
        *self.known_header() = Some(header.to_vec());
        Ok(())
    }

    fn confirm(&self, expected: &[Register]) -> Result<bool, StoreError> {
        if expected.is_empty() && self.of_reading(|reading| Some(reading.lease.is_fresh()))? {
            return Ok(true);
        }
        let confirmer = self.of_reading(|reading| Some(Arc::clone(&reading.confirmer)))?;
        let answer = confirmer.confirm(self.runtime()?, expected);
        answer.map_err(|error| self.unread(&error, "confirming versions"))
    }
}

#[cfg(test)]
#[allow(unreachable_pub, dead_code, clippy::expect_used, reason = "shared with the tests across processes")]
#[path = "../../../tests/src/cluster.rs"]
mod cluster;
#[cfg(test)]
mod tests;
