//! The records of a sled database as the judge of groups reads them, and what it decides as a batch of sled.

use std::collections::BTreeMap;

use super::StoreError;
use super::panics::failed;
use crate::store::judge::{Replaced, Stored, Write};

/// Values of keys before a group; `None` where no record existed.
pub(super) type Before = BTreeMap<sled::IVec, Option<sled::IVec>>;

fn unreadable(error: &sled::Error) -> StoreError {
    failed("reading a record", error)
}

impl Stored for sled::Db {
    type Value = sled::IVec;

    fn get(&self, key: &[u8]) -> Result<Option<sled::IVec>, StoreError> {
        sled::Tree::get(self, key).map_err(|error| unreadable(&error))
    }

    fn exists(&self, key: &[u8]) -> Result<bool, StoreError> {
        self.contains_key(key).map_err(|error| unreadable(&error))
    }

    fn any_key(&self, prefix: &[u8], matches: &mut dyn FnMut(&[u8]) -> bool) -> Result<bool, StoreError> {
        for key in self.scan_prefix(prefix).keys() {
            if matches(&key.map_err(|error| unreadable(&error))?) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Returns the changes of a group as a batch of sled, and the values before them.
pub(super) fn batch_of(write: Write<'_, sled::IVec>) -> (sled::Batch, Before) {
    let mut batch = sled::Batch::default();
    let before = write.into_rows().map(|(key, Replaced { before, after })| {
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
