//! Judges batches against the database and the batches before them in the group.

use std::collections::{HashMap, HashSet};

use super::super::{Batch, Verdict};
use crate::cache::TwoGenerations;

/// The state that the next batch of a group finds.
pub(super) struct Judge<'a> {
    db: &'a sled::Db,
    known: &'a mut TwoGenerations<Vec<u8>, u64>,
    registers: HashMap<&'a [u8], u64>,
    written: HashSet<&'a [u8]>,
    removed: HashSet<&'a [u8]>,
}

impl<'a> Judge<'a> {
    pub(super) fn new(db: &'a sled::Db, known: &'a mut TwoGenerations<Vec<u8>, u64>) -> Self {
        Self { db, known, registers: HashMap::new(), written: HashSet::new(), removed: HashSet::new() }
    }

    /// Judges the next batch, whose changes the following ones find if it is done.
    pub(super) fn judge(&mut self, batch: &'a Batch) -> sled::Result<Verdict> {
        let holds = self.holds(batch)?;
        if holds {
            self.take(batch);
        }
        Ok(if holds { Verdict::Done } else { Verdict::Clash })
    }

    /// The registers that were looked at, as the group leaves them.
    pub(super) fn registers(self) -> Vec<(Vec<u8>, u64)> {
        self.registers.into_iter().map(|(key, value)| (key.to_vec(), value)).collect()
    }

    fn holds(&mut self, batch: &'a Batch) -> sled::Result<bool> {
        for (key, expected) in &batch.expect {
            if self.register(key)? != *expected {
                return Ok(false);
            }
        }
        for key in &batch.absent {
            let key = key.as_slice();
            let exists =
                self.written.contains(key) || (!self.removed.contains(key) && self.db.contains_key(key)?);
            if exists {
                return Ok(false);
            }
        }
        for prefix in &batch.vacant {
            if !self.is_vacant(prefix)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether no key has this prefix after the batches before.
    fn is_vacant(&self, prefix: &[u8]) -> sled::Result<bool> {
        if self.written.iter().any(|key| key.starts_with(prefix)) {
            return Ok(false);
        }
        for key in self.db.scan_prefix(prefix).keys() {
            if !self.removed.contains(key?.as_ref()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn register(&mut self, key: &'a [u8]) -> sled::Result<u64> {
        if let Some(present) = self.registers.get(key) {
            return Ok(*present);
        }
        let present = match self.known.value(key) {
            Some(present) => present,
            None => self.stored(key)?,
        };
        self.registers.insert(key, present);
        Ok(present)
    }

    fn stored(&self, key: &[u8]) -> sled::Result<u64> {
        let Some(bytes) = self.db.get(key)? else { return Ok(0) };
        let bytes = bytes.as_ref().try_into();
        let bytes =
            bytes.map_err(|_| sled::Error::Unsupported("a register does not have eight bytes".to_owned()))?;
        Ok(u64::from_be_bytes(bytes))
    }

    fn take(&mut self, batch: &'a Batch) {
        self.registers.extend(batch.set.iter().map(|(key, value)| (key.as_slice(), *value)));
        for change in &batch.writes {
            let key = change.key.as_slice();
            if change.value.is_some() {
                self.written.insert(key);
                self.removed.remove(key);
            } else {
                self.removed.insert(key);
                self.written.remove(key);
            }
        }
    }
}
