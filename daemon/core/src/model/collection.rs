//! Collections of a snapshot: records of one kind by their ids.

use std::collections::BTreeMap;
use std::sync::Arc;

use quorate_common::ids::OrganizationId;

use super::layout::{Class, Key};
use super::record::Record;

/// A record of a snapshot that has an id, so that a [`Collection`] can keep it.
pub trait SnapshotRecord: Record {
    /// Type of its id.
    type Id: Copy + Ord + std::fmt::Display;

    /// Class of the records.
    const CLASS: Class;

    /// Returns the id of the record.
    fn id(&self) -> Self::Id;
    /// Returns the key in the store of the record with this id.
    fn key(organization: OrganizationId, id: Self::Id) -> Key;
}

/// Records of one kind. Clones share the records.
#[derive(Debug)]
pub struct Collection<T: SnapshotRecord> {
    records: BTreeMap<T::Id, Arc<T>>,
    /// Memory of the records in bytes.
    bytes: usize,
}

impl<T: SnapshotRecord> Default for Collection<T> {
    fn default() -> Self {
        Self { records: BTreeMap::new(), bytes: 0 }
    }
}

impl<T: SnapshotRecord> Clone for Collection<T> {
    fn clone(&self) -> Self {
        Self { records: self.records.clone(), bytes: self.bytes }
    }
}

impl<T: SnapshotRecord> Collection<T> {
    /// Returns the record with this id.
    pub fn get(&self, id: T::Id) -> Option<&T> {
        self.records.get(&id).map(Arc::as_ref)
    }

    /// Returns all records, in order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.records.values().map(Arc::as_ref)
    }

    /// Returns the number of records.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Returns whether the collection is empty.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Adds a record, or replaces the record with the same id.
    pub fn put(&mut self, record: T) {
        self.bytes = self.bytes.saturating_add(record.memory());
        if let Some(old) = self.records.insert(record.id(), Arc::new(record)) {
            self.bytes = self.bytes.saturating_sub(old.memory());
        }
    }

    /// Removes the record with this id.
    pub fn remove(&mut self, id: T::Id) {
        if let Some(old) = self.records.remove(&id) {
            self.bytes = self.bytes.saturating_sub(old.memory());
        }
    }

    /// Returns the approximate memory of all records in bytes.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }
}
