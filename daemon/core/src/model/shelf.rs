//! A shelf of the snapshot: records of one kind by their ids.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Organization;
use super::layout::Entity;
use super::record::Record;

/// A record of the snapshot of an organization that stands on a shelf.
pub trait Shelved: Record {
    /// Names one.
    type Id: Copy + Ord + std::fmt::Display;

    /// Its id.
    fn id(&self) -> Self::Id;
    /// Where one of this id stands in the store.
    fn entity(id: Self::Id) -> Entity;
    /// The shelf of an organization that holds these.
    fn shelf(organization: &Organization) -> &Shelf<Self>;
    /// The same, to change it.
    fn shelf_mut(organization: &mut Organization) -> &mut Shelf<Self>;
}

/// Records of one kind. Copies share them.
#[derive(Debug)]
pub struct Shelf<T: Shelved> {
    records: BTreeMap<T::Id, Arc<T>>,
    /// What the records take in memory.
    bytes: usize,
}

impl<T: Shelved> Default for Shelf<T> {
    fn default() -> Self {
        Self { records: BTreeMap::new(), bytes: 0 }
    }
}

impl<T: Shelved> Clone for Shelf<T> {
    fn clone(&self) -> Self {
        Self { records: self.records.clone(), bytes: self.bytes }
    }
}

impl<T: Shelved> Shelf<T> {
    /// The one of this id.
    pub fn get(&self, id: T::Id) -> Option<&T> {
        self.records.get(&id).map(Arc::as_ref)
    }

    /// All, in order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.records.values().map(Arc::as_ref)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Puts one in the place of the one with the same id.
    pub fn put(&mut self, one: T) {
        self.bytes = self.bytes.saturating_add(one.memory());
        if let Some(old) = self.records.insert(one.id(), Arc::new(one)) {
            self.bytes = self.bytes.saturating_sub(old.memory());
        }
    }

    /// Takes one out.
    pub fn remove(&mut self, id: T::Id) {
        if let Some(old) = self.records.remove(&id) {
            self.bytes = self.bytes.saturating_sub(old.memory());
        }
    }

    /// Roughly how many bytes they take in memory together.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Says of a record which shelf it stands on.
macro_rules! shelved {
    ($record:ty, $id:ty, $entity:path, $shelf:ident) => {
        impl $crate::model::shelf::Shelved for $record {
            type Id = $id;

            fn id(&self) -> $id {
                self.id
            }

            fn entity(id: $id) -> $crate::model::layout::Entity {
                $entity(id)
            }

            fn shelf(organization: &$crate::model::Organization) -> &$crate::model::shelf::Shelf<Self> {
                &organization.$shelf
            }

            fn shelf_mut(
                organization: &mut $crate::model::Organization,
            ) -> &mut $crate::model::shelf::Shelf<Self> {
                &mut organization.$shelf
            }
        }
    };
}

pub(super) use shelved;
