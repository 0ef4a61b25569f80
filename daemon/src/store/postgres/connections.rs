//! Which server is the primary, and the connections to it.
//!
//! The hosts of the URL are tried one after the other. A host is the primary if it accepts the registration of this process, which
//! is a synchronous commit: a server that was replaced cannot complete it, even if it does not know that yet. All connections
//! lead to that server. Were they distributed, one of them could read from a server that was replaced.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};

use super::committing::Committing;
use super::confirmer::Confirmer;
use super::daemon::{self, Daemon};
use super::durability::Durability;
use super::errors::{DatabaseError, StatementError};
use super::lease::{self, Lease};
use super::session::{ANSWER, Session, answered};
use super::watcher::Watcher;
use super::{Postgres, READERS, schema};
use crate::store::{Access, DaemonId, Existence, StoreError};

/// The connections that read.
pub(super) struct Reading {
    pub(super) sessions: Vec<Arc<Session>>,
    pub(super) confirmer: Arc<Confirmer>,
    pub(super) lease: Arc<Lease>,
}

/// The server of all connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Server {
    /// Index of its host in the URL.
    host: usize,
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
        let mut failure = StoreError::Unavailable;
        for host in (next..hosts).chain(0..next.min(hosts)) {
            match self.committing_on(host, existence, id) {
                Ok((committing, reading)) => {
                    let started = committing.session.started.clone();
                    *self.server.lock().unwrap_or_else(PoisonError::into_inner) =
                        Some(Server { host, started });
                    return Ok((committing, reading));
                }
                Err(error) if is_clearer(&error, &failure) => failure = error,
                Err(_) => {}
            }
        }
        Err(failure)
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
        lease::wait_for_others(runtime, &session)?;
        let access = daemon::lock_store(runtime, &session, self.access)?;
        if let Some(id) = id {
            daemon::lock_daemon(runtime, &session, id)?;
        }
        let failed = |error: StatementError| error.failed("registering the daemon in the database");
        if access == Access::Exclusive {
            daemon::remove_all(runtime, &session).map_err(failed)?;
        }
        session.clear_warnings();
        let daemon = Daemon::register(runtime, &session, id).map_err(failed)?;
        if session.was_warned() {
            return Err(DatabaseError::NotReplicated.into());
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
        let lease = Arc::<Lease>::default();
        let confirmer = Arc::new(Confirmer::start(self.runtime()?, connect()?, Arc::clone(&lease)));
        Ok(Reading { sessions, confirmer, lease })
    }

    /// Connects to a host. The end of the connection is a failure of the store once the host was chosen.
    fn connect_to(&self, host: usize, is_chosen: &Arc<AtomicBool>) -> Result<Session, StoreError> {
        let is_chosen = Arc::clone(is_chosen);
        let own = self.shared.generation.load(Ordering::Acquire);
        let shared = Arc::downgrade(&self.shared);
        let ended = move || {
            let Some(shared) = shared.upgrade() else { return };
            let is_current = shared.generation.load(Ordering::Acquire) == own;
            if is_current && is_chosen.load(Ordering::Acquire) && !shared.is_closed.load(Ordering::Acquire) {
                shared.fail();
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
        self.connect_with(|host| Ok(Session::connect(self.runtime()?, &self.settings, host, || {})?))
    }

    /// Watches what other daemons do, on a connection of its own to the server of this lease. Ends with the connection.
    pub(super) fn watch(&self, id: DaemonId, lease: Arc<Lease>) -> Result<(), StoreError> {
        let generation = self.shared.generation.load(Ordering::Acquire);
        let (runtime, session) = (self.runtime()?, self.connect()?);
        let watcher = Watcher::begin(runtime, session, id, lease, (Arc::downgrade(&self.shared), generation));
        runtime.spawn(watcher.map_err(|error| error.failed("reading the notices of other daemons"))?.run());
        Ok(())
    }
}

/// Returns whether the error of a host explains better than an earlier one why no host is the primary.
fn is_clearer(error: &StoreError, earlier: &StoreError) -> bool {
    let rank = |error: &StoreError| match error {
        StoreError::Unavailable => 0,
        StoreError::Database(DatabaseError::Unreachable(_)) => 1,
        StoreError::Database(DatabaseError::Standby | DatabaseError::ReadOnly) => 2,
        _ => 3,
    };
    rank(error) > rank(earlier)
}
