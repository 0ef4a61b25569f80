//! A group as one transaction: it locks and reads what the group depends on, and then writes what was decided.
//!
//! The isolation level is READ COMMITTED with explicit locks. With SERIALIZABLE, a signature could be committed after a
//! revocation was acknowledged, because the server may order them the other way round.
//!
//! All daemons lock in the same order, so that none waits for one that waits for it: registers that are expected to be
//! zero, then the rows of registers, of records and of queues, each in the order of their keys.

use std::collections::{BTreeMap, BTreeSet};

use quorate_core::world::Page;
use sha2::{Digest, Sha256};
use tokio::runtime::Handle;
use tokio_postgres::Statement;
use tokio_postgres::types::ToSql;

use super::daemon::Daemon;
use super::errors::StatementError;
use super::rows::{Lock, Table, decode, page, value};
use super::session::{ANSWER, Sent, Session, answered, pipelined};
use super::settings::KeyClasses;
use crate::store::judge::{Replaced, Stored};
use crate::store::{Group, StoreError};

/// Number of keys that are read at once to find one with a prefix.
const KEYS: usize = 64;
/// Takes advisory locks of the transaction, in the order of their numbers.
const ZERO_LOCKS: &str = "SELECT pg_advisory_xact_lock(number) FROM unnest($1::int8[]) AS lock (number)";

/// What a group depends on.
struct Needs {
    classes: KeyClasses,
    /// Registers, and whether a batch sets them.
    registers: BTreeMap<Vec<u8>, bool>,
    /// Registers that are expected to be zero, which usually have no row that could be locked.
    zero: BTreeSet<Vec<u8>>,
    /// Records and entries of queues whose values are needed, and whether they are written.
    keys: [BTreeMap<Vec<u8>, bool>; 2],
}

impl Needs {
    fn of(group: &Group<'_>, further: &[Vec<u8>], classes: KeyClasses) -> Self {
        let mut needs =
            Self { classes, registers: BTreeMap::new(), zero: BTreeSet::new(), keys: Default::default() };
        for key in further {
            needs.key(key, true);
        }
        for batch in &group.batches {
            batch.expect.iter().for_each(|(key, _)| needs.key(key, false));
            let zero = batch.expect.iter().filter(|(_, version)| *version == 0);
            needs.zero.extend(zero.map(|(key, _)| key.clone()));
            batch.set.iter().for_each(|(key, _)| needs.key(key, true));
            batch.must_not_exist.iter().for_each(|key| needs.key(key, false));
            // Who depends on a value also replaces it.
            batch.must_equal.iter().for_each(|(key, _)| needs.key(key, true));
            let read = batch.writes.iter().filter(|change| !change.fresh);
            read.for_each(|change| needs.key(&change.key, true));
        }
        needs
    }

    fn key(&mut self, key: &[u8], is_written: bool) {
        let keys = match Table::of(key, self.classes) {
            Table::Register => &mut self.registers,
            Table::Record => &mut self.keys[0],
            Table::Queue => &mut self.keys[1],
        };
        match keys.get_mut(key) {
            Some(known) => *known |= is_written,
            None => drop(keys.insert(key.to_vec(), is_written)),
        }
    }

    /// Returns the numbers of the advisory locks for registers that are expected to be zero, in order. Who changes such a
    /// register expects it to be zero as well.
    fn zero_locks(&self) -> Vec<i64> {
        let number = |key: &Vec<u8>| {
            let digest: [u8; 32] = Sha256::digest(key).into();
            digest.first_chunk().map_or(0, |first| i64::from_be_bytes(*first))
        };
        self.zero.iter().map(number).collect::<BTreeSet<i64>>().into_iter().collect()
    }

    /// Returns the statements that lock and read everything, in order, each with its keys.
    fn reads(&self) -> Vec<(String, Vec<&[u8]>)> {
        let mut reads: Vec<(String, Vec<&[u8]>)> = Vec::new();
        let mut last = None;
        for (key, is_set) in &self.registers {
            match reads.last_mut() {
                Some((_, keys)) if last == Some(*is_set) => keys.push(key),
                _ => {
                    let lock = if *is_set { Lock::Exclusive } else { Lock::Shared };
                    reads.push((Table::Register.locked(lock), vec![key]));
                }
            }
            last = Some(*is_set);
        }
        for (keys, table) in self.keys.iter().zip([Table::Record, Table::Queue]) {
            for (is_written, text) in [(true, table.locked(Lock::Exclusive)), (false, table.values())] {
                let keys: Vec<&[u8]> = keys
                    .iter()
                    .filter(|(_, written)| **written == is_written)
                    .map(|(key, _)| key.as_slice())
                    .collect();
                if !keys.is_empty() {
                    reads.push((text, keys));
                }
            }
        }
        reads
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
    let (locks, wanted) = (needs.zero_locks(), needs.reads());
    let reads = async {
        let begin = session.statement("BEGIN").await?;
        let mut prepared = Vec::new();
        for (text, keys) in &wanted {
            prepared.push((session.statement(text).await?, keys));
        }
        let lock = if locks.is_empty() { None } else { Some(session.statement(ZERO_LOCKS).await?) };
        let mut sent: Vec<Sent<'_, Vec<tokio_postgres::Row>>> =
            vec![Box::pin(async { session.client.query(&begin, &[]).await })];
        if let Some(lock) = &lock {
            sent.push(Box::pin(async { session.client.execute(lock, &[&locks]).await.map(|_| Vec::new()) }));
        }
        for (statement, keys) in &prepared {
            sent.push(Box::pin(async move { session.client.query(statement, &[keys]).await }));
        }
        let rows = pipelined(sent).await?;
        rows.iter().flatten().map(decode).collect::<Result<Vec<_>, _>>()
    };
    let rows = answered(runtime, ANSWER, reads);
    let [records, queue] = needs.keys;
    let keys = needs.registers.into_keys().chain(records.into_keys()).chain(queue.into_keys());
    let mut values: BTreeMap<_, _> = keys.map(|key| (key, None)).collect();
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
        notice: Option<&[u8]>,
        daemon: &Daemon,
        term: Option<u32>,
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
                // Another daemon may have created it since. That row stays.
                None if was_absent => {}
                None => written.removed.push(key),
                Some(value) if was_absent => written.created.push(key, value.into_owned()),
                Some(value) => written.replaced.push(key, value.into_owned()),
            }
        }
        let session = self.session;
        session.clear_warnings();
        answered(self.runtime, ANSWER, send(session, &written, notice, (daemon, term)))?;
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
    notice: Option<&[u8]>,
    (daemon, term): (&Daemon, Option<u32>),
) -> Result<(), tokio_postgres::Error> {
    // The division fails, and with it the transaction, unless this session is the current one of the daemon, the term of
    // the group has not ended, and the commit will be durable.
    const MARK: &str = "WITH marked AS (UPDATE daemon SET last_group = $3::int8, seen = clock_timestamp() \
        WHERE id = $1::text::uuid AND session = $2::int8 AND last_group = $3::int8 - 1 AND term <= $4::int8 RETURNING 1) \
        SELECT 1 / (count(*) * (current_setting('fsync') = 'on' AND current_setting('full_page_writes') = 'on')::int) \
        FROM marked";
    const NOTICE: &str = "INSERT INTO feed (origin, body) VALUES ($1::text::uuid, $2)";
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
    let notice: Option<[&(dyn ToSql + Sync); 2]> =
        notice.as_ref().map(|notice| [&daemon.id as _, notice as _]);
    if let Some(parameters) = notice {
        prepared.push((session.statement(NOTICE).await?, parameters.into()));
    }
    let next = daemon.last_group.saturating_add(1);
    let term = term.map_or(i64::MAX, i64::from);
    let mark: [&(dyn ToSql + Sync); 4] = [&daemon.id, &daemon.session, &next, &term];
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
