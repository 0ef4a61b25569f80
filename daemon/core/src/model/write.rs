//! Writes to the store.

use zeroize::Zeroizing;

use super::layout::Key;
use super::record::Record;
use crate::error::Corrupt;

/// One write to the store. Values may contain secrets, so they are wiped.
pub struct Write {
    /// Key of the record.
    pub key: Key,
    /// Value of the record; `None` removes it.
    pub value: Option<Zeroizing<Vec<u8>>>,
    /// Whether a record may already exist at the key.
    pub replaces: bool,
}

impl Write {
    /// Creates a write that adds or replaces a record.
    ///
    /// # Errors
    /// If the record cannot be encoded.
    pub fn put<R: Record>(key: Key, record: &R) -> Result<Self, Corrupt> {
        Ok(Self { key, value: Some(Zeroizing::new(record.encode()?)), replaces: true })
    }

    /// Creates a write of a record that cannot exist yet, since its id is new.
    ///
    /// # Errors
    /// If the record cannot be encoded.
    pub fn put_new<R: Record>(key: Key, record: &R) -> Result<Self, Corrupt> {
        Ok(Self { replaces: false, ..Self::put(key, record)? })
    }

    /// Creates a write of an index entry; the key carries most or all of the information.
    pub fn mark(key: Key, value: &[u8]) -> Self {
        Self { key, value: Some(Zeroizing::new(value.to_vec())), replaces: true }
    }

    /// Like [`Self::mark`], for a key that cannot exist yet.
    pub fn mark_new(key: Key, value: &[u8]) -> Self {
        Self { replaces: false, ..Self::mark(key, value) }
    }

    /// Creates a write that removes a record.
    pub const fn remove(key: Key) -> Self {
        Self { key, value: None, replaces: true }
    }
}
