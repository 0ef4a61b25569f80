//! Checks the conditions of batches against the database and earlier batches of the group, and collects what
//! the group writes.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;

use super::super::{Batch, BatchOutcome, Change, Changed, LONGEST_VALUE, StoreError};
use crate::cache::TwoGenerations;

/// Builds a group: the state that its next batch sees, and what it writes.
pub(super) struct GroupBuilder<'db, 'a> {
    db: &'db sled::Db,
    known: &'db mut TwoGenerations<Vec<u8>, u64>,
    registers: HashMap<&'a [u8], u64>,
    write: Write<'a>,
}

impl<'db, 'a> GroupBuilder<'db, 'a> {
    pub(super) fn new(db: &'db sled::Db, known: &'db mut TwoGenerations<Vec<u8>, u64>) -> Self {
        Self { db, known, registers: HashMap::new(), write: Write::default() }
    }

    /// Adds the next batch if its conditions hold. The following batches then see its changes.
    pub(super) fn add(&mut self, batch: &'a Batch) -> sled::Result<BatchOutcome> {
        if !self.holds(batch)? {
            return Ok(BatchOutcome::Clash);
        }
        self.registers.extend(batch.set.iter().map(|(key, value)| (key.as_slice(), *value)));
        self.write.add_batch(self.db, batch)?;
        Ok(BatchOutcome::Done)
    }

    /// Returns the registers that were read or set, with their values after the group, and what the group
    /// writes.
    pub(super) fn finish(self) -> (Vec<(Vec<u8>, u64)>, Write<'a>) {
        (self.registers.into_iter().map(|(key, value)| (key.to_vec(), value)).collect(), self.write)
    }

    fn holds(&mut self, batch: &'a Batch) -> sled::Result<bool> {
        for (key, expected) in &batch.expect {
            if self.register(key)? != *expected {
                return Ok(false);
            }
        }
        for key in &batch.must_not_exist {
            if self.write.exists_after(key).map_or_else(|| self.db.contains_key(key), Ok)? {
                return Ok(false);
            }
        }
        for prefix in &batch.must_be_empty {
            if !self.is_empty(prefix)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns whether no key has this prefix after the earlier batches.
    fn is_empty(&self, prefix: &[u8]) -> sled::Result<bool> {
        if self.write.any_exists_after(prefix) {
            return Ok(false);
        }
        for key in self.db.scan_prefix(prefix).keys() {
            if self.write.exists_after(&key?) != Some(false) {
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
}

/// The changes of a group, by key.
#[derive(Default)]
pub(super) struct Write<'g>(BTreeMap<&'g [u8], Replaced<'g>>);

/// The values of a record before and after a group; `None` if there is no record.
struct Replaced<'g> {
    before: Option<sled::IVec>,
    after: Option<Cow<'g, [u8]>>,
}

impl<'g> Write<'g> {
    fn add_batch(&mut self, db: &sled::Db, batch: &'g Batch) -> sled::Result<()> {
        for (key, value) in &batch.set {
            self.add(db, key, Some(Cow::Owned(value.to_be_bytes().to_vec())), false)?;
        }
        batch.writes.iter().try_for_each(|change| self.change(db, change))
    }

    pub(super) fn change(&mut self, db: &sled::Db, change: &'g Change) -> sled::Result<()> {
        self.add(db, &change.key, change.value.as_deref().map(Cow::Borrowed), change.fresh)
    }

    fn add(
        &mut self,
        db: &sled::Db,
        key: &'g [u8],
        after: Option<Cow<'g, [u8]>>,
        fresh: bool,
    ) -> sled::Result<()> {
        if let Some(replaced) = self.0.get_mut(key) {
            replaced.after = after;
            return Ok(());
        }
        let before = if fresh { None } else { db.get(key)? };
        self.0.insert(key, Replaced { before, after });
        Ok(())
    }

    /// Returns whether a record exists after the changes; `None` if it is not changed.
    fn exists_after(&self, key: &[u8]) -> Option<bool> {
        self.0.get(key).map(|replaced| replaced.after.is_some())
    }

    /// Returns whether a changed record with this prefix exists after the changes.
    fn any_exists_after(&self, prefix: &[u8]) -> bool {
        let from = self.0.range::<[u8], _>((Bound::Included(prefix), Bound::Unbounded));
        let mut changed = from.take_while(|(key, _)| key.starts_with(prefix));
        changed.any(|(_, replaced)| replaced.after.is_some())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the changed records, in key order.
    pub(super) fn changed(&self) -> impl Iterator<Item = Changed<'_>> {
        self.0.iter().map(|(key, replaced)| Changed {
            key,
            before: replaced.before.as_deref(),
            after: replaced.after.as_deref(),
        })
    }

    /// Returns the number of bytes, or an error if a value is too long.
    pub(super) fn bytes(&self) -> Result<u64, StoreError> {
        let mut bytes = 0_u64;
        for (key, replaced) in &self.0 {
            let length = replaced.after.as_ref().map_or(0, |value| value.len());
            if length > LONGEST_VALUE {
                let cause = format!("a value is longer than {LONGEST_VALUE} bytes");
                return Err(StoreError::Failed { doing: "writing a group", cause });
            }
            bytes = bytes.saturating_add(length.saturating_add(key.len()) as u64);
        }
        Ok(bytes)
    }

    /// Returns the changes as a sled batch, and the values before them.
    pub(super) fn into_parts(self) -> (sled::Batch, BTreeMap<sled::IVec, Option<sled::IVec>>) {
        let mut batch = sled::Batch::default();
        let before = self.0.into_iter().map(|(key, Replaced { before, after })| {
            let key = sled::IVec::from(key);
            match after {
                Some(after) => batch.insert(&key, after.as_ref()),
                None => batch.remove(&key),
            }
            (key, before)
        });
        let before = before.collect();
        (batch, before)
    }
}
