//! This process among the daemons that use a store: its row in the database, and its locks.

use std::time::{Duration, Instant};

use quorate_common::console::StoreDaemon;
use tokio::runtime::Handle;
use tokio_postgres::error::SqlState;

use super::errors::{DatabaseError, StatementError, unusable};
use super::session::{ANSWER, Session, answered};
use crate::store::{Access, DaemonId, StoreError};

/// Level of a store that several daemons share. Programs that know only one daemon reject it.
pub(super) const SHARED_LEVEL: i64 = 2;
/// First key of the advisory lock of a store: "QRTE". The second one is the object id of the schema.
const STORE: i32 = 0x5152_5445;
/// First key of the advisory lock of a daemon: "QRTD". The second one is computed from its id.
const DAEMON: i32 = 0x5152_5444;
/// Time to wait for a session that is just ending, when a lock is requested.
const WAIT: Duration = Duration::from_secs(3);
/// Time to wait in one attempt.
const ATTEMPT: &str = "SET lock_timeout = '250ms'";
/// Time to wait for all other locks.
const USUAL: &str = "SET lock_timeout = '2s'";

/// The row of this process, which records the last committed group.
pub(super) struct Daemon {
    pub(super) id: String,
    pub(super) session: i64,
    pub(super) last_group: i64,
}

impl Daemon {
    /// Writes the row, with the next session of this daemon. An earlier session can commit nothing afterwards, and what it
    /// committed is visible: this waits for its last group. What is committed here is durable only after that group.
    pub(super) fn register(
        runtime: &Handle,
        session: &Session,
        id: Option<DaemonId>,
    ) -> Result<Self, StatementError> {
        const REGISTER: &str = "INSERT INTO daemon (id, session, last_group, build, level, seen) \
            VALUES (coalesce($1::text::uuid, gen_random_uuid()), 1, 0, $2, 1, clock_timestamp()) \
            ON CONFLICT (id) DO UPDATE SET session = daemon.session + 1, last_group = 0, build = excluded.build, \
            level = excluded.level, seen = excluded.seen RETURNING id::text, session";
        let id = id.map(const_hex::encode);
        answered(runtime, ANSWER, async {
            let row = session.client.query_one(REGISTER, &[&id, &env!("CARGO_PKG_VERSION")]).await?;
            Ok::<_, tokio_postgres::Error>(Self {
                id: row.try_get(0)?,
                session: row.try_get(1)?,
                last_group: 0,
            })
        })
    }

    /// Removes the row. The session can commit nothing afterwards.
    pub(super) fn remove(&self, runtime: &Handle, session: &Session) -> Result<u64, StatementError> {
        answered(runtime, ANSWER, async {
            session.client.execute("DELETE FROM daemon WHERE id = $1::text::uuid", &[&self.id]).await
        })
    }

    /// Writes the row again, which fails if the server has no space.
    pub(super) fn touch(&self, runtime: &Handle, session: &Session) -> Result<u64, StatementError> {
        const TOUCH: &str = "UPDATE daemon SET seen = clock_timestamp() WHERE id = $1::text::uuid";
        answered(runtime, ANSWER, async { session.client.execute(TOUCH, &[&self.id]).await })
    }
}

/// Returns all daemons of the store, the own one with this id first.
pub(super) async fn list(
    session: &Session,
    own: Option<String>,
) -> Result<Vec<StoreDaemon>, tokio_postgres::Error> {
    const LIST: &str = "SELECT id::text, build, greatest(0, extract(epoch FROM clock_timestamp() - seen) * 1000)::int8, \
        id IS NOT DISTINCT FROM $1::text::uuid AS own FROM daemon ORDER BY own DESC, id";
    let rows = session.client.query(&session.statement(LIST).await?, &[&own]).await?;
    rows.iter()
        .map(|row| {
            Ok(StoreDaemon {
                id: row.try_get(0)?,
                version: row.try_get(1)?,
                silent_millis: u64::try_from(row.try_get::<_, i64>(2)?).unwrap_or(0),
                is_queried: row.try_get(3)?,
            })
        })
        .collect()
}

/// Removes the rows of all other processes. The caller uses the store alone.
pub(super) fn remove_all(runtime: &Handle, session: &Session) -> Result<(), StatementError> {
    answered(runtime, ANSWER, session.client.batch_execute("DELETE FROM daemon"))
}

/// Takes the lock of the store, which the session holds until it ends. A store is used alone until it was shared for the first
/// time. Returns the access that was obtained.
pub(super) fn lock_store(runtime: &Handle, session: &Session, wanted: Access) -> Result<Access, StoreError> {
    let until = Instant::now() + WAIT;
    loop {
        let access = match wanted {
            Access::Shared if is_shared(runtime, session)? => Access::Shared,
            Access::Shared | Access::Exclusive => Access::Exclusive,
        };
        let shared = if access == Access::Shared { "_shared" } else { "" };
        let lock = format!("SELECT pg_advisory_lock{shared}({STORE}, to_regnamespace('quorate')::oid::int4)");
        match take(runtime, session, &lock)? {
            true if holds(runtime, session)? => return Ok(access),
            true => return Err(DatabaseError::Pooler.into()),
            false if Instant::now() > until => return Err(DatabaseError::InUse.into()),
            false => {}
        }
    }
}

/// Lets others use the store, too.
pub(super) fn share_store(runtime: &Handle, session: &Session) -> Result<(), StatementError> {
    let schema = "to_regnamespace('quorate')::oid::int4";
    let share = format!(
        "INSERT INTO meta VALUES ('shared', '') ON CONFLICT DO NOTHING; \
         UPDATE meta SET value = int8send({SHARED_LEVEL}) WHERE name = 'level'; \
         SELECT pg_advisory_lock_shared({STORE}, {schema}); SELECT pg_advisory_unlock({STORE}, {schema})"
    );
    answered(runtime, ANSWER, session.client.batch_execute(&share))
}

/// Takes the lock of a daemon, so that no other process writes its mark.
pub(super) fn lock_daemon(runtime: &Handle, session: &Session, id: DaemonId) -> Result<(), StoreError> {
    let until = Instant::now() + WAIT;
    let number = id.first_chunk().map_or(0, |first| i32::from_be_bytes(*first));
    let lock = format!("SELECT pg_advisory_lock({DAEMON}, {number})");
    while !take(runtime, session, &lock)? {
        if Instant::now() > until {
            return Err(DatabaseError::DaemonInUse.into());
        }
    }
    Ok(())
}

/// Requests a lock once. Returns whether it was obtained.
fn take(runtime: &Handle, session: &Session, lock: &str) -> Result<bool, StoreError> {
    let taken =
        answered(runtime, ANSWER, session.client.batch_execute(&format!("{ATTEMPT}; {lock}; {USUAL}")));
    match taken {
        Ok(()) => Ok(true),
        Err(StatementError::Rejected(error)) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => {
            Ok(false)
        }
        Err(error) => Err(unusable(error).into()),
    }
}

/// Returns whether the session holds the lock of the store. A pooler may have given it to another one.
fn holds(runtime: &Handle, session: &Session) -> Result<bool, StoreError> {
    const HOLDS: &str = "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid() \
        AND classid::int8 = $1 AND granted)";
    let held = answered(runtime, ANSWER, session.client.query_one(HOLDS, &[&i64::from(STORE)]));
    Ok(held.map_err(unusable)?.try_get(0).unwrap_or(false))
}

fn is_shared(runtime: &Handle, session: &Session) -> Result<bool, StoreError> {
    let shared = session.client.query_opt("SELECT FROM meta WHERE name = 'shared'", &[]);
    Ok(answered(runtime, ANSWER, shared).map_err(unusable)?.is_some())
}
