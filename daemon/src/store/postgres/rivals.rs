//! Whether another server of the URL became the primary while this one still completes commits.
//!
//! The configuration of the standbys must rule that out (see the page on high availability). Where it does not, a daemon that stays
//! on the old primary would never learn what the others decide.

use std::sync::Weak;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::runtime::Handle;

use super::errors::{DatabaseError, StatementError};
use super::lease::TIMELINE;
use super::session::{ANSWER, Session, answered};
use super::settings::DatabaseSettings;
use super::shared::Shared;

/// Time between two looks at the other servers.
const INTERVAL: Duration = Duration::from_secs(10);

/// Looks at the other servers of the URL.
pub(super) struct Rivals {
    settings: DatabaseSettings,
    /// Index of the server that the store uses.
    own: usize,
    primary: Primary,
}

/// A server that is no standby.
#[derive(Debug, PartialEq, Eq)]
struct Primary {
    /// Which servers are copies of each other.
    system: i64,
    timeline: i64,
}

impl Primary {
    /// Reads what a session is connected to; returns `None` for a standby.
    fn read(runtime: &Handle, session: &Session) -> Result<Option<Self>, StatementError> {
        const IS_STANDBY: &str = "SELECT pg_is_in_recovery()";
        let read = async {
            if session.client.query_one(IS_STANDBY, &[]).await?.try_get(0)? {
                return Ok(None);
            }
            let identity = format!("SELECT system_identifier, {TIMELINE} FROM pg_control_system()");
            let row = session.client.query_one(&identity, &[]).await?;
            Ok::<_, tokio_postgres::Error>(Some(Self { system: row.try_get(0)?, timeline: row.try_get(1)? }))
        };
        answered(runtime, ANSWER, read)
    }
}

impl Rivals {
    /// Prepares looks at all servers but the one with this index, to which the session is connected.
    pub(super) fn of(
        runtime: &Handle,
        settings: &DatabaseSettings,
        own: usize,
        session: &Session,
    ) -> Result<Self, StatementError> {
        let primary = Primary::read(runtime, session)?;
        let primary = primary.ok_or_else(|| StatementError::Lost(DatabaseError::Standby.to_string()))?;
        Ok(Self { settings: settings.clone(), own, primary })
    }

    /// Looks until the store ends, or all connections are replaced. A newer primary is a failure of the store, which then opens its
    /// connections to that one.
    pub(super) async fn run(self, runtime: Handle, shared: Weak<Shared>, generation: u64) {
        let mut rivals = self;
        loop {
            // The thread waits for each server, and a server that does not answer takes seconds.
            let own = runtime.clone();
            let look = runtime.spawn_blocking(move || (rivals.newer(&own), rivals)).await;
            let Ok((newer, same)) = look else { return };
            rivals = same;
            let Some(shared) = shared.upgrade() else { return };
            if shared.generation.load(Ordering::Acquire) != generation
                || shared.is_closed.load(Ordering::Acquire)
            {
                return;
            }
            if let Some(cause) = newer {
                return shared.fail(cause);
            }
            drop(shared);
            tokio::time::sleep(INTERVAL).await;
        }
    }

    /// Returns why the server of the store must be left, if another one has replaced it.
    fn newer(&self, runtime: &Handle) -> Option<String> {
        (0..self.settings.hosts()).filter(|host| *host != self.own).find_map(|host| {
            let session = Session::connect(runtime, &self.settings, host, drop).ok()?;
            let found = Primary::read(runtime, &session).ok()??;
            let is_newer = found.system == self.primary.system && found.timeline > self.primary.timeline;
            is_newer.then(|| format!("{} has replaced the primary", self.settings.url.server(host)))
        })
    }
}
