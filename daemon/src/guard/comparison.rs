//! Compares the records of a store with the digest over them, a part at a time.

use quorate_core::model::layout::Key;
use quorate_core::world::Page;

use super::{GuardError, MARK, StoredDigest, stored};
use crate::barrier::Barrier;
use crate::digest::StoreDigest;
use crate::store::Row;

/// How many records are read at once. Groups wait that long.
const CHUNK: usize = 32;

/// The digest over the first records of a store, in the order of their keys.
#[derive(Default)]
pub struct Comparison {
    /// Key of the last record.
    last: Option<Key>,
    digest: StoreDigest,
}

impl Comparison {
    /// Whether a record with this key counts among those that were read.
    pub(super) fn is_past(&self, key: &[u8]) -> bool {
        self.last.as_deref().is_some_and(|last| key <= last)
    }

    /// Takes in what became of records that were read.
    pub(super) fn toggle(&mut self, changed: StoreDigest) {
        self.digest.toggle(changed);
    }

    /// Adds the next record.
    pub fn add(&mut self, barrier: &Barrier, (key, value): Row) {
        if key != MARK {
            self.digest.toggle(barrier.vault().digests().of(&key, &value));
        }
        self.last = Some(key);
    }

    /// Reads a few records more, and returns the digest over all if these were the last ones.
    pub(super) fn go_on(&mut self, barrier: &Barrier) -> Result<Option<StoreDigest>, GuardError> {
        let page = Page { after: self.last.as_deref(), ..Page::first(b"", CHUNK) };
        let rows = barrier.store().rows(page)?;
        let is_last = rows.len() < CHUNK;
        for row in rows {
            self.add(barrier, row);
        }
        Ok(is_last.then_some(self.digest))
    }

    /// Ends when all records were added.
    ///
    /// # Errors
    /// [`GuardError::Altered`] if the store holds another digest, and when it cannot be read.
    pub fn end(self, barrier: &Barrier) -> Result<(), GuardError> {
        // A mark that cannot be read is an error of its own, which the check of the guard file reports.
        match stored(barrier).unwrap_or_default().map(|stored| stored.digest) {
            Some(StoredDigest::Known(digest)) if digest != self.digest => Err(GuardError::Altered),
            _ => Ok(()),
        }
    }
}
