//! Reads of the records, from a snapshot of the database.

use std::borrow::Cow;
use std::ops::Bound;

use quorate_core::world::{Order, Page};
use redb::{ReadOnlyTable, StorageError};

use super::errors::failed;
use crate::store::StoreError;
use crate::store::judge::Stored;
use crate::store::range::Range;

/// Changes of a group, in key order; `None` removes a record.
pub(super) type Written<'g> = Vec<(&'g [u8], Option<Cow<'g, [u8]>>)>;

/// The records as of a commit.
pub(super) struct Records(pub(super) ReadOnlyTable<&'static [u8], &'static [u8]>);

impl Records {
    pub(super) fn value(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StorageError> {
        Ok(self.0.get(key)?.map(|value| value.value().to_vec()))
    }

    /// Returns what `take` makes of the rows of a page within its bounds.
    pub(super) fn scan<T>(
        &self,
        (start, end): &Range,
        page: Page<'_>,
        take: impl Fn(&[u8], &[u8]) -> T,
    ) -> Result<Vec<T>, StorageError> {
        let within = (start.as_ref().map(Vec::as_slice), end.as_ref().map(Vec::as_slice));
        let mut rows = self.0.range::<&[u8]>(within)?;
        let mut found = Vec::new();
        while found.len() < page.limit {
            let next = match page.order {
                Order::Ascending => rows.next(),
                Order::Descending => rows.next_back(),
            };
            let Some(row) = next else { break };
            let (key, value) = row?;
            found.push(take(key.value(), value.value()));
        }
        Ok(found)
    }
}

impl Stored for Records {
    type Value = Vec<u8>;

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.value(key).map_err(|error| failed("reading a record", error))
    }

    fn exists(&self, key: &[u8]) -> Result<bool, StoreError> {
        let found = self.0.get(key).map_err(|error| failed("reading a record", error))?;
        Ok(found.is_some())
    }

    fn any_key(&self, prefix: &[u8], matches: &mut dyn FnMut(&[u8]) -> bool) -> Result<bool, StoreError> {
        let unreadable = |error: StorageError| failed("reading a range", error);
        let from = (Bound::Included(prefix), Bound::Unbounded);
        for row in self.0.range::<&[u8]>(from).map_err(unreadable)? {
            let (key, _) = row.map_err(unreadable)?;
            if !key.value().starts_with(prefix) {
                return Ok(false);
            }
            if matches(key.value()) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
