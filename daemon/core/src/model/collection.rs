//! Collections of a snapshot: records of one kind by their ids.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Organization;
use super::layout::Entity;
use super::record::Record;

/// A record of the snapshot of an organization that is kept in a [`Collection`].
pub trait CollectionItem: Record {
    /// Type of its id.
    type Id: Copy + Ord + std::fmt::Display;

    /// Returns the id of the record.
    fn id(&self) -> Self::Id;
    /// Returns the entity with this id, which determines its key in the store.
    fn entity(id: Self::Id) -> Entity;
    /// Returns the collection of an organization that contains these records.
    fn collection(organization: &Organization) -> &Collection<Self>;
    /// Returns the same collection, mutably.
    fn collection_mut(organization: &mut Organization) -> &mut Collection<Self>;
}

/// Records of one kind. Clones share the records.
#[derive(Debug)]
pub struct Collection<T: CollectionItem> {
    records: BTreeMap<T::Id, Arc<T>>,
    /// Memory of the records in bytes.
    bytes: usize,
}

impl<T: CollectionItem> Default for Collection<T> {
    fn default() -> Self {
        Self { records: BTreeMap::new(), bytes: 0 }
    }
}

impl<T: CollectionItem> Clone for Collection<T> {
    fn clone(&self) -> Self {
        Self { records: self.records.clone(), bytes: self.bytes }
    }
}

impl<T: CollectionItem> Collection<T> {
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

/// Implements [`CollectionItem`] for a record.
macro_rules! collection_item {
    ($record:ty, $id:ty, $entity:path, $collection:ident) => {
        impl $crate::model::collection::CollectionItem for $record {
            type Id = $id;

            fn id(&self) -> $id {
                self.id
            }

            fn entity(id: $id) -> $crate::model::layout::Entity {
                $entity(id)
            }

            fn collection(
                organization: &$crate::model::Organization,
            ) -> &$crate::model::collection::Collection<Self> {
                &organization.$collection
            }

            fn collection_mut(
                organization: &mut $crate::model::Organization,
            ) -> &mut $crate::model::collection::Collection<Self> {
                &mut organization.$collection
            }
        }
    };
}

pub(super) use collection_item;
