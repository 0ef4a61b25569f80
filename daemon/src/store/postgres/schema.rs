//! The tables of a store, and what a server must fulfil to be used: its version, its settings and its encoding.

use tokio::runtime::Handle;

use super::daemon::SHARED_LEVEL;
use super::errors::{DatabaseError, StatementError, of_start, unusable};
use super::session::{ANSWER, Session, answered};
use crate::clock;
use crate::store::Existence;

/// Level of the tables of a store that was never shared. This version reads and writes it, and [`SHARED_LEVEL`].
const LEVEL: i64 = 1;
/// Maximum difference between the clock of a daemon and that of the server, in milliseconds.
const CLOCK_DIFFERENCE: u64 = 2000;
/// Oldest supported version of the server, as `server_version_num`.
const OLDEST: i32 = 150_000;

/// The tables. Values are sealed and cannot be compressed. Rows of `queue` and `register` are replaced often. The store is
/// `unused` until it has a header.
const TABLES: &str = "
    CREATE SCHEMA quorate;
    SET LOCAL search_path TO quorate;
    CREATE TABLE record (key bytea PRIMARY KEY, value bytea NOT NULL);
    ALTER TABLE record ALTER value SET STORAGE EXTERNAL;
    CREATE TABLE queue (key bytea PRIMARY KEY, value bytea NOT NULL)
        WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
    ALTER TABLE queue ALTER value SET STORAGE EXTERNAL;
    CREATE TABLE register (key bytea PRIMARY KEY, version bigint NOT NULL) WITH (fillfactor = 50);
    CREATE TABLE daemon (id uuid PRIMARY KEY, session bigint NOT NULL, last_group bigint NOT NULL,
        build text NOT NULL, level int NOT NULL, seen timestamptz NOT NULL, term bigint NOT NULL DEFAULT 0);
    CREATE TABLE meta (name text PRIMARY KEY, value bytea NOT NULL);
    INSERT INTO meta VALUES ('level', int8send(1)), ('unused', '');
    INSERT INTO meta SELECT 'timeline', int8send(('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int8);
";
/// The table of notices, which the first stores did not have. A database that was restored on another server may contain rows
/// with the numbers of coming transactions.
const FEED: &str = "CREATE TABLE IF NOT EXISTS quorate.feed (xid xid8 NOT NULL DEFAULT pg_current_xact_id(), \
    origin uuid NOT NULL, body bytea NOT NULL, at timestamptz NOT NULL DEFAULT now()); \
    CREATE INDEX IF NOT EXISTS feed_xid ON quorate.feed (xid)";

/// The column of ended terms, which the first stores did not have.
const TERM: &str = "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'quorate.daemon'::regclass \
    AND attname = 'term' AND NOT attisdropped) THEN \
    ALTER TABLE quorate.daemon ADD COLUMN IF NOT EXISTS term bigint NOT NULL DEFAULT 0; END IF; END $$";

/// Reads nothing, but waits for locks that keep others from reading.
const UNLOCKED: &str = "SELECT FROM record LIMIT 0; SELECT FROM queue LIMIT 0; SELECT FROM register LIMIT 0; \
    SELECT FROM daemon LIMIT 0; SELECT FROM meta LIMIT 0; SELECT FROM feed LIMIT 0";

/// Checks the server, and creates the tables if they may be missing.
pub(super) fn prepare(
    runtime: &Handle,
    session: &Session,
    existence: Existence,
) -> Result<(), DatabaseError> {
    Server::read(runtime, session)?.check()?;
    let run = |work: &str| answered(runtime, ANSWER, session.client.batch_execute(work)).map_err(unusable);
    if !schema_exists(runtime, session)? {
        if existence == Existence::Required {
            return Err(DatabaseError::Missing);
        }
        let created = run(&format!("BEGIN; {TABLES} COMMIT"));
        if let Err(error) = created {
            run("ROLLBACK")?;
            // Another first start may have been faster.
            if !schema_exists(runtime, session)? {
                return Err(error);
            }
        }
    }
    check_level(runtime, session)?;
    check_rights(runtime, session)?;
    // Another start may be creating the table. If this fails for that reason, the other one has created it.
    run(FEED).or_else(|_| run(FEED))?;
    run(TERM).or_else(|_| run(TERM))?;
    check_tables(runtime, session)?;
    run(UNLOCKED)
}

/// Writes a record and takes it back, which fails if the server has no space.
pub(super) fn probe_space(runtime: &Handle, session: &Session) -> Result<(), StatementError> {
    const PROBE: &str = "BEGIN; INSERT INTO record VALUES ('space', decode(repeat('00', 65536), 'hex'))";
    let probed = answered(runtime, ANSWER, session.client.batch_execute(PROBE));
    answered(runtime, ANSWER, session.client.batch_execute("ROLLBACK"))?;
    probed
}

/// Checks that the clock of this machine agrees with that of the server, by which the daemons of a store agree with each other.
pub(super) fn check_clock(runtime: &Handle, session: &Session) -> Result<(), DatabaseError> {
    const CLOCK: &str = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::int8";
    let begun = clock::system();
    let row = answered(runtime, ANSWER, session.client.query_one(CLOCK, &[])).map_err(unusable)?;
    check_time(begun, row.try_get(0).map_err(|error| of_start(&error))?)
}

/// Checks that a time of the server lies between the beginning of the query for it and now. Confirms the clock then.
pub(super) fn check_time(begun: u64, time: i64) -> Result<(), DatabaseError> {
    let now = clock::system();
    let difference = difference((begun, now), u64::try_from(time).unwrap_or_default());
    if difference > CLOCK_DIFFERENCE {
        return Err(DatabaseError::Clock(difference));
    }
    clock::confirm(now);
    Ok(())
}

/// Returns by how many milliseconds a time lies before the first or after the second of two times.
fn difference((start, end): (u64, u64), time: u64) -> u64 {
    time.abs_diff(time.clamp(start, end.max(start)))
}

fn schema_exists(runtime: &Handle, session: &Session) -> Result<bool, DatabaseError> {
    let found = session.client.query_one("SELECT to_regnamespace('quorate') IS NOT NULL", &[]);
    answered(runtime, ANSWER, found).map_err(unusable)?.try_get(0).map_err(|error| of_start(&error))
}

/// What the server reports about itself and the database.
struct Server {
    /// `server_version_num`.
    number: i32,
    version: String,
    is_standby: bool,
    is_read_only: bool,
    encoding: String,
    fsync: String,
    full_page_writes: String,
    synchronous_commit: String,
}

impl Server {
    fn read(runtime: &Handle, session: &Session) -> Result<Self, DatabaseError> {
        const QUESTION: &str = "SELECT current_setting('server_version_num')::int4, current_setting('server_version'), \
            pg_is_in_recovery(), current_setting('transaction_read_only') = 'on', current_setting('server_encoding'), \
            current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit')";
        let row = answered(runtime, ANSWER, session.client.query_one(QUESTION, &[])).map_err(unusable)?;
        let read = || {
            Ok(Self {
                number: row.try_get(0)?,
                version: row.try_get(1)?,
                is_standby: row.try_get(2)?,
                is_read_only: row.try_get(3)?,
                encoding: row.try_get(4)?,
                fsync: row.try_get(5)?,
                full_page_writes: row.try_get(6)?,
                synchronous_commit: row.try_get(7)?,
            })
        };
        read().map_err(|error: tokio_postgres::Error| of_start(&error))
    }

    /// Checks that commits are possible, and durable once they are acknowledged.
    fn check(self) -> Result<(), DatabaseError> {
        if self.number < OLDEST {
            return Err(DatabaseError::TooOld(self.version));
        }
        if self.is_standby {
            return Err(DatabaseError::Standby);
        }
        if self.is_read_only {
            return Err(DatabaseError::ReadOnly);
        }
        if self.encoding != "UTF8" {
            return Err(DatabaseError::Encoding(self.encoding));
        }
        let settings: [(&str, String, &[&str]); 3] = [
            ("fsync", self.fsync, &["on"]),
            ("full_page_writes", self.full_page_writes, &["on"]),
            ("synchronous_commit", self.synchronous_commit, &["on", "remote_apply"]),
        ];
        for (name, value, allowed) in settings {
            if !allowed.contains(&value.as_str()) {
                return Err(DatabaseError::Setting { name: name.to_owned(), value, required: "on" });
            }
        }
        Ok(())
    }
}

/// Checks that the user may read and change all tables.
fn check_rights(runtime: &Handle, session: &Session) -> Result<(), DatabaseError> {
    const DENIED: &str = "SELECT relname::text FROM pg_class WHERE relnamespace = to_regnamespace('quorate') \
        AND relname IN ('record', 'queue', 'register', 'daemon', 'meta', 'feed') AND relkind = 'r' \
        AND NOT (has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT') \
        AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE')) LIMIT 1";
    match answered(runtime, ANSWER, session.client.query_opt(DENIED, &[])).map_err(unusable)? {
        None => Ok(()),
        Some(row) => {
            let table: String = row.try_get(0).map_err(|error| of_start(&error))?;
            Err(DatabaseError::Rights(format!("permission denied for table {table}")))
        }
    }
}

/// Checks that the tables are those of a store. One without its primary key could store two records with the same key, and one
/// that is not logged is empty after a crash of the server. Triggers, rules and row security may swallow what is written.
fn check_tables(runtime: &Handle, session: &Session) -> Result<(), DatabaseError> {
    const CHANGED: &str = "SELECT expected.name::text FROM (VALUES ('record', 'key', 'bytea', true), \
        ('record', 'value', 'bytea', false), ('queue', 'key', 'bytea', true), ('queue', 'value', 'bytea', false), \
        ('register', 'key', 'bytea', true), ('register', 'version', 'bigint', false), ('daemon', 'id', 'uuid', true), \
        ('daemon', 'session', 'bigint', false), ('daemon', 'last_group', 'bigint', false), \
        ('daemon', 'build', 'text', false), ('daemon', 'level', 'integer', false), \
        ('daemon', 'seen', 'timestamp with time zone', false), ('daemon', 'term', 'bigint', false), ('meta', 'name', 'text', true), \
        ('meta', 'value', 'bytea', false), ('feed', 'xid', 'xid8', false), ('feed', 'origin', 'uuid', false), \
        ('feed', 'body', 'bytea', false), ('feed', 'at', 'timestamp with time zone', false)) \
        AS expected (name, attribute, kind, is_key) WHERE NOT EXISTS (SELECT FROM pg_class JOIN pg_attribute \
        ON attrelid = pg_class.oid WHERE relnamespace = to_regnamespace('quorate') AND relname = expected.name \
        AND relkind = 'r' AND relpersistence = 'p' AND NOT relhasrules AND NOT relrowsecurity \
        AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = pg_class.oid AND NOT tgisinternal) \
        AND attname = attribute AND NOT attisdropped AND attnotnull \
        AND format_type(atttypid, atttypmod) = kind AND (NOT is_key OR EXISTS (SELECT FROM pg_index \
        WHERE indrelid = pg_class.oid AND indisprimary AND indisvalid AND indimmediate AND indnatts = 1 \
        AND indkey[0] = attnum))) LIMIT 1";
    match answered(runtime, ANSWER, session.client.query_opt(CHANGED, &[])).map_err(unusable)? {
        None => Ok(()),
        Some(row) => Err(DatabaseError::Table(row.try_get(0).map_err(|error| of_start(&error))?)),
    }
}

fn check_level(runtime: &Handle, session: &Session) -> Result<(), DatabaseError> {
    let found = session.client.query_opt("SELECT value FROM quorate.meta WHERE name = 'level'", &[]);
    let row = match answered(runtime, ANSWER, found) {
        Ok(Some(row)) => row,
        Ok(None) => return Err(DatabaseError::OtherSchema),
        Err(StatementError::Rejected(error)) => {
            let class = error.code().and_then(|code| code.code().get(..2));
            // Syntax errors, among them missing tables and columns, except missing rights.
            let is_other = class == Some("42")
                && error.code() != Some(&tokio_postgres::error::SqlState::INSUFFICIENT_PRIVILEGE);
            return Err(if is_other { DatabaseError::OtherSchema } else { of_start(&error) });
        }
        Err(error) => return Err(unusable(error)),
    };
    let bytes: Vec<u8> = row.try_get(0).map_err(|_| DatabaseError::OtherSchema)?;
    let level = bytes.try_into().map(i64::from_be_bytes).map_err(|_| DatabaseError::OtherSchema)?;
    if [LEVEL, SHARED_LEVEL].contains(&level) { Ok(()) } else { Err(DatabaseError::Level(level)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_servers_and_settings_that_lose_commits_are_rejected() {
        let server = |number, synchronous_commit: &str| Server {
            number,
            version: "14.2".to_owned(),
            is_standby: false,
            is_read_only: false,
            encoding: "UTF8".to_owned(),
            fsync: "on".to_owned(),
            full_page_writes: "on".to_owned(),
            synchronous_commit: synchronous_commit.to_owned(),
        };
        assert_eq!(server(140_002, "on").check(), Err(DatabaseError::TooOld("14.2".to_owned())));
        for (value, is_allowed) in
            [("on", true), ("remote_apply", true), ("remote_write", false), ("local", false), ("off", false)]
        {
            assert_eq!(server(150_000, value).check().is_ok(), is_allowed, "{value}");
        }
    }

    #[test]
    fn a_clock_is_compared_with_the_time_of_the_whole_round_trip() {
        let own = (10_000, 13_000);
        assert_eq!(
            [9_000, 10_000, 12_000, 13_000, 16_000].map(|time| difference(own, time)),
            [1_000, 0, 0, 0, 3_000]
        );
        // The clock was set back during the round trip.
        assert_eq!(difference((10_000, 8_000), 7_000), 3_000);
    }
}
