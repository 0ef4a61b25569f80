//! Watches what other daemons commit, shows them that this one lives, and compares the clocks.
//!
//! Each group with changes that others may have cached writes its notice into the table `feed`. A reader applies each row as
//! soon as it is visible. Transactions may be committed in another order than that of their numbers, so it looks again for rows
//! of the oldest transaction that still runs and of later ones, and skips none, however slowly one is committed. The bell, a
//! notification without content, only shortens the wait. It is sent in a transaction of its own, because a notifying
//! transaction takes a lock of the whole cluster until a standby has answered.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::Instant;

use super::durability::Durability;
use super::errors::StatementError;
use super::lease::Lease;
use super::schema;
use super::session::{ANSWER, Session, answered};
use super::shared::Shared;
use crate::clock;
use crate::store::DaemonId;

/// Longest time between two reads of notices.
const INTERVAL: Duration = Duration::from_secs(1);
/// Shortest time between two looks because others called, which any client may do.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);
/// Shortest time between two bells.
const BELL_INTERVAL: Duration = Duration::from_millis(20);
/// Time between two removals of old notices.
const REMOVAL_INTERVAL: Duration = Duration::from_mins(1);
/// Time between two reads of the settings of the server.
const SETTINGS_INTERVAL: Duration = Duration::from_secs(10);

/// Time without a look after which notices may have been removed unread, such as those for a process that was suspended, in
/// milliseconds by the clock of the server. It is less than their age when they are removed.
const GAP: i64 = 2 * 60 * 1000;
/// How much longer than a look at all rows that may be new the time to the next one is. An open transaction of any client of
/// the server keeps their number growing.
const PAUSE_FACTOR: u32 = 20;

/// Returns the horizon: the oldest transaction that may still run.
const HORIZON: &str = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::int8";
/// Returns the horizon, and the notices from a transaction on without some. There is at least one row.
const NOTICES: &str = "WITH horizon AS MATERIALIZED (SELECT pg_snapshot_xmin(pg_current_snapshot()) AS xid) \
    SELECT horizon.xid::text::int8, feed.xid::text::int8, feed.body, \
    (extract(epoch FROM clock_timestamp() - feed.at) * 1000)::int8 FROM horizon LEFT JOIN feed \
    ON feed.xid >= $1::int8::text::xid8 AND feed.origin <> $2::text::uuid AND feed.xid::text::int8 <> ALL($3::int8[]) \
    ORDER BY feed.xid";
const BELL: &str = "BEGIN; SET LOCAL synchronous_commit = off; NOTIFY quorate; COMMIT";
const LIVES: &str = "UPDATE daemon SET seen = clock_timestamp() WHERE id = $1::text::uuid \
    RETURNING (extract(epoch FROM clock_timestamp()) * 1000)::int8, \
    current_setting('fsync') = 'on' AND current_setting('full_page_writes') = 'on'";
const REMOVE: &str = "DELETE FROM feed WHERE at < now() - interval '5 minutes'; \
    DELETE FROM daemon WHERE seen < now() - interval '1 day'";

/// Reads the notices of other daemons.
pub(super) struct Watcher {
    session: Session,
    own: String,
    /// Renewed by each sign of life.
    lease: Arc<Lease>,
    shared: Weak<Shared>,
    /// The generation of connections that this one belongs to.
    generation: u64,
    /// All notices of earlier transactions were applied.
    next: i64,
    /// Transactions from `next` on whose notices were applied.
    applied: BTreeSet<i64>,
    /// Time of the last look, in milliseconds since 1970 by the clock of the server.
    looked: Option<i64>,
    /// When all rows from `next` on are read again. Until then, only those after the last one that was applied are.
    again: Instant,
}

impl Watcher {
    /// Begins to watch. What is committed from now on is noticed.
    pub(super) fn begin(
        runtime: &Handle,
        session: Session,
        own: DaemonId,
        lease: Arc<Lease>,
        shared: (Weak<Shared>, u64),
    ) -> Result<Self, StatementError> {
        let next = answered(runtime, ANSWER, async {
            session.client.batch_execute("LISTEN quorate").await?;
            session.client.query_one(HORIZON, &[]).await?.try_get(0)
        })?;
        let (applied, again) = (BTreeSet::new(), Instant::now());
        let (shared, generation) = shared;
        Ok(Self {
            session,
            own: const_hex::encode(own),
            lease,
            shared,
            generation,
            next,
            applied,
            looked: None,
            again,
        })
    }

    /// Watches until the connection or the store ends, or all connections are replaced. The end of the connection is a failure of
    /// the store.
    pub(super) async fn run(mut self) {
        let [mut last_look, mut last_bell, mut last_removal, mut last_sign, mut last_settings] =
            [Instant::now(); 5];
        while let Some(shared) = self.shared.upgrade() {
            if shared.generation.load(Ordering::Acquire) != self.generation {
                return;
            }
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
            tokio::time::sleep_until(last_look + LOOK_INTERVAL).await;
            last_look = Instant::now();
            let removes = is_due(&mut last_removal, REMOVAL_INTERVAL);
            let lives = is_due(&mut last_sign, INTERVAL);
            match tokio::time::timeout(ANSWER, self.step(is_notified, removes, lives)).await {
                Ok(Ok(())) if is_due(&mut last_settings, SETTINGS_INTERVAL) => self.read_settings().await,
                Ok(Ok(())) => {}
                // A statement that waited too long for a lock is repeated.
                Ok(Err(error)) if error.is_transient() => {}
                Ok(Err(error)) => return self.fail(&error),
                Err(_) => return self.fail(&StatementError::late(ANSWER)),
            }
        }
    }

    fn fail(&self, error: &StatementError) {
        let current = self.shared.upgrade().filter(|shared| {
            let is_current = shared.generation.load(Ordering::Acquire) == self.generation;
            is_current && !shared.is_closed.load(Ordering::Acquire)
        });
        if let Some(shared) = current {
            shared.fail(error.failed("reading the notices of other daemons").to_string());
        }
    }

    /// Reads and applies the notices that are new.
    async fn read(&mut self) -> Result<(), StatementError> {
        let begun = Instant::now();
        let is_whole = begun >= self.again;
        let last = self.applied.last().copied();
        let (from, without) = match last.filter(|_| !is_whole) {
            Some(last) => (last.saturating_add(1), Vec::new()),
            None => (self.next, self.applied.iter().copied().collect()),
        };
        let notices = self.session.statement(NOTICES).await?;
        let rows = self.session.client.query(&notices, &[&from, &self.own, &without]).await?;
        if let Some(shared) = self.shared.upgrade() {
            let callback = shared.on_notice.read().unwrap_or_else(PoisonError::into_inner);
            for row in &rows {
                let (Some(number), Some(body)) = (row.try_get(1)?, row.try_get::<_, Option<&[u8]>>(2)?)
                else {
                    continue;
                };
                if self.applied.insert(number)
                    && let Some(callback) = &*callback
                {
                    callback(body);
                    shared.noticed_after(row.try_get(3)?);
                }
            }
        }
        if let Some(row) = rows.first().filter(|_| is_whole) {
            self.next = row.try_get(0)?;
            self.applied = self.applied.split_off(&self.next);
            self.again = Instant::now() + begun.elapsed() * PAUSE_FACTOR;
        }
        Ok(())
    }

    /// Reads how durable commits are. It changes when the last standby disappears, or with the configuration.
    async fn read_settings(&self) {
        let Some(hosts) = self.shared.upgrade().map(|shared| shared.hosts) else { return };
        let read = tokio::time::timeout(ANSWER, Durability::read(&self.session, hosts)).await;
        // The next step fails as well if the connection ended.
        if let (Ok(Ok(durability)), Some(shared)) = (read, self.shared.upgrade()) {
            shared.set_durability(durability);
        }
    }

    async fn step(&mut self, notifies: bool, removes: bool, lives: bool) -> Result<(), StatementError> {
        if notifies {
            self.session.client.batch_execute(BELL).await?;
        }
        self.read().await?;
        let client = &self.session.client;
        if removes {
            client.batch_execute(REMOVE).await?;
        }
        if lives {
            let lives = self.session.statement(LIVES).await?;
            let (begun, commit_begun) = (clock::system(), clock::since_boot());
            self.session.clear_warnings();
            // The row of a daemon that was silent for long may be gone; it is written again with its next session.
            if let Some(row) = client.query_opt(&lives, &[&self.own]).await? {
                let time = row.try_get(0)?;
                if !row.try_get(1)? {
                    // The reason is found when the store is reopened.
                    return Err(StatementError::Lost("commits may be lost".to_owned()));
                }
                self.lease.renewed(commit_begun, time, &self.session)?;
                schema::check_time(begun, time).map_err(|error| StatementError::Lost(error.to_string()))?;
                if self.looked.replace(time).is_some_and(|last| time.saturating_sub(last) > GAP) {
                    // Everything is read again when the store is reopened.
                    return Err(StatementError::Lost("notices may have been missed".to_owned()));
                }
            }
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
