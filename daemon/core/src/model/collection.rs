//! Collections of a snapshot: records of one class by their ids. Code that treats the records of all classes in
//! the same way uses [`AnyRecord`], [`RecordId`] and [`RecordClass`].

use std::collections::BTreeMap;
use std::sync::Arc;

use quorate_common::ids::OrganizationId;
use serde::{Serialize, Serializer};

use super::layout::{self, Class, Key};
use super::record::Record;
use super::{Collections, RecordLimits};
use crate::error::Corrupt;

/// A record of a snapshot that has an id, so that a [`Collection`] can keep it. The table in
/// `daemon/core/src/model/mod.rs` implements it.
pub trait SnapshotRecord: Record + Send + Sync + 'static {
    /// Type of its id.
    type Id: Copy + Ord + std::fmt::Display;

    /// Class of the records.
    const CLASS: Class;
    /// Plural noun for error messages.
    const NOUNS: &'static str;
    /// Name of the collection, which is that of its limit.
    const COLLECTION: &'static str;

    /// Returns the id of the record.
    fn id(&self) -> Self::Id;
    /// Creates an id from its bytes.
    fn id_from(bytes: [u8; 16]) -> Self::Id;
    /// Returns the bytes of an id.
    fn id_bytes(id: Self::Id) -> [u8; 16];
    /// Returns how many of these records an organization may have.
    fn limit(limits: &RecordLimits) -> usize;
    /// Returns the collection that contains these records.
    fn collection(records: &Collections) -> &Collection<Self>;
    /// Returns the same collection, mutably.
    fn collection_mut(records: &mut Collections) -> &mut Collection<Self>;

    /// Returns the key in the store of the record with this id.
    fn key(organization: OrganizationId, id: Self::Id) -> Key {
        layout::entity(organization, Self::CLASS, &Self::id_bytes(id))
    }
}

/// A record of a snapshot of any class.
pub trait AnyRecord: Send + Sync {
    /// Returns the id of the record.
    fn record_id(&self) -> RecordId;
    /// Encodes the record.
    ///
    /// # Errors
    /// If the record cannot be serialized.
    fn encoded(&self) -> Result<Vec<u8>, Corrupt>;
    /// Adds the record to its collection, or replaces the record with the same id.
    fn put_into(self: Box<Self>, records: &mut Collections);
}

impl<T: SnapshotRecord> AnyRecord for T {
    fn record_id(&self) -> RecordId {
        RecordId::of::<T>(self.id())
    }

    fn encoded(&self) -> Result<Vec<u8>, Corrupt> {
        self.encode()
    }

    fn put_into(self: Box<Self>, records: &mut Collections) {
        T::collection_mut(records).put(*self);
    }
}

/// The class and id of a record of a snapshot.
#[derive(Clone, Copy)]
pub struct RecordId {
    /// Class of the record.
    pub class: Class,
    pub(super) id: [u8; 16],
    remove: fn(&mut Collections, [u8; 16]),
}

impl RecordId {
    /// Creates the id of a record of a class.
    pub fn of<T: SnapshotRecord>(id: T::Id) -> Self {
        let remove = |records: &mut Collections, id| T::collection_mut(records).remove(T::id_from(id));
        Self { class: T::CLASS, id: T::id_bytes(id), remove }
    }

    /// Returns the key of the record in the store.
    pub fn key(self, organization: OrganizationId) -> Key {
        layout::entity(organization, self.class, &self.id)
    }

    /// Removes the record from its collection.
    pub fn remove_from(self, records: &mut Collections) {
        (self.remove)(records, self.id);
    }
}

/// Decodes a stored record.
pub type Decode = fn(&[u8]) -> Result<Box<dyn AnyRecord>, Corrupt>;

/// A class of records of a snapshot.
pub struct RecordClass {
    /// Class in keys.
    pub class: Class,
    /// Noun for error messages.
    pub noun: &'static str,
    /// Version that is written.
    pub version: u8,
    /// Decodes a stored record.
    pub decode: Decode,
    /// Returns the ids of all records of the class.
    pub ids: fn(&Collections) -> Vec<RecordId>,
    /// Returns the approximate memory of all records of the class in bytes.
    pub bytes: fn(&Collections) -> usize,
}

impl RecordClass {
    /// Creates the class of a type of records.
    pub const fn of<T: SnapshotRecord>() -> Self {
        Self {
            class: T::CLASS,
            noun: T::NOUN,
            version: T::VERSION,
            decode: |bytes| Ok(Box::new(T::decode(bytes)?)),
            ids: |records| T::collection(records).iter().map(AnyRecord::record_id).collect(),
            bytes: |records| T::collection(records).bytes(),
        }
    }
}

/// Records of one class. Clones share the records.
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

impl<T: SnapshotRecord> Serialize for Collection<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
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
