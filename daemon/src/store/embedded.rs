//! The embedded store: the only room that names sled.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::ops::Bound;
use std::path::Path;
use std::sync::Mutex;

use quorate_core::world::{Order, Page};

use crate::cache::TwoGenerations;

use super::{Batch, Row, Store, StoreError, Verdict, durable};

/// What sled may keep in its page cache, in bytes as stored; in memory it takes some two and a half times that.
const CACHE: u64 = 16 * 1024 * 1024;

/// How many registers are kept in memory.
const REGISTERS: usize = 4096;

/// A store in a folder.
pub struct Embedded {
    db: sled::Db,
    /// Registers as of the last group, held by whoever commits.
    registers: Mutex<TwoGenerations<Vec<u8>, u64>>,
}

impl Embedded {
    /// Opens the store in this folder, which is created if it is missing.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        durable::demand_fsync()?;
        let name = folder.display().to_string();
        settle(folder).map_err(|cause| StoreError::Failed { doing: "making the store", cause })?;
        let config = sled::Config::new().path(folder).flush_every_ms(None).cache_capacity(CACHE);
        // A damaged log makes sled panic, so it is opened where a panic can be caught.
        let opened = std::thread::spawn(move || config.open()).join();
        let damaged = |cause: String| StoreError::Damaged { folder: name.clone(), cause };
        match opened {
            Ok(Ok(db)) => Ok(Self { db, registers: Mutex::new(TwoGenerations::new(REGISTERS)) }),
            Ok(Err(error)) if error.to_string().contains("could not acquire lock") => {
                Err(StoreError::InUse(name))
            }
            Ok(Err(error)) => Err(damaged(error.to_string())),
            Err(_) => Err(damaged("its log is damaged".to_owned())),
        }
    }

    fn scan<T>(
        &self,
        page: Page<'_>,
        take: impl Fn(sled::IVec, sled::IVec) -> T,
    ) -> Result<Vec<T>, StoreError> {
        let (start, end) = bounds(&page);
        let empty = match (&start, &end) {
            (Bound::Excluded(start) | Bound::Included(start), Bound::Excluded(end)) => start >= end,
            _ => false,
        };
        if empty {
            return Ok(Vec::new());
        }
        let range = self.db.range((start, end));
        let read = |row: sled::Result<(sled::IVec, sled::IVec)>| {
            row.map(|(key, value)| take(key, value)).map_err(|error| failed("reading a range", &error))
        };
        match page.order {
            Order::Ascending => range.take(page.limit).map(read).collect(),
            Order::Descending => range.rev().take(page.limit).map(read).collect(),
        }
    }
}

/// Gives a folder without sled's settings file that file, whole or not at all. sled writes it in two steps, and
/// refuses a store whose settings end after the first; so a store inside this folder writes it, and it is renamed.
fn settle(folder: &Path) -> Result<(), String> {
    let settings = folder.join("conf");
    if settings.exists() {
        return Ok(());
    }
    let scratch = folder.join("conf.new");
    let said = |error: std::io::Error| error.to_string();
    let clear = || match fs::remove_dir_all(&scratch) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(said(error)),
        _ => Ok(()),
    };
    clear()?;
    fs::create_dir_all(folder).map_err(said)?;
    let config = sled::Config::new().path(&scratch).temporary(true).flush_every_ms(None);
    let db = config.open().map_err(|error| error.to_string())?;
    let written = scratch.join("conf");
    fs::File::open(&written).and_then(|file| file.sync_all()).map_err(said)?;
    fs::rename(&written, &settings).map_err(said)?;
    drop(db);
    // Threads of sled may hold it a little longer.
    clear()?;
    fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(said)
}

fn failed(doing: &'static str, error: &sled::Error) -> StoreError {
    StoreError::Failed { doing, cause: error.to_string() }
}

/// The bounds of a page: within the prefix, behind the cursor.
fn bounds(page: &Page<'_>) -> (Bound<Vec<u8>>, Bound<Vec<u8>>) {
    let first = page.prefix.to_vec();
    let beyond = successor(page.prefix).map_or(Bound::Unbounded, Bound::Excluded);
    match (page.after, page.order) {
        (None, _) => (Bound::Included(first), beyond),
        (Some(after), Order::Ascending) => (Bound::Excluded(after.max(page.prefix).to_vec()), beyond),
        (Some(after), Order::Descending) => (Bound::Included(first), Bound::Excluded(after.to_vec())),
    }
}

/// The smallest key that is larger than all keys with this prefix.
fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let mut key = prefix.to_vec();
    while let Some(last) = key.pop() {
        if let Some(next) = last.checked_add(1) {
            key.push(next);
            return Some(key);
        }
    }
    None
}

fn number(bytes: &[u8]) -> Result<u64, StoreError> {
    let bytes = bytes.try_into().map_err(|_| StoreError::Failed {
        doing: "reading a register",
        cause: "it does not have eight bytes".to_owned(),
    })?;
    Ok(u64::from_be_bytes(bytes))
}

impl Store for Embedded {
    fn value(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        let value = self.db.get(key).map_err(|error| failed("reading a record", &error))?;
        Ok(value.map(|value| value.to_vec()))
    }

    fn rows(&self, page: Page<'_>) -> Result<Vec<Row>, StoreError> {
        self.scan(page, |key, value| (key.to_vec(), value.to_vec()))
    }

    fn keys(&self, page: Page<'_>) -> Result<Vec<Vec<u8>>, StoreError> {
        self.scan(page, |key, _| key.to_vec())
    }

    fn register(&self, key: &[u8]) -> Result<u64, StoreError> {
        self.value(key)?.map_or(Ok(0), |bytes| number(&bytes))
    }

    fn commit(&self, group: &[Batch]) -> Result<Vec<Verdict>, StoreError> {
        let mut known = self.registers.lock().map_err(|_| StoreError::Failed {
            doing: "beginning a group",
            cause: "an earlier one did not end".to_owned(),
        })?;
        let mut judge = Judge {
            store: self,
            known: &mut known,
            registers: HashMap::new(),
            written: HashSet::new(),
            removed: HashSet::new(),
        };
        let mut all = sled::Batch::default();
        let mut verdicts = Vec::with_capacity(group.len());
        for batch in group {
            let verdict = judge.judge(batch)?;
            if verdict == Verdict::Done {
                judge.take(batch);
                for (key, value) in &batch.set {
                    all.insert(key.as_slice(), &value.to_be_bytes());
                }
                for (key, value) in &batch.writes {
                    match value {
                        Some(value) => all.insert(key.as_slice(), value.as_slice()),
                        None => all.remove(key.as_slice()),
                    }
                }
            }
            verdicts.push(verdict);
        }
        self.db.apply_batch(all).map_err(|error| failed("writing a group", &error))?;
        self.db.flush().map_err(|error| failed("making a group durable", &error))?;
        let Judge { known, registers, .. } = judge;
        for (key, value) in registers {
            known.keep(key.to_vec(), value);
        }
        Ok(verdicts)
    }
}

/// Judges batches against the store and the batches before them in the group.
struct Judge<'a> {
    store: &'a Embedded,
    known: &'a mut TwoGenerations<Vec<u8>, u64>,
    registers: HashMap<&'a [u8], u64>,
    written: HashSet<&'a [u8]>,
    removed: HashSet<&'a [u8]>,
}

impl<'a> Judge<'a> {
    fn judge(&mut self, batch: &'a Batch) -> Result<Verdict, StoreError> {
        for (key, expected) in &batch.expect {
            if self.register(key)? != *expected {
                return Ok(Verdict::Clash);
            }
        }
        for key in &batch.absent {
            let key = key.as_slice();
            let there = self.written.contains(key)
                || (!self.removed.contains(key)
                    && self
                        .store
                        .db
                        .contains_key(key)
                        .map_err(|error| failed("reading a record", &error))?);
            if there {
                return Ok(Verdict::Clash);
            }
        }
        for prefix in &batch.vacant {
            if !self.is_vacant(prefix)? {
                return Ok(Verdict::Clash);
            }
        }
        Ok(Verdict::Done)
    }

    /// Whether no key begins so, behind the batches before.
    fn is_vacant(&self, prefix: &[u8]) -> Result<bool, StoreError> {
        if self.written.iter().any(|key| key.starts_with(prefix)) {
            return Ok(false);
        }
        for key in self.store.db.scan_prefix(prefix).keys() {
            let key = key.map_err(|error| failed("reading a record", &error))?;
            if !self.removed.contains(key.as_ref()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn register(&mut self, key: &'a [u8]) -> Result<u64, StoreError> {
        let present = match self.registers.get(key) {
            Some(present) => return Ok(*present),
            None => self.known.value(key),
        };
        let present = present.map_or_else(|| self.store.register(key), Ok)?;
        self.registers.insert(key, present);
        Ok(present)
    }

    fn take(&mut self, batch: &'a Batch) {
        self.registers.extend(batch.set.iter().map(|(key, value)| (key.as_slice(), *value)));
        for (key, value) in &batch.writes {
            let key = key.as_slice();
            if value.is_some() {
                self.written.insert(key);
                self.removed.remove(key);
            } else {
                self.removed.insert(key);
                self.written.remove(key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    /// Opens a store that this process had open: threads of sled hold its lock a little longer.
    fn reopened(folder: &Path) -> Result<Embedded, StoreError> {
        loop {
            match Embedded::open(folder) {
                Err(StoreError::InUse(_)) => std::thread::yield_now(),
                other => return other,
            }
        }
    }

    #[test]
    fn keeps_the_contract() {
        let folder = tempfile::tempdir().unwrap();
        super::super::contract::check(&|| Box::new(reopened(folder.path()).unwrap()));
    }

    #[test]
    fn a_second_opener_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let _first = Embedded::open(folder.path()).unwrap();
        assert!(matches!(Embedded::open(folder.path()), Err(StoreError::InUse(_))));
    }

    #[test]
    fn a_damaged_log_is_told_and_does_not_panic() {
        let folder = tempfile::tempdir().unwrap();
        drop(Embedded::open(folder.path()).unwrap());
        std::fs::write(folder.path().join("conf"), [b'x'; 100]).unwrap();
        assert!(matches!(reopened(folder.path()), Err(StoreError::Damaged { .. })));
    }

    #[test]
    fn an_interrupted_creation_can_be_done_again() {
        let data = tempfile::tempdir().unwrap();
        let (folder, scratch) = (data.path().join("store"), data.path().join("store/conf.new"));
        fs::create_dir_all(&scratch).unwrap();
        fs::write(scratch.join("conf"), b"segment_size: 524288\nversion: 0.34\n").unwrap();
        drop(Embedded::open(&folder).unwrap());
        assert!(folder.join("conf").exists() && !scratch.exists());
    }
}
