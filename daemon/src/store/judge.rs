//! Checks the conditions of batches against the store and earlier batches of the group, and collects what the
//! group writes. All engines decide with it.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;

use sha2::{Digest, Sha256};

use super::{Batch, BatchOutcome, Change, Changed, LONGEST_VALUE, Register, StoreError, ValueDigest};
use crate::cache::TwoGenerations;

/// Maximum number of cached registers.
const REGISTERS: usize = 4096;

/// Values of registers as of the last group, which save lookups.
pub(super) struct KnownRegisters(TwoGenerations<Vec<u8>, u64>);

impl Default for KnownRegisters {
    fn default() -> Self {
        Self(TwoGenerations::new(REGISTERS))
    }
}

impl KnownRegisters {
    /// Adopts the registers after a durable group.
    pub(super) fn keep(&mut self, registers: Vec<Register>) {
        for (key, value) in registers {
            self.0.keep(key, value);
        }
    }
}

/// The records of an engine, as of the last group.
pub(super) trait Stored {
    /// A value. Copies should be cheap.
    type Value: AsRef<[u8]>;

    /// Returns the value of a key.
    fn get(&self, key: &[u8]) -> Result<Option<Self::Value>, StoreError>;

    /// Returns whether a key exists.
    fn exists(&self, key: &[u8]) -> Result<bool, StoreError>;

    /// Returns whether any key with this prefix satisfies the condition.
    fn any_key(&self, prefix: &[u8], matches: &mut dyn FnMut(&[u8]) -> bool) -> Result<bool, StoreError>;
}

/// Decodes the value of a register.
pub(super) fn number(bytes: &[u8]) -> Result<u64, StoreError> {
    let bytes = bytes.try_into().map_err(|_| StoreError::Failed {
        doing: "reading a register",
        cause: "it does not have eight bytes".to_owned(),
    })?;
    Ok(u64::from_be_bytes(bytes))
}

/// Builds a group: the state that its next batch sees, and what it writes.
pub(super) struct Judge<'s, 'g, S: Stored> {
    stored: &'s S,
    known: &'s mut KnownRegisters,
    registers: HashMap<&'g [u8], u64>,
    write: Write<'g, S::Value>,
}

impl<'s, 'g, S: Stored> Judge<'s, 'g, S> {
    /// Begins a group on these records.
    pub(super) fn new(stored: &'s S, known: &'s mut KnownRegisters) -> Self {
        Self { stored, known, registers: HashMap::new(), write: Write::default() }
    }

    /// Adds the next batch if its conditions hold. The following batches then see its changes.
    pub(super) fn add(&mut self, batch: &'g Batch) -> Result<BatchOutcome, StoreError> {
        if !self.holds(batch)? {
            return Ok(BatchOutcome::Clash);
        }
        self.registers.extend(batch.set.iter().map(|(key, value)| (key.as_slice(), *value)));
        self.write.add_batch(self.stored, batch)?;
        Ok(BatchOutcome::Done)
    }

    /// Returns the registers that were read or set, with their values after the group, and what the group
    /// writes.
    pub(super) fn finish(self) -> (Vec<Register>, Write<'g, S::Value>) {
        (self.registers.into_iter().map(|(key, value)| (key.to_vec(), value)).collect(), self.write)
    }

    fn holds(&mut self, batch: &'g Batch) -> Result<bool, StoreError> {
        for (key, expected) in &batch.expect {
            if self.register(key)? != *expected {
                return Ok(false);
            }
        }
        for key in &batch.must_not_exist {
            if self.write.exists_after(key).map_or_else(|| self.stored.exists(key), Ok)? {
                return Ok(false);
            }
        }
        for (key, digest) in &batch.must_equal {
            if self.digest(key)? != Some(*digest) {
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

    /// Returns the digest of the value of a record after the earlier batches.
    fn digest(&self, key: &[u8]) -> Result<Option<ValueDigest>, StoreError> {
        let digest = |value: &[u8]| Sha256::digest(value).into();
        match self.write.replaced(key) {
            Some(replaced) => Ok(replaced.after.as_deref().map(digest)),
            None => Ok(self.stored.get(key)?.map(|value| digest(value.as_ref()))),
        }
    }

    /// Returns whether no key has this prefix after the earlier batches.
    fn is_empty(&self, prefix: &[u8]) -> Result<bool, StoreError> {
        if self.write.any_exists_after(prefix) {
            return Ok(false);
        }
        let remains = self.stored.any_key(prefix, &mut |key| self.write.exists_after(key) != Some(false))?;
        Ok(!remains)
    }

    fn register(&mut self, key: &'g [u8]) -> Result<u64, StoreError> {
        if let Some(present) = self.registers.get(key) {
            return Ok(*present);
        }
        let present = match self.known.0.value(key) {
            Some(present) => present,
            None => self.stored.get(key)?.map_or(Ok(0), |bytes| number(bytes.as_ref()))?,
        };
        self.registers.insert(key, present);
        Ok(present)
    }
}

/// The changes of a group, by key.
pub(super) struct Write<'g, V>(BTreeMap<&'g [u8], Replaced<'g, V>>);

/// The values of a record before and after a group; `None` if there is no record.
pub(super) struct Replaced<'g, V> {
    pub(super) before: Option<V>,
    pub(super) after: Option<Cow<'g, [u8]>>,
}

impl<V> Default for Write<'_, V> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<'g, V: AsRef<[u8]>> Write<'g, V> {
    fn add_batch(&mut self, stored: &impl Stored<Value = V>, batch: &'g Batch) -> Result<(), StoreError> {
        for (key, value) in &batch.set {
            self.add(stored, key, Some(Cow::Owned(value.to_be_bytes().to_vec())), false)?;
        }
        self.add_changes(stored, &batch.writes)
    }

    /// Adds changes without conditions.
    pub(super) fn add_changes(
        &mut self,
        stored: &impl Stored<Value = V>,
        changes: &'g [Change],
    ) -> Result<(), StoreError> {
        changes.iter().try_for_each(|change| {
            self.add(stored, &change.key, change.value.as_deref().map(Cow::Borrowed), change.fresh)
        })
    }

    fn add(
        &mut self,
        stored: &impl Stored<Value = V>,
        key: &'g [u8],
        after: Option<Cow<'g, [u8]>>,
        fresh: bool,
    ) -> Result<(), StoreError> {
        if let Some(replaced) = self.0.get_mut(key) {
            replaced.after = after;
            return Ok(());
        }
        let before = if fresh { None } else { stored.get(key)? };
        self.0.insert(key, Replaced { before, after });
        Ok(())
    }

    /// Returns the values of a record that is changed.
    fn replaced(&self, key: &[u8]) -> Option<&Replaced<'g, V>> {
        self.0.get(key)
    }

    /// Returns whether a record exists after the changes; `None` if it is not changed.
    fn exists_after(&self, key: &[u8]) -> Option<bool> {
        self.replaced(key).map(|replaced| replaced.after.is_some())
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

    /// Returns the number of changed records.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the changed records, in key order.
    pub(super) fn changed(&self) -> impl Iterator<Item = Changed<'_>> {
        self.0.iter().map(|(key, replaced)| Changed {
            key,
            before: replaced.before.as_ref().map(AsRef::as_ref),
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

    /// Returns the changes in key order.
    pub(super) fn into_rows(self) -> impl Iterator<Item = (&'g [u8], Replaced<'g, V>)> {
        self.0.into_iter()
    }
}
