//! Comparison of the records of a store with the digest over them, in small steps.

use quorate_core::model::layout::Key;
use quorate_core::world::Page;

use super::{GuardError, MARK, StoredDigest, stored};
use crate::barrier::Barrier;
use crate::digest::StoreDigest;
use crate::store::Row;

/// Number of records that are read in one step. Groups wait that long.
const CHUNK: usize = 32;

/// The digest over the first records of a store, in key order.
#[derive(Default)]
pub struct Comparison {
    /// Key of the last record that was read.
    last: Option<Key>,
    digest: StoreDigest,
}

impl Comparison {
    /// Returns whether a record with this key is among those that were read.
    pub(super) fn includes(&self, key: &[u8]) -> bool {
        self.last.as_deref().is_some_and(|last| key <= last)
    }

    /// Applies a change of records that were read.
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

    /// Reads some more records. Returns the digest over all records if these were the last ones.
    pub(super) fn read_more(&mut self, barrier: &Barrier) -> Result<Option<StoreDigest>, GuardError> {
        let page = Page { after: self.last.as_deref(), ..Page::first(b"", CHUNK) };
        let rows = barrier.store().rows(page)?;
        let is_last = rows.len() < CHUNK;
        for row in rows {
            self.add(barrier, row);
        }
        Ok(is_last.then_some(self.digest))
    }

    /// Checks the digest, once all records were added.
    ///
    /// # Errors
    /// Returns [`GuardError::Altered`] if the store holds another digest.
    pub fn finish(self, barrier: &Barrier) -> Result<(), GuardError> {
        // An unreadable mark is reported by the check of the guard file.
        match stored(barrier).unwrap_or_default().map(|stored| stored.digest) {
            Some(StoredDigest::Known(digest)) if digest != self.digest => Err(GuardError::Altered),
            _ => Ok(()),
        }
    }
}
