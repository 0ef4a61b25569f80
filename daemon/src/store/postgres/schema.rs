//! The tables of a store, and what a server must fulfil to be used: its version, its settings and its encoding.

use tokio::runtime::Handle;

use super::daemon::SHARED_LEVEL;
use super::errors::{DatabaseError, StatementError, of_connecting, unusable};
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
        build text NOT NULL, level int NOT NULL, seen timestamptz NOT NULL);
    CREATE TABLE meta (name text PRIMARY KEY, value bytea NOT NULL);
    INSERT INTO meta VALUES ('level', int8send(1)), ('unused', '');
    INSERT INTO meta SELECT 'timeline', int8send(('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int8);
";
/// The table of notices, which the first stores did not have. A database that was restored on another server may contain rows
/// with the numbers of coming transactions.
const FEED: &str = "CREATE TABLE IF NOT EXISTS quorate.feed (xid xid8 NOT NULL DEFAULT pg_current_xact_id(), \
    origin uuid NOT NULL, body bytea NOT NULL, at timestamptz NOT NULL DEFAULT now()); \
    CREATE INDEX IF NOT EXISTS feed_xid ON quorate.feed (xid)";

/// Checks the server, and creates the tables if they may be missing.
pub(super) fn prepare(
    runtime: &Handle,
    session: &Session,
    existence: Existence,
) -> Result<(), DatabaseError> {
    check_server(runtime, session)?;
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
    run(FEED)
}

/// Checks that the clock of this machine agrees with that of the server, by which the daemons of a store agree with each other.
pub(super) fn check_clock(runtime: &Handle, session: &Session) -> Result<(), DatabaseError> {
    const CLOCK: &str = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::int8";
    let begun = clock::system();
    let row = answered(runtime, ANSWER, session.client.query_one(CLOCK, &[])).map_err(unusable)?;
    check_time(begun, row.try_get(0).map_err(|error| of_connecting(&error))?)
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
    answered(runtime, ANSWER, found).map_err(unusable)?.try_get(0).map_err(|error| of_connecting(&error))
}

fn check_server(runtime: &Handle, session: &Session) -> Result<(), DatabaseError> {
    const QUESTION: &str = "SELECT current_setting('server_version_num')::int4, current_setting('server_version'), \
        pg_is_in_recovery(), current_setting('transaction_read_only') = 'on', current_setting('server_encoding'), \
        current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit')";
    let row = answered(runtime, ANSWER, session.client.query_one(QUESTION, &[])).map_err(unusable)?;
    let broken = |error: tokio_postgres::Error| of_connecting(&error);
    let text = |column: usize| row.try_get::<_, String>(column).map_err(broken);
    if row.try_get::<_, i32>(0).map_err(broken)? < OLDEST {
        return Err(DatabaseError::TooOld(text(1)?));
    }
    if row.try_get(2).map_err(broken)? {
        return Err(DatabaseError::Standby);
    }
    if row.try_get(3).map_err(broken)? {
        return Err(DatabaseError::ReadOnly);
    }
    let encoding = text(4)?;
    if encoding != "UTF8" {
        return Err(DatabaseError::Encoding(encoding));
    }
    let settings: [(usize, &str, &[&str]); 3] = [
        (5, "fsync", &["on"]),
        (6, "full_page_writes", &["on"]),
        (7, "synchronous_commit", &["on", "remote_apply"]),
    ];
    for (column, name, allowed) in settings {
        let value = text(column)?;
        if !allowed.contains(&value.as_str()) {
            return Err(DatabaseError::Setting { name: name.to_owned(), value, required: "on" });
        }
    }
    Ok(())
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
            return Err(if is_other { DatabaseError::OtherSchema } else { of_connecting(&error) });
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
