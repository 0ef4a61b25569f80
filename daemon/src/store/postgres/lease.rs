//! Until when a version that a server returned counts as current.
//!
//! A server that was replaced by a standby may not know that, and still answers reads. It cannot complete a synchronous commit,
//! because no standby follows it anymore. So what it returns counts only for a short time after the begin of a synchronous commit
//! that it completed: the lease. A daemon that meets a new primary first waits for as long. By then, no other daemon relies
//! on the old one.

use std::time::{Duration, Instant};

use tokio::runtime::Handle;

use super::errors::{DatabaseError, StatementError, unusable};
use super::session::{ANSWER, Session, answered};

/// Time for which a lease holds.
const LEASE: Duration = Duration::from_secs(3);
/// Age at which a lease is renewed.
const RENEWAL: Duration = Duration::from_secs(1);

/// Commits something that needs no lock and no row.
const RENEW: &str = "SELECT pg_logical_emit_message(true, 'quorate', '')";
/// Returns the timeline of the server, which changes when a standby becomes the primary, and the one for which daemons have waited.
const TIMELINES: &str = "SELECT ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int8, \
    (SELECT value FROM meta WHERE name = 'timeline')";
const KEEP: &str = "INSERT INTO meta VALUES ('timeline', int8send($1)) ON CONFLICT (name) DO UPDATE SET value = excluded.value";

/// When the last synchronous commit began that the server completed.
#[derive(Default)]
pub(super) struct Lease(Option<Instant>);

impl Lease {
    /// Renews the lease unless it is fresh.
    pub(super) async fn renew(&mut self, session: &Session) -> Result<(), StatementError> {
        if self.0.is_some_and(|begun| begun.elapsed() < RENEWAL) {
            return Ok(());
        }
        let begun = Instant::now();
        session.clear_warnings();
        session.client.query(&session.statement(RENEW).await?, &[]).await?;
        if session.was_warned() {
            return Err(StatementError::Lost("the database server warned about a commit".to_owned()));
        }
        self.0 = Some(begun);
        Ok(())
    }

    /// Returns whether what the server has returned so far counts.
    pub(super) fn holds(&self) -> bool {
        self.0.is_some_and(|begun| begun.elapsed() < LEASE)
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
