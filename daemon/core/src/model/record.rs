//! The stored form of a value: a version byte, then JSON, unless the record says otherwise. What has been stored
//! is a promise: older versions stay readable, newer ones are refused.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::refusal::Corrupt;

/// A value that is stored.
pub trait Record: Serialize + DeserializeOwned {
    /// What it is, for messages.
    const NOUN: &'static str;
    /// The version that is written.
    const VERSION: u8 = 1;

    /// Bytes to store.
    fn encode(&self) -> Result<Vec<u8>, Corrupt> {
        let mut bytes = Vec::with_capacity(512);
        bytes.push(Self::VERSION);
        serde_json::to_writer(&mut bytes, self).map_err(|_| Corrupt::Record(Self::NOUN))?;
        Ok(bytes)
    }

    /// Roughly how many bytes it takes in memory: what its JSON has, and what surrounds that.
    fn memory(&self) -> usize {
        let mut counter = Counter(0);
        // What does not serialize is never stored.
        let _ = serde_json::to_writer(&mut counter, self);
        counter.0.saturating_add(size_of::<Self>()).saturating_add(128)
    }

    /// Reads stored bytes.
    fn decode(bytes: &[u8]) -> Result<Self, Corrupt> {
        match bytes.split_first() {
            Some((&version, json)) if version == Self::VERSION => from_json(json),
            _ => Err(Corrupt::Record(Self::NOUN)),
        }
    }
}

/// Counts what is written to it.
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

/// Reads a record behind its version byte where that is JSON.
pub(super) fn from_json<R: Record>(json: &[u8]) -> Result<R, Corrupt> {
    serde_json::from_slice(json).map_err(|_| Corrupt::Record(R::NOUN))
}
