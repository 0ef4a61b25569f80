//! A group as one transaction: it locks and reads what the group depends on, and then writes what was decided.
//!
//! The isolation level is READ COMMITTED with explicit row locks. With SERIALIZABLE, a signature could be committed
//! after a revocation was acknowledged, because the server may order them the other way round.

use std::collections::{BTreeMap, BTreeSet};

use quorate_core::world::Page;
use tokio::runtime::Handle;
use tokio_postgres::Statement;
use tokio_postgres::types::ToSql;

use super::errors::StatementError;
use super::rows::{Table, decode, page, value};
use super::session::{ANSWER, Sent, Session, answered, pipelined};
use super::settings::KeyClasses;
use crate::store::judge::{Replaced, Stored};
use crate::store::{Group, StoreError};

/// Number of keys that are read at once to find one with a prefix.
const KEYS: usize = 64;

/// What a group depends on.
struct Needs {
    classes: KeyClasses,
    /// Registers, and whether a batch sets them.
    registers: BTreeMap<Vec<u8>, bool>,
    /// Other keys whose values are needed.
    keys: [BTreeSet<Vec<u8>>; 2],
}

impl Needs {
    fn of(group: &Group<'_>, further: &[Vec<u8>], classes: KeyClasses) -> Self {
        let mut needs = Self { classes, registers: BTreeMap::new(), keys: Default::default() };
        for key in further {
            needs.key(key, true);
        }
        for batch in &group.batches {
            batch.expect.iter().for_each(|(key, _)| needs.key(key, false));
            batch.set.iter().for_each(|(key, _)| needs.key(key, true));
            batch.must_not_exist.iter().for_each(|key| needs.key(key, false));
            let read = batch.writes.iter().filter(|change| !change.fresh);
            read.for_each(|change| needs.key(&change.key, true));
        }
        needs
    }

    fn key(&mut self, key: &[u8], is_written: bool) {
        let keys = match Table::of(key, self.classes) {
            Table::Register => {
                *self.registers.entry(key.to_vec()).or_default() |= is_written;
                return;
            }
            Table::Record => &mut self.keys[0],
            Table::Queue => &mut self.keys[1],
        };
        if !keys.contains(key) {
            keys.insert(key.to_vec());
        }
    }

    /// Returns the registers in the order of their keys, in sections that are locked in the same way.
    fn locks(&self) -> Vec<(bool, Vec<&[u8]>)> {
        let mut sections: Vec<(bool, Vec<&[u8]>)> = Vec::new();
        for (key, is_set) in &self.registers {
            match sections.last_mut() {
                Some((last, keys)) if last == is_set => keys.push(key),
                _ => sections.push((*is_set, vec![key])),
            }
        }
        sections
    }
}

/// A transaction that has locked and read what its group depends on.
pub(super) struct Begun<'s> {
    runtime: &'s Handle,
    session: &'s Session,
    values: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
}

/// Begins the transaction of a group. Also reads `further` keys, which the group will probably write.
pub(super) fn begin<'s>(
    runtime: &'s Handle,
    session: &'s Session,
    group: &Group<'_>,
    further: &[Vec<u8>],
) -> Result<Begun<'s>, StatementError> {
    let needs = Needs::of(group, further, session.classes);
    let locks = needs.locks();
    let reads = async {
        let begin = session.statement("BEGIN").await?;
        let mut prepared = Vec::new();
        for (is_set, keys) in &locks {
            let mode = if *is_set { "NO KEY UPDATE" } else { "SHARE" };
            let text = format!(
                "SELECT key, int8send(version) FROM register WHERE key = ANY($1) ORDER BY key FOR {mode}"
            );
            prepared.push((session.statement(&text).await?, keys.clone()));
        }
        for (keys, table) in needs.keys.iter().zip([Table::Record, Table::Queue]) {
            if !keys.is_empty() {
                let keys = keys.iter().map(Vec::as_slice).collect();
                prepared.push((session.statement(&table.values()).await?, keys));
            }
        }
        let mut sent: Vec<Sent<'_, Vec<tokio_postgres::Row>>> =
            vec![Box::pin(async { session.client.query(&begin, &[]).await })];
        for (statement, keys) in &prepared {
            sent.push(Box::pin(async move { session.client.query(statement, &[keys]).await }));
        }
        let rows = pipelined(sent).await?;
        rows.iter().flatten().map(decode).collect::<Result<Vec<_>, _>>()
    };
    let rows = answered(runtime, ANSWER, reads);
    let wanted = needs.registers.into_keys().chain(needs.keys.into_iter().flatten());
    let mut values: BTreeMap<_, _> = wanted.map(|key| (key, None)).collect();
    let begun = |values| Begun { runtime, session, values };
    match rows {
        Ok(rows) => {
            values.extend(rows.into_iter().map(|(key, value)| (key, Some(value))));
            Ok(begun(values))
        }
        Err(error) => {
            begun(values).roll_back()?;
            Err(error)
        }
    }
}

impl Begun<'_> {
    /// Ends the transaction without a change.
    pub(super) fn roll_back(self) -> Result<(), StatementError> {
        answered(self.runtime, ANSWER, self.session.client.batch_execute("ROLLBACK"))
    }

    /// Writes changes and commits them, as the next group after the `last` one of this session of the daemon.
    pub(super) fn write<'g, V>(
        self,
        changes: impl Iterator<Item = (Vec<u8>, Replaced<'g, V>)>,
        daemon: &super::Daemon,
    ) -> Result<(), StatementError> {
        let mut written = [Written::default(), Written::default(), Written::default()];
        let [records, queue, registers] = &mut written;
        for (key, replaced) in changes {
            let written = match Table::of(&key, self.session.classes) {
                Table::Record => &mut *records,
                Table::Queue => &mut *queue,
                Table::Register => &mut *registers,
            };
            let was_absent = self.values.get(&key).is_some_and(Option::is_none);
            match replaced.after {
                None => written.removed.push(key),
                Some(value) if was_absent => written.created.push(key, value.into_owned()),
                Some(value) => written.replaced.push(key, value.into_owned()),
            }
        }
        let session = self.session;
        session.clear_warnings();
        answered(self.runtime, ANSWER, send(session, &written, daemon))?;
        if session.was_warned() {
            // The commit is visible, but a standby may not have it.
            return Err(StatementError::Lost("the database server warned about a commit".to_owned()));
        }
        Ok(())
    }
}

/// Keys, and their values in the same order.
#[derive(Default)]
struct Columns {
    keys: Vec<Vec<u8>>,
    values: Vec<Vec<u8>>,
}

impl Columns {
    fn push(&mut self, key: Vec<u8>, value: Vec<u8>) {
        self.keys.push(key);
        self.values.push(value);
    }
}

/// What is written to a table.
#[derive(Default)]
struct Written {
    created: Columns,
    replaced: Columns,
    removed: Vec<Vec<u8>>,
}

async fn send(
    session: &Session,
    written: &[Written; 3],
    daemon: &super::Daemon,
) -> Result<(), tokio_postgres::Error> {
    // The division fails, and with it the transaction, unless this session is the current one of the daemon.
    const MARK: &str = "WITH marked AS (UPDATE daemon SET last_group = $3::int8, seen = clock_timestamp() \
        WHERE id = $1::text::uuid AND session = $2::int8 AND last_group = $3::int8 - 1 RETURNING 1) \
        SELECT 1 / count(*) FROM marked";
    let mut prepared: Vec<(Statement, Vec<&(dyn ToSql + Sync)>)> = Vec::new();
    for (table, written) in Table::ALL.iter().zip(written) {
        let name = table.name();
        let (column, value) = match table {
            Table::Register => ("version", "('x' || encode(value, 'hex'))::bit(64)::int8"),
            Table::Record | Table::Queue => ("value", "value"),
        };
        let insert = format!(
            "INSERT INTO {name} (key, {column}) SELECT key, {value} \
             FROM unnest($1::bytea[], $2::bytea[]) AS new (key, value)"
        );
        if !written.created.keys.is_empty() {
            let parameters: [&(dyn ToSql + Sync); 2] = [&written.created.keys, &written.created.values];
            prepared.push((session.statement(&insert).await?, parameters.into()));
        }
        if !written.replaced.keys.is_empty() {
            let upsert = format!("{insert} ON CONFLICT (key) DO UPDATE SET {column} = excluded.{column}");
            let parameters: [&(dyn ToSql + Sync); 2] = [&written.replaced.keys, &written.replaced.values];
            prepared.push((session.statement(&upsert).await?, parameters.into()));
        }
        if !written.removed.is_empty() {
            let delete = format!("DELETE FROM {name} WHERE key = ANY($1)");
            let parameters: [&(dyn ToSql + Sync); 1] = [&written.removed];
            prepared.push((session.statement(&delete).await?, parameters.into()));
        }
    }
    let next = daemon.last_group.saturating_add(1);
    let mark: [&(dyn ToSql + Sync); 3] = [&daemon.id, &daemon.session, &next];
    prepared.push((session.statement(MARK).await?, mark.into()));
    let commit = session.statement("COMMIT").await?;
    let mut sent: Vec<Sent<'_, u64>> = Vec::new();
    for (statement, parameters) in &prepared {
        sent.push(Box::pin(async move { session.client.execute(statement, parameters).await }));
    }
    // After a failed statement, this only ends the transaction. It then reports no error itself.
    sent.push(Box::pin(async { session.client.execute(&commit, &[]).await }));
    pipelined(sent).await.map(drop)
}

impl Stored for Begun<'_> {
    type Value = Vec<u8>;

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        if let Some(known) = self.values.get(key) {
            return Ok(known.clone());
        }
        let read = answered(self.runtime, ANSWER, value(self.session, key));
        read.map_err(|error| error.failed("reading a record"))
    }

    fn exists(&self, key: &[u8]) -> Result<bool, StoreError> {
        Ok(self.get(key)?.is_some())
    }

    fn any_key(&self, prefix: &[u8], matches: &mut dyn FnMut(&[u8]) -> bool) -> Result<bool, StoreError> {
        let mut after: Option<Vec<u8>> = None;
        loop {
            let wanted = Page { after: after.as_deref(), ..Page::first(prefix, KEYS) };
            let read = answered(self.runtime, ANSWER, page(self.session, wanted, false));
            let rows = read.map_err(|error| error.failed("reading a range"))?;
            let Some((last, _)) = rows.last() else { return Ok(false) };
            if rows.iter().any(|(key, _)| matches(key)) {
                return Ok(true);
            }
            after = Some(last.clone());
        }
    }
}
