//! The stored form of a value: a version byte, followed by JSON unless the record defines another encoding.
//! Older versions stay readable; newer ones are rejected.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Corrupt;

/// A value that is stored as one record.
pub trait Record: Serialize + DeserializeOwned {
    /// Noun for error messages.
    const NOUN: &'static str;
    /// Version that is written.
    const VERSION: u8 = 1;
    /// Oldest version that is read.
    const OLDEST: u8 = Self::VERSION;

    /// Encodes the value.
    ///
    /// # Errors
    /// If the value cannot be serialized.
    fn encode(&self) -> Result<Vec<u8>, Corrupt> {
        let mut bytes = Vec::with_capacity(512);
        bytes.push(Self::VERSION);
        serde_json::to_writer(&mut bytes, self).map_err(|_| Corrupt::Record(Self::NOUN))?;
        Ok(bytes)
    }

    /// Returns the approximate memory of the value in bytes: the length of its JSON, and a constant.
    fn memory(&self) -> usize {
        let mut counter = Counter(0);
        // A value that cannot be serialized is never stored.
        let _ = serde_json::to_writer(&mut counter, self);
        counter.0.saturating_add(size_of::<Self>()).saturating_add(128)
    }

    /// Decodes stored bytes.
    ///
    /// # Errors
    /// If the bytes are damaged, or of a newer version.
    fn decode(bytes: &[u8]) -> Result<Self, Corrupt> {
        match bytes.split_first() {
            Some((version, json)) if (Self::OLDEST..=Self::VERSION).contains(version) => from_json(json),
            _ => Err(Corrupt::Record(Self::NOUN)),
        }
    }
}

/// A writer that counts bytes.
struct Counter(usize);

impl std::io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 = self.0.saturating_add(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Decodes the JSON after the version byte.
pub(super) fn from_json<R: Record>(json: &[u8]) -> Result<R, Corrupt> {
    serde_json::from_slice(json).map_err(|_| Corrupt::Record(R::NOUN))
}
