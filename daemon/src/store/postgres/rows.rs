//! Where records are: the table of a key, and reads of keys and ranges.

use std::ops::Bound;

use quorate_core::world::{Order, Page};

use super::session::Session;
use super::settings::KeyClasses;
use crate::store::Row;
use crate::store::range::bounds;

/// Sets the header of a store that has one, or was never used. A store that lost its header gets no other one, which would make
/// its records unreadable.
pub(super) const SET_HEADER: &str = "WITH begun AS (DELETE FROM meta WHERE name = 'unused' RETURNING 1) \
    INSERT INTO meta (name, value) SELECT 'header', $1 \
    WHERE EXISTS (SELECT FROM begun) OR EXISTS (SELECT FROM meta WHERE name = 'header') \
    ON CONFLICT (name) DO UPDATE SET value = excluded.value";

/// How rows are locked until the end of a transaction.
#[derive(Debug, Clone, Copy)]
pub(super) enum Lock {
    /// Nobody else may change or lock them.
    Exclusive,
    /// Nobody may change them.
    Shared,
}

/// A table of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Table {
    /// Records that are seldom replaced.
    Record,
    /// Queues, whose records are replaced and removed often.
    Queue,
    /// Registers.
    Register,
}

impl Table {
    pub(super) const ALL: [Self; 3] = [Self::Record, Self::Queue, Self::Register];

    /// Returns the table of a key.
    pub(super) fn of(key: &[u8], classes: KeyClasses) -> Self {
        match key.first() {
            Some(first) if classes.queues.contains(first) => Self::Queue,
            Some(first) if *first == classes.registers => Self::Register,
            _ => Self::Record,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::Queue => "queue",
            Self::Register => "register",
        }
    }

    /// Returns the expression for the value as bytes.
    const fn value(self) -> &'static str {
        match self {
            Self::Record | Self::Queue => "value",
            Self::Register => "int8send(version)",
        }
    }

    /// Returns the statement that reads the values of keys.
    pub(super) fn values(self) -> String {
        format!("SELECT key, {} FROM {} WHERE key = ANY($1)", self.value(), self.name())
    }

    /// Returns the statement that reads the values of keys, each with a time of the server after the begin of the read. Without any
    /// value, the only row has the time.
    pub(super) fn timed_values(self) -> String {
        format!(
            "SELECT key, {}, (extract(epoch FROM clock_timestamp()) * 1000)::int8 \
             FROM (VALUES (1)) AS one LEFT JOIN {} ON key = ANY($1)",
            self.value(),
            self.name()
        )
    }

    /// Returns the statement that locks rows in the order of their keys, and reads their values.
    pub(super) fn locked(self, lock: Lock) -> String {
        let mode = match lock {
            Lock::Exclusive => "NO KEY UPDATE",
            Lock::Shared => "SHARE",
        };
        format!("{} ORDER BY key FOR {mode}", self.values())
    }

    /// Returns the statement that reads a range of keys: from the first, below the second if it `ends`.
    fn range(self, order: Order, ends: bool, values: bool) -> String {
        let order = if order == Order::Ascending { "ASC" } else { "DESC" };
        let end = if ends { " AND key < $3" } else { "" };
        let value = if values { self.value() } else { "''::bytea" };
        format!(
            "SELECT key, {value} AS value FROM {} WHERE key >= $1{end} ORDER BY key {order} LIMIT $2",
            self.name()
        )
    }
}

/// Decodes a row with a key and a value.
pub(super) fn decode(row: &tokio_postgres::Row) -> Result<Row, tokio_postgres::Error> {
    Ok((row.try_get(0)?, row.try_get(1)?))
}

/// Reads the value of a key.
pub(super) async fn value(session: &Session, key: &[u8]) -> Result<Option<Vec<u8>>, tokio_postgres::Error> {
    let statement = session.statement(&Table::of(key, session.classes).values()).await?;
    let row = session.client.query_opt(&statement, &[&[key].as_slice()]).await?;
    row.map(|row| row.try_get(1)).transpose()
}

/// Reads the rows of a page, with empty values unless they are requested.
pub(super) async fn page(
    session: &Session,
    page: Page<'_>,
    values: bool,
) -> Result<Vec<Row>, tokio_postgres::Error> {
    let Some((start, end)) = bounds(&page) else { return Ok(Vec::new()) };
    let start = match start {
        Bound::Included(start) => start,
        // The smallest key that is greater.
        Bound::Excluded(mut start) => {
            start.push(0);
            start
        }
        Bound::Unbounded => Vec::new(),
    };
    let end = match end {
        Bound::Excluded(end) => Some(end),
        Bound::Included(_) | Bound::Unbounded => None,
    };
    let limit = i64::try_from(page.limit).unwrap_or(i64::MAX);
    let tables =
        if page.prefix.is_empty() { &Table::ALL[..] } else { &[Table::of(page.prefix, session.classes)] };
    let parts: Vec<String> =
        tables.iter().map(|table| format!("({})", table.range(page.order, end.is_some(), values))).collect();
    let text = if let [one] = parts.as_slice() {
        one.clone()
    } else {
        let order = if page.order == Order::Ascending { "ASC" } else { "DESC" };
        format!("{} ORDER BY key {order} LIMIT $2", parts.join(" UNION ALL "))
    };
    let statement = session.statement(&text).await?;
    let rows = match &end {
        Some(end) => session.client.query(&statement, &[&start, &limit, end]).await?,
        None => session.client.query(&statement, &[&start, &limit]).await?,
    };
    rows.iter().map(decode).collect()
}

/// Reads the header of the store.
pub(super) async fn header(session: &Session) -> Result<Option<Vec<u8>>, tokio_postgres::Error> {
    let row = session.client.query_opt("SELECT value FROM meta WHERE name = 'header'", &[]).await?;
    row.map(|row| row.try_get(0)).transpose()
}
