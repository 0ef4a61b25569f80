//! Which servers are the same database, and which of them became the primary later.

use tokio::runtime::Handle;

use super::errors::StatementError;
use super::session::{ANSWER, Session, answered};

/// A server that is no standby.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Primary {
    /// Identifies the servers that are copies of each other.
    system: i64,
    /// Rises each time that a standby becomes the primary.
    pub(super) timeline: i64,
}

impl Primary {
    /// Reads what a session is connected to; returns `None` for a standby.
    pub(super) fn read(runtime: &Handle, session: &Session) -> Result<Option<Self>, StatementError> {
        const IS_STANDBY: &str = "SELECT pg_is_in_recovery()";
        const IDENTITY: &str = "SELECT system_identifier, \
            ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int8 FROM pg_control_system()";
        answered(runtime, ANSWER, async {
            if session.client.query_one(IS_STANDBY, &[]).await?.try_get(0)? {
                return Ok(None);
            }
            let row = session.client.query_one(IDENTITY, &[]).await?;
            Ok::<_, tokio_postgres::Error>(Some(Self { system: row.try_get(0)?, timeline: row.try_get(1)? }))
        })
    }

    /// Returns whether this server replaced the other one.
    pub(super) const fn has_replaced(&self, other: &Self) -> bool {
        self.system == other.system && self.timeline > other.timeline
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_copies_of_a_server_replace_it() {
        let server = |system, timeline| Primary { system, timeline };
        assert!(server(1, 3).has_replaced(&server(1, 2)));
        assert!(!server(1, 2).has_replaced(&server(1, 2)) && !server(1, 1).has_replaced(&server(1, 2)));
        assert!(!server(2, 3).has_replaced(&server(1, 2)), "another database");
    }
}
