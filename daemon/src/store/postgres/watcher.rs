//! Watches what other daemons commit, and shows them that this one lives.
//!
//! Each group with changes that others may have cached writes its notice into the table `feed`. A reader takes the rows of
//! transactions below the oldest one that still runs, so it skips none, however slowly one is committed. The bell, a
//! notification without content, only shortens the wait. It is sent in a transaction of its own, because a notifying
//! transaction takes a lock of the whole cluster until a standby has answered.

use std::sync::{PoisonError, Weak};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::Instant;

use super::Shared;
use super::errors::StatementError;
use super::session::{ANSWER, Session, answered};
use crate::store::DaemonId;

/// Longest time between two reads of notices.
const INTERVAL: Duration = Duration::from_secs(1);
/// Shortest time between two bells.
const BELL_INTERVAL: Duration = Duration::from_millis(20);
/// Time between two removals of old notices.
const REMOVAL_INTERVAL: Duration = Duration::from_mins(1);

/// Returns the oldest transaction that may still run.
const HORIZON: &str = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text";
/// Returns the horizon and the notices below it, from a transaction on. There is at least one row.
const NOTICES: &str = "WITH horizon AS MATERIALIZED (SELECT pg_snapshot_xmin(pg_current_snapshot()) AS xid) \
    SELECT horizon.xid::text, feed.body FROM horizon LEFT JOIN feed ON feed.xid >= $1::text::xid8 \
    AND feed.xid < horizon.xid AND feed.origin <> $2::text::uuid ORDER BY feed.xid";
const BELL: &str = "BEGIN; SET LOCAL synchronous_commit = off; NOTIFY quorate; COMMIT";
const LIVES: &str = "UPDATE daemon SET seen = clock_timestamp() WHERE id = $1::text::uuid";
const REMOVE: &str = "DELETE FROM feed WHERE at < now() - interval '10 minutes'; \
    DELETE FROM daemon WHERE seen < now() - interval '1 day'";

/// Reads the notices of other daemons.
pub(super) struct Watcher {
    session: Session,
    own: String,
    shared: Weak<Shared>,
    /// The first transaction that was not read.
    next: String,
}

impl Watcher {
    /// Begins to watch. What is committed from now on is noticed.
    pub(super) fn begin(
        runtime: &Handle,
        session: Session,
        own: DaemonId,
        shared: Weak<Shared>,
    ) -> Result<Self, StatementError> {
        let next = answered(runtime, ANSWER, async {
            session.client.batch_execute("LISTEN quorate").await?;
            session.client.query_one(HORIZON, &[]).await?.try_get(0)
        })?;
        Ok(Self { session, own: const_hex::encode(own), shared, next })
    }

    /// Watches until the connection or the store ends. The end of the connection is a failure of the store.
    pub(super) async fn run(mut self) {
        let (mut last_bell, mut last_removal, mut last_sign) =
            (Instant::now(), Instant::now(), Instant::now());
        while let Some(shared) = self.shared.upgrade() {
            let is_notified = tokio::select! {
                () = shared.bell.notified() => true,
                () = self.session.called.notified() => false,
                () = tokio::time::sleep(INTERVAL) => false,
            };
            drop(shared);
            if is_notified {
                tokio::time::sleep_until(last_bell + BELL_INTERVAL).await;
                last_bell = Instant::now();
            }
            let removes = is_due(&mut last_removal, REMOVAL_INTERVAL);
            let lives = is_due(&mut last_sign, INTERVAL);
            match tokio::time::timeout(ANSWER, self.step(is_notified, removes, lives)).await {
                Ok(Ok(())) => {}
                // A statement that waited too long for a lock is repeated.
                Ok(Err(error)) if error.is_transient() => {}
                Ok(Err(_)) | Err(_) => return,
            }
        }
    }

    async fn step(&mut self, notifies: bool, removes: bool, lives: bool) -> Result<(), StatementError> {
        let client = &self.session.client;
        if notifies {
            client.batch_execute(BELL).await?;
        }
        let notices = self.session.statement(NOTICES).await?;
        let rows = client.query(&notices, &[&self.next, &self.own]).await?;
        if let Some(shared) = self.shared.upgrade() {
            let callback = shared.on_notice.read().unwrap_or_else(PoisonError::into_inner);
            for row in &rows {
                if let (Some(body), Some(callback)) = (row.try_get::<_, Option<&[u8]>>(1)?, &*callback) {
                    callback(body);
                }
            }
        }
        if let Some(last) = rows.last() {
            self.next = last.try_get(0)?;
        }
        if removes {
            client.batch_execute(REMOVE).await?;
        }
        if lives {
            client.execute(&self.session.statement(LIVES).await?, &[&self.own]).await?;
        }
        Ok(())
    }
}

/// Returns whether something that was done last at this time is to be done again, and sets the time if so.
fn is_due(last: &mut Instant, interval: Duration) -> bool {
    let is_due = last.elapsed() >= interval;
    if is_due {
        *last = Instant::now();
    }
    is_due
}
