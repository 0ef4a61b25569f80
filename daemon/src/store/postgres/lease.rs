//! Until when a version that a server returned counts as current.
//!
//! A server that was replaced by a standby may not know that, and still answers reads. It cannot complete a synchronous commit,
//! because no standby follows it anymore. So what it returns counts only for a short time after the begin of a synchronous commit
//! that it completed: the lease. The sign of life that a daemon writes each second renews it. A daemon that meets a new primary
//! first waits for as long as a lease holds. By then, no other daemon relies on the old one.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;

use super::errors::{DatabaseError, StatementError, unusable};
use super::session::{ANSWER, Session, answered};

/// Time for which a lease holds.
const LEASE: Duration = Duration::from_secs(3);
/// Age at which a lease is renewed by a read, because signs of life are late.
const RENEWAL: Duration = Duration::from_secs(2);

/// Commits something that needs no lock and no row.
const RENEW: &str = "SELECT pg_logical_emit_message(true, 'quorate', '')";
/// Returns the timeline of the server, which changes when a standby becomes the primary, and the one for which daemons have waited.
const TIMELINES: &str = "SELECT ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int8, \
    (SELECT value FROM meta WHERE name = 'timeline')";
const KEEP: &str = "INSERT INTO meta VALUES ('timeline', int8send($1)) ON CONFLICT (name) DO UPDATE SET value = excluded.value";

/// When the last synchronous commit began that the server completed. It belongs to the connections to one server.
#[derive(Default)]
pub(super) struct Lease(Mutex<Option<Instant>>);

impl Lease {
    /// Renews the lease unless it is fresh.
    pub(super) async fn renew(&self, session: &Session) -> Result<(), StatementError> {
        if self.is_younger_than(RENEWAL) {
            return Ok(());
        }
        let begun = Instant::now();
        session.clear_warnings();
        session.client.query(&session.statement(RENEW).await?, &[]).await?;
        self.renewed(begun, session)
    }

    /// Renews the lease after a synchronous commit of a session that began then. The warnings of the session were cleared before.
    pub(super) fn renewed(&self, begun: Instant, session: &Session) -> Result<(), StatementError> {
        if session.was_warned() {
            return Err(StatementError::Lost("the database server warned about a commit".to_owned()));
        }
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *last = (*last).max(Some(begun));
        Ok(())
    }

    /// Returns whether what the server has returned so far counts.
    pub(super) fn holds(&self) -> bool {
        self.is_younger_than(LEASE)
    }

    fn is_younger_than(&self, age: Duration) -> bool {
        let last = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.is_some_and(|begun| begun.elapsed() < age)
    }
}

/// Waits until no other daemon relies on an earlier primary, unless a daemon has done so since this one became the primary.
pub(super) fn wait_for_others(runtime: &Handle, session: &Session) -> Result<(), DatabaseError> {
    let read = answered(runtime, ANSWER, session.client.query_one(TIMELINES, &[])).map_err(unusable)?;
    let unreadable = |error: tokio_postgres::Error| unusable(error.into());
    let current: i64 = read.try_get(0).map_err(unreadable)?;
    let known: Option<Vec<u8>> = read.try_get(1).map_err(unreadable)?;
    if known.is_some_and(|known| known == current.to_be_bytes()) {
        return Ok(());
    }
    tracing::info!(timeline = current, "the database has a new primary");
    std::thread::sleep(LEASE);
    answered(runtime, ANSWER, session.client.execute(KEEP, &[&current])).map_err(unusable)?;
    Ok(())
}
