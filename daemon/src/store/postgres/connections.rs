//! Which server is the primary, and the connections to it.
//!
//! The hosts of the URL are tried one after the other. A host is the primary if it accepts the registration of this process, which
//! is a synchronous commit: a server that was replaced cannot complete it, even if it does not know that yet. All connections
//! lead to that server. Were they distributed, one of them could read from a server that was replaced.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};

use tokio::runtime::Handle;

use super::committing::Committing;
use super::confirmer::{Confirmer, Proof};
use super::daemon::{self, Daemon};
use super::durability::Durability;
use super::errors::{DatabaseError, StatementError};
use super::lease::{self, Lease};
use super::primary::Primary;
use super::replicated::Replicated;
use super::rivals::Rivals;
use super::session::{ANSWER, Session, answered};
use super::watcher::Watcher;
use super::{Postgres, READERS, rows, schema};
use crate::store::{Access, DaemonId, Existence, StoreError};

/// The connections that read.
pub(super) struct Reading {
    pub(super) sessions: Vec<Arc<Session>>,
    pub(super) confirmer: Arc<Confirmer>,
    pub(super) lease: Arc<Lease>,
    pub(super) replicated: Arc<Replicated>,
}

/// The server of all connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Server {
    /// Index of its host in the URL.
    pub(super) host: usize,
    /// When it was started, by its own clock.
    started: String,
}

impl Postgres {
    /// Opens the connections that commit and read, to the first host that is the primary, and takes the locks of the store and of the daemon
    /// with this id, if it is known. Earlier commits of this process are complete then. The host that was used last is tried last: it may not
    /// answer, and standbys reject quickly.
    pub(super) fn committing(
        &self,
        existence: Existence,
        id: Option<DaemonId>,
    ) -> Result<(Committing, Reading), StoreError> {
        let hosts = self.settings.hosts();
        let last = self.server.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let next = last.map_or(0, |last| last.host.saturating_add(1));
        let mut failures: Vec<(usize, StoreError)> = Vec::new();
        for host in (next..hosts).chain(0..next.min(hosts)) {
            // A server that cannot be reached may have the store.
            let may_create = failures.iter().all(|(_, error)| !is_unreachable(error));
            let existence = if may_create { existence } else { Existence::Required };
            match self.committing_on(host, existence, id) {
                Ok((committing, reading)) => {
                    let started = committing.session.started.clone();
                    *self.server.lock().unwrap_or_else(PoisonError::into_inner) =
                        Some(Server { host, started });
                    return Ok((committing, reading));
                }
                Err(error) => failures.push((host, error)),
            }
        }
        Err(self.no_primary(failures))
    }

    /// Returns the error of all servers together. One of several that cannot be reached may be the primary.
    fn no_primary(&self, failures: Vec<(usize, StoreError)>) -> StoreError {
        let is_standby = |error: &StoreError| matches!(error, StoreError::Database(DatabaseError::Standby));
        let is_open = failures.iter().any(|(_, error)| is_unreachable(error))
            || failures.iter().all(|(_, error)| is_standby(error));
        if failures.len() > 1 && is_open {
            let described = failures.iter().map(|(host, error)| {
                let (server, cause) = (self.settings.url.server(*host), cause(error));
                if cause.starts_with(&server) { cause } else { format!("{server}: {cause}") }
            });
            return DatabaseError::NoPrimary(described.collect::<Vec<_>>().join("; ")).into();
        }
        let clear = failures.into_iter().map(|(_, error)| error).min_by_key(is_standby);
        clear.unwrap_or(StoreError::Unavailable)
    }

    fn committing_on(
        &self,
        host: usize,
        existence: Existence,
        id: Option<DaemonId>,
    ) -> Result<(Committing, Reading), StoreError> {
        // The end of a connection to a host that is not the primary is no failure.
        let is_chosen = Arc::new(AtomicBool::new(false));
        let (runtime, session) = (self.runtime()?, self.connect_to(host, &is_chosen)?);
        // Nothing is written unless the server accepts all connections.
        let reading = self.reading_on(host, &is_chosen, &session)?;
        schema::prepare(runtime, &session, existence)?;
        if self.access == Access::Shared {
            schema::check_clock(runtime, &session)?;
        }
        self.check_header(runtime, &session)?;
        let primary = Self::primary(runtime, &session)?;
        if !self.shared.accepts(primary) {
            return Err(DatabaseError::Replaced.into());
        }
        lease::wait_for_others(runtime, &session, primary.timeline)?;
        let access = daemon::lock_store(runtime, &session, self.access)?;
        if let Some(id) = id {
            daemon::lock_daemon(runtime, &session, id)?;
        }
        let failed = |error: StatementError| unregistered(runtime, &reading, &error);
        if access == Access::Exclusive {
            daemon::remove_all(runtime, &session).map_err(failed)?;
        }
        session.clear_warnings();
        let daemon = Daemon::register(runtime, &session, id).map_err(failed)?;
        if session.was_warned() {
            let without = without_standby(runtime, &reading);
            return Err(without.unwrap_or(DatabaseError::NotReplicated).into());
        }
        let durability = answered(runtime, ANSWER, Durability::read(&session, self.settings.hosts()));
        let durability = durability.map_err(|error| error.failed("reading the settings of the database"))?;
        self.shared.set_durability(durability);
        is_chosen.store(true, Ordering::Release);
        if session.client.is_closed() {
            return Err(DatabaseError::OtherServer.into());
        }
        Ok((Committing { session, daemon, access, extra: Vec::new() }, reading))
    }

    fn primary(runtime: &Handle, session: &Session) -> Result<Primary, StoreError> {
        let primary = Primary::read(runtime, session);
        let primary = primary.map_err(|error| error.failed("reading which server is the primary"))?;
        primary.ok_or_else(|| DatabaseError::Standby.into())
    }

    /// Checks that the store is the one that was opened before. Nothing is written to another one.
    fn check_header(&self, runtime: &Handle, session: &Session) -> Result<(), StoreError> {
        let Some(known) = self.known_header().clone() else { return Ok(()) };
        let header = answered(runtime, ANSWER, rows::header(session));
        let header = header.map_err(|error| error.failed("reading the header"))?;
        // Other daemons may have changed its slots.
        if header.is_some_and(|header| (self.settings.is_same_store)(&known, &header)) {
            return Ok(());
        }
        // The database was replaced, or the store was moved in the meantime.
        Err(DatabaseError::OtherStore.into())
    }

    /// Opens the connections that read, to the server of this session.
    fn reading_on(
        &self,
        host: usize,
        is_chosen: &Arc<AtomicBool>,
        session: &Session,
    ) -> Result<Reading, StoreError> {
        let connect = || {
            let further = self.connect_to(host, is_chosen)?;
            // Behind one address, there may be another server now.
            let is_same = further.started == session.started;
            if is_same { Ok(further) } else { Err(StoreError::from(DatabaseError::OtherServer)) }
        };
        let sessions = (0..READERS).map(|_| connect().map(Arc::new)).collect::<Result<_, _>>()?;
        let (lease, replicated) = (Arc::<Lease>::default(), Arc::<Replicated>::default());
        let proof = Proof {
            lease: Arc::clone(&lease),
            replicated: Arc::clone(&replicated),
            shared: Arc::downgrade(&self.shared),
        };
        let confirmer = Arc::new(Confirmer::start(self.runtime()?, connect()?, proof));
        Ok(Reading { sessions, confirmer, lease, replicated })
    }

    /// Connects to a host. The end of the connection is a failure of the store once the host was chosen.
    fn connect_to(&self, host: usize, is_chosen: &Arc<AtomicBool>) -> Result<Session, StoreError> {
        let is_chosen = Arc::clone(is_chosen);
        let own = self.shared.generation.load(Ordering::Acquire);
        let shared = Arc::downgrade(&self.shared);
        let ended = move |cause: String| {
            let Some(shared) = shared.upgrade() else { return };
            let is_current = shared.generation.load(Ordering::Acquire) == own;
            if is_current && is_chosen.load(Ordering::Acquire) && !shared.is_closed.load(Ordering::Acquire) {
                shared.fail(format!("a connection to the database server ended: {cause}"));
            }
        };
        Ok(Session::connect(self.runtime()?, &self.settings, host, ended)?)
    }

    /// Returns a connection to the server that was found last, made by `connect` to its host.
    fn connect_with(
        &self,
        connect: impl FnOnce(usize) -> Result<Session, StoreError>,
    ) -> Result<Session, StoreError> {
        let server = self.server.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Server { host, started } = server.ok_or(StoreError::Unavailable)?;
        let session = connect(host)?;
        // Behind one address, there may be another server now.
        if session.started == started { Ok(session) } else { Err(DatabaseError::OtherServer.into()) }
    }

    fn connect(&self) -> Result<Session, StoreError> {
        self.connect_with(|host| self.connect_to(host, &Arc::new(AtomicBool::new(true))))
    }

    /// Connects. The store continues to work when the connection ends.
    pub(super) fn connect_aside(&self) -> Result<Session, StoreError> {
        self.connect_with(|host| Ok(Session::connect(self.runtime()?, &self.settings, host, drop)?))
    }

    /// Watches what other daemons do, on a connection of its own to the server of this lease. Ends with the connection.
    pub(super) fn watch(&self, id: DaemonId, lease: Arc<Lease>) -> Result<(), StoreError> {
        let generation = self.shared.generation.load(Ordering::Acquire);
        let (runtime, session) = (self.runtime()?, self.connect()?);
        let failed = |error: StatementError| error.failed("reading the notices of other daemons");
        let shared = || Arc::downgrade(&self.shared);
        let server = self.server.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(Server { host, .. }) = server.filter(|_| self.settings.hosts() > 1) {
            let rivals = Rivals::of(&self.settings, host, Self::primary(runtime, &session)?);
            runtime.spawn(rivals.run(runtime.clone(), shared(), generation));
        }
        let watcher = Watcher::begin(runtime, session, id, lease, (shared(), generation));
        runtime.spawn(watcher.map_err(failed)?.run());
        Ok(())
    }
}

/// Returns whether a server did not answer.
fn is_unreachable(error: &StoreError) -> bool {
    matches!(error, StoreError::Database(DatabaseError::Unreachable(_) | DatabaseError::OtherServer))
}

/// Describes in a few words why a server is not used.
fn cause(error: &StoreError) -> String {
    match error {
        StoreError::Database(DatabaseError::Unreachable(cause)) => cause.clone(),
        StoreError::Database(DatabaseError::Standby) => "a standby".to_owned(),
        error => error.to_string(),
    }
}

/// Returns why the row of a daemon could not be committed.
fn unregistered(runtime: &Handle, reading: &Reading, error: &StatementError) -> StoreError {
    let without = || without_standby(runtime, reading).map(StoreError::from);
    // Without a standby, the commit of an earlier attempt waits for one, and holds locks.
    let waits = matches!(error, StatementError::Lost(_)) || error.is_transient();
    let failed = || error.failed("registering the daemon in the database");
    waits.then(without).flatten().unwrap_or_else(failed)
}

/// Returns the error of a server whose commits wait for a standby if none follows it.
fn without_standby(runtime: &Handle, reading: &Reading) -> Option<DatabaseError> {
    const NAMES: &str = "SELECT current_setting('synchronous_standby_names') \
        WHERE NOT EXISTS (SELECT FROM pg_stat_replication)";
    let session = reading.sessions.first()?;
    let row = answered(runtime, ANSWER, session.client.query_opt(NAMES, &[])).ok()??;
    let names: String = row.try_get(0).ok()?;
    (!names.is_empty()).then_some(DatabaseError::NoStandby(names))
}
