//! Digests of the records of a snapshot. The head of an organization is sealed with a digest over all of them, so that a
//! record that was put back, removed or added by someone who can write to the disk is noticed: each record by itself is
//! authentic, also when it is an old one.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::change::Write;
use super::layout::Key;

/// A SHA-256 digest; hexadecimal digits in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ContentsDigest([u8; 32]);

impl From<ContentsDigest> for String {
    fn from(digest: ContentsDigest) -> Self {
        const_hex::encode(digest.0)
    }
}

impl TryFrom<String> for ContentsDigest {
    type Error = const_hex::FromHexError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        const_hex::decode_to_array(text).map(Self)
    }
}

/// The records of a snapshot by their keys. Copies share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Contents(Arc<BTreeMap<Key, [u8; 32]>>);

impl Contents {
    /// Notes a record that was read.
    pub(crate) fn put(&mut self, key: &[u8], record: &[u8]) {
        Arc::make_mut(&mut self.0).insert(key.to_vec(), Sha256::digest(record).into());
    }

    /// Notes a write to a record of the snapshot.
    pub(crate) fn take(&mut self, write: &Write) {
        match &write.value {
            Some(record) => self.put(&write.key, record),
            None => {
                Arc::make_mut(&mut self.0).remove(&write.key);
            }
        }
    }

    /// The digest over all: SHA-256 of each key, preceded by its length in 8 bytes, and the digest of its record, in the
    /// order of keys.
    pub(crate) fn digest(&self) -> ContentsDigest {
        let mut all = Sha256::new();
        for (key, record) in self.0.iter() {
            all.update((key.len() as u64).to_be_bytes());
            all.update(key);
            all.update(record);
        }
        ContentsDigest(all.finalize().into())
    }
}
