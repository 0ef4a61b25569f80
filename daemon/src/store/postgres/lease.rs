//! Until when a version that a server returned counts as current.
//!
//! A server that was replaced by a standby may not know that, and still answers reads. It cannot complete a synchronous commit,
//! because no standby follows it anymore. So what it returns counts only for a short time after the begin of a synchronous commit
//! that it completed: the lease. The sign of life that a daemon writes each second renews it. A daemon that meets a new primary
//! first waits for as long as a lease holds. By then, no other daemon relies on the old one.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;

use super::errors::{DatabaseError, StatementError, unusable};
use super::session::{ANSWER, Session, answered};
use crate::clock;

/// Time for which a lease holds, in milliseconds.
const LEASE: u64 = 3000;
/// Age at which a lease is renewed by a read, because signs of life are late, in milliseconds.
const RENEWAL: u64 = 2000;

/// Commits something that needs no lock and no row. Returns the time of the server before the commit.
const RENEW: &str = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::int8, \
    pg_logical_emit_message(true, 'quorate', '')";
/// Returns the timeline for which daemons have waited.
const KNOWN: &str = "SELECT value FROM meta WHERE name = 'timeline'";
const KEEP: &str = "INSERT INTO meta VALUES ('timeline', int8send($1)) ON CONFLICT (name) DO UPDATE SET value = excluded.value";

/// When the last synchronous commit began that the server completed. It belongs to the connections to one server.
#[derive(Default)]
pub(super) struct Lease(Mutex<Option<Renewal>>);

/// Begin of a synchronous commit. Both clocks go on while the other machine is suspended.
#[derive(Debug, Clone, Copy)]
struct Renewal {
    /// Time since this machine was started, in milliseconds.
    own: u64,
    /// Time of the server, in milliseconds since 1970.
    server: i64,
}

impl Renewal {
    fn age(self) -> u64 {
        clock::since_boot().saturating_sub(self.own)
    }
}

impl Lease {
    /// Renews the lease unless that was done within [`RENEWAL`].
    pub(super) async fn renew(&self, session: &Session) -> Result<(), StatementError> {
        if self.last().is_some_and(|last| last.age() < RENEWAL) {
            return Ok(());
        }
        self.commit(session).await
    }

    /// Completes a synchronous commit, which renews the lease. Everything that the server showed before it began is then at the
    /// standby, if commits wait for one.
    pub(super) async fn commit(&self, session: &Session) -> Result<(), StatementError> {
        let begun = clock::since_boot();
        session.clear_warnings();
        let row = session.client.query_one(&session.statement(RENEW).await?, &[]).await?;
        self.renewed(begun, row.try_get(0)?, session)
    }

    /// Renews the lease after a synchronous commit of a session that began then by the clock [`clock::since_boot`], and at this
    /// time of the server. The warnings of the session were cleared before.
    pub(super) fn renewed(&self, begun: u64, server: i64, session: &Session) -> Result<(), StatementError> {
        if session.was_warned() {
            return Err(StatementError::Lost("the database server warned about a commit".to_owned()));
        }
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_none_or(|last| last.own < begun) {
            *last = Some(Renewal { own: begun, server });
        }
        Ok(())
    }

    /// Returns whether what the server has read at this time of its clock counts.
    pub(super) fn holds(&self, read: i64) -> bool {
        let age_at_server = |last: Renewal| read.checked_sub(last.server).map(i64::unsigned_abs);
        self.is_fresh() && self.last().and_then(age_at_server).is_some_and(|age| age < LEASE)
    }

    /// Returns whether the lease holds by the clock of this machine.
    pub(super) fn is_fresh(&self) -> bool {
        self.last().is_some_and(|last| last.age() < LEASE)
    }

    /// Ends the lease. The next read renews it.
    pub(super) fn end(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn last(&self) -> Option<Renewal> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits until no other daemon relies on an earlier primary, unless a daemon has done so since the one with this timeline became the
/// primary.
pub(super) fn wait_for_others(
    runtime: &Handle,
    session: &Session,
    current: i64,
) -> Result<(), DatabaseError> {
    let read = answered(runtime, ANSWER, session.client.query_opt(KNOWN, &[])).map_err(unusable)?;
    let known = read.map(|row| row.try_get::<_, Vec<u8>>(0)).transpose();
    let known = known.map_err(|error| unusable(error.into()))?;
    if known.is_some_and(|known| known == current.to_be_bytes()) {
        return Ok(());
    }
    tracing::info!(timeline = current, "the database has a new primary");
    std::thread::sleep(Duration::from_millis(LEASE));
    answered(runtime, ANSWER, session.client.execute(KEEP, &[&current])).map_err(unusable)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_ends_by_either_clock() {
        let (now, lease) = (clock::since_boot(), Lease::default());
        let holds = |own: u64, read: i64| {
            *lease.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Renewal { own, server: 10_000 });
            lease.holds(read)
        };
        assert!(holds(now, 10_000) && holds(now, 12_999));
        // This machine was suspended, and its clock does not count that.
        assert!(!holds(now, 13_000));
        // The clock of the server was set back.
        assert!(!holds(now, 6_999));
        assert!(!holds(now.saturating_sub(LEASE), 10_000));
        lease.end();
        assert!(!lease.holds(10_000));
    }
}
