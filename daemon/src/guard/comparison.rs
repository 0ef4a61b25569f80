//! Comparison of the records of a store with the digest over them, in small steps.

use quorate_core::model::layout::Key;
use quorate_core::world::Page;

use super::GuardError;
use super::mark::{Stored, StoredDigest};
use super::slot::{self, is_mark};
use crate::barrier::Barrier;
use crate::digest::StoreDigest;
use crate::store::{Row, Snapshot};

/// Number of records that are read in one step. Groups wait that long.
const CHUNK: usize = 32;
/// Number of records that are read from a server in one step.
const REMOTE_CHUNK: usize = 512;

/// The digest over the first records of a store, in key order.
#[derive(Default)]
pub struct Comparison {
    /// Key of the last record that was read.
    last: Option<Key>,
    digest: StoreDigest,
    /// Digests in the marks that were read.
    marks: Vec<StoredDigest>,
    /// The records of one moment, if others may change the store meanwhile.
    snapshot: Option<Box<dyn Snapshot>>,
}

impl Comparison {
    /// Returns whether a record with this key is among those that were read.
    pub(super) fn includes(&self, key: &[u8]) -> bool {
        self.snapshot.is_none() && self.last.as_deref().is_some_and(|last| key <= last)
    }

    /// Returns the digest over all records that the marks of one moment state; `None` if the records were not read at one
    /// moment.
    pub(super) fn of_moment(&self) -> Option<StoredDigest> {
        self.snapshot.as_ref().map(|_| self.stated())
    }

    /// Returns the digest over all records that the marks state. A store without a mark has none.
    fn stated(&self) -> StoredDigest {
        if self.marks.is_empty() { StoredDigest::Unknown } else { slot::combined(self.marks.iter().copied()) }
    }

    /// Applies a change of records that were read.
    pub(super) fn toggle(&mut self, changed: StoreDigest) {
        self.digest.toggle(changed);
    }

    /// Adds the next record.
    pub fn add(&mut self, barrier: &Barrier, (key, value): Row) {
        if is_mark(&key) {
            // An unreadable mark is reported by the check of the guard file.
            let stored = barrier.open(&key, &value).ok().and_then(|mark| Stored::decode(&mark));
            self.marks.push(stored.map_or(StoredDigest::Unknown, |stored| stored.digest));
        } else {
            self.digest.toggle(barrier.vault().digests().of(&key, &value));
        }
        self.last = Some(key);
    }

    /// Reads some more records. Returns the digest over all records if these were the last ones.
    pub(super) fn read_more(&mut self, barrier: &Barrier) -> Result<Option<StoreDigest>, GuardError> {
        if self.last.is_none() && self.snapshot.is_none() {
            self.snapshot = barrier.store().snapshot()?;
        }
        let chunk = if self.snapshot.is_some() { REMOTE_CHUNK } else { CHUNK };
        let page = Page { after: self.last.as_deref(), ..Page::first(b"", chunk) };
        let rows = match &self.snapshot {
            Some(snapshot) => snapshot.rows(page)?,
            None => barrier.store().rows(page)?,
        };
        let is_last = rows.len() < chunk;
        for row in rows {
            self.add(barrier, row);
        }
        Ok(is_last.then_some(self.digest))
    }

    /// Checks the digest, once all records were added. The store must not have changed meanwhile.
    ///
    /// # Errors
    /// Returns [`GuardError::Altered`] if the store holds another digest, or the finding that its records were altered.
    pub fn finish(self) -> Result<(), GuardError> {
        match self.stated() {
            StoredDigest::Known(digest) if digest == self.digest => Ok(()),
            StoredDigest::Unknown => Ok(()),
            StoredDigest::Known(_) | StoredDigest::Altered => Err(GuardError::Altered),
        }
    }
}
