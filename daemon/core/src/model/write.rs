//! Writes to the store.

use zeroize::Zeroizing;

use super::layout::Key;
use super::record::Record;
use crate::refusal::Corrupt;

/// One write to the store. Values may hold secrets, so they are wiped.
pub struct Write {
    /// Where.
    pub key: Key,
    /// What; nothing means that the record goes away.
    pub value: Option<Zeroizing<Vec<u8>>>,
    /// Whether a record may stand there already.
    pub replaces: bool,
}

impl Write {
    /// Stores a record.
    pub fn put<R: Record>(key: Key, record: &R) -> Result<Self, Corrupt> {
        Ok(Self { key, value: Some(Zeroizing::new(record.encode()?)), replaces: true })
    }

    /// Stores a record where none can stand, since its id was just made.
    pub fn put_new<R: Record>(key: Key, record: &R) -> Result<Self, Corrupt> {
        Ok(Self { replaces: false, ..Self::put(key, record)? })
    }

    /// Stores bytes that say all by their key, or next to nothing.
    pub fn mark(key: Key, value: &[u8]) -> Self {
        Self { key, value: Some(Zeroizing::new(value.to_vec())), replaces: true }
    }

    /// As [`Self::mark`], where none can stand.
    pub fn mark_new(key: Key, value: &[u8]) -> Self {
        Self { replaces: false, ..Self::mark(key, value) }
    }

    /// Takes a record away.
    pub const fn remove(key: Key) -> Self {
        Self { key, value: None, replaces: true }
    }
}
