//! Digests of the records of an organization: of those of its snapshot, and of the activities that wait for votes. The
//! head of an organization is sealed with a digest over all of them, so that a record that was put back, removed or added
//! by someone who can write to the disk is noticed: each record by itself is authentic, also when it is an old one.

use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A SHA-256 digest over all records; hexadecimal digits in JSON.
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

/// The SHA-256 digest of one record as it is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordDigest([u8; 32]);

impl RecordDigest {
    /// Digests an encoded record.
    pub fn of(record: &[u8]) -> Self {
        Self(Sha256::digest(record).into())
    }

    /// Reads the value of the index entry of an activity that waits: the digest of its record. Version 0.1 wrote
    /// nothing there.
    pub fn of_entry(value: &[u8]) -> Option<Self> {
        value.try_into().ok().map(Self)
    }

    /// Returns the value of an index entry.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// How many children a branch has: one for each half of a byte of a path.
const FAN_OUT: usize = 16;
/// How many records a leaf holds at most.
const LEAF: usize = 16;
/// How many halves of bytes a path has.
const DEPTH: usize = 64;
/// What a record takes in memory with its part of the branches above, in bytes.
const RECORD_BYTES: usize = 128;

/// Where a record is in the tree: the SHA-256 digest of its key.
type Path = [u8; 32];

/// The digests of records by their keys: a Merkle tree, whose shape depends on the records alone and not on their
/// history. Copies share all that is equal, so that a change costs the same however many records there are.
#[derive(Debug, Clone, Default)]
pub(crate) struct Contents(Arc<Node>);

#[derive(Debug, Clone, Default)]
struct Node {
    inside: Inside,
    /// Computed when it is needed, and again after a change.
    digest: OnceLock<[u8; 32]>,
}

#[derive(Debug, Clone)]
enum Inside {
    /// Up to [`LEAF`] records, in the order of their paths.
    Leaf(Vec<(Path, RecordDigest)>),
    /// More records than fit in a leaf: how many, and where they are.
    Branch(usize, [Arc<Node>; FAN_OUT]),
}

impl Default for Inside {
    fn default() -> Self {
        Self::Leaf(Vec::new())
    }
}

impl Contents {
    /// Returns the digest of the record at a key.
    pub(crate) fn get(&self, key: &[u8]) -> Option<RecordDigest> {
        self.0.get(0, &path(key))
    }

    /// Notes that the record at a key has this digest.
    pub(crate) fn put(&mut self, key: &[u8], record: RecordDigest) {
        Arc::make_mut(&mut self.0).put(0, path(key), record);
    }

    /// Notes that there is no record at a key.
    pub(crate) fn remove(&mut self, key: &[u8]) {
        Arc::make_mut(&mut self.0).remove(0, &path(key));
    }

    /// Returns the digest over all. That of a leaf is SHA-256 of a zero byte and, in the order of paths, each path and
    /// the digest of its record; that of a branch is SHA-256 of a one byte and the digests of its children.
    pub(crate) fn digest(&self) -> ContentsDigest {
        ContentsDigest(self.0.digest())
    }

    /// Returns roughly how many bytes it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.0.len().saturating_mul(RECORD_BYTES)
    }
}

fn path(key: &[u8]) -> Path {
    Sha256::digest(key).into()
}

/// The child of a branch at this depth under which a path goes on.
fn branch(path: &Path, depth: usize) -> usize {
    let byte = path.get(depth / 2).copied().unwrap_or_default();
    usize::from(if depth.is_multiple_of(2) { byte >> 4 } else { byte & 0x0f })
}

impl Node {
    /// The node at this depth with these records, in the order of their paths.
    fn of(records: Vec<(Path, RecordDigest)>, depth: usize) -> Self {
        let inside = if records.len() <= LEAF || depth >= DEPTH {
            Inside::Leaf(records)
        } else {
            let mut parts: [Vec<_>; FAN_OUT] = Default::default();
            let count = records.len();
            for record in records {
                if let Some(part) = parts.get_mut(branch(&record.0, depth)) {
                    part.push(record);
                }
            }
            Inside::Branch(count, parts.map(|part| Arc::new(Self::of(part, depth.saturating_add(1)))))
        };
        Self { inside, digest: OnceLock::new() }
    }

    fn len(&self) -> usize {
        match &self.inside {
            Inside::Leaf(records) => records.len(),
            Inside::Branch(count, _) => *count,
        }
    }

    fn get(&self, depth: usize, path: &Path) -> Option<RecordDigest> {
        match &self.inside {
            Inside::Leaf(records) => {
                let at = records.binary_search_by(|(other, _)| other.cmp(path)).ok()?;
                records.get(at).map(|(_, record)| *record)
            }
            Inside::Branch(_, children) => {
                children.get(branch(path, depth))?.get(depth.saturating_add(1), path)
            }
        }
    }

    /// Returns whether there was no record at this path.
    fn put(&mut self, depth: usize, path: Path, record: RecordDigest) -> bool {
        self.digest = OnceLock::new();
        match &mut self.inside {
            Inside::Leaf(records) => match records.binary_search_by(|(other, _)| other.cmp(&path)) {
                Ok(at) => {
                    if let Some((_, present)) = records.get_mut(at) {
                        *present = record;
                    }
                    false
                }
                Err(at) => {
                    records.insert(at, (path, record));
                    if records.len() > LEAF {
                        *self = Self::of(std::mem::take(records), depth);
                    }
                    true
                }
            },
            Inside::Branch(count, children) => {
                let child = children.get_mut(branch(&path, depth)).map(Arc::make_mut);
                let is_new = child.is_some_and(|child| child.put(depth.saturating_add(1), path, record));
                *count = count.saturating_add(usize::from(is_new));
                is_new
            }
        }
    }

    /// Returns whether there was a record at this path.
    fn remove(&mut self, depth: usize, path: &Path) -> bool {
        self.digest = OnceLock::new();
        match &mut self.inside {
            Inside::Leaf(records) => match records.binary_search_by(|(other, _)| other.cmp(path)) {
                Ok(at) => {
                    records.remove(at);
                    true
                }
                Err(_) => false,
            },
            Inside::Branch(count, children) => {
                let child = children.get_mut(branch(path, depth)).map(Arc::make_mut);
                let was_there = child.is_some_and(|child| child.remove(depth.saturating_add(1), path));
                *count = count.saturating_sub(usize::from(was_there));
                if *count <= LEAF {
                    let mut records = Vec::with_capacity(*count);
                    self.collect(&mut records);
                    self.inside = Inside::Leaf(records);
                }
                was_there
            }
        }
    }

    /// Adds all records in the order of their paths.
    fn collect(&self, into: &mut Vec<(Path, RecordDigest)>) {
        match &self.inside {
            Inside::Leaf(records) => into.extend_from_slice(records),
            Inside::Branch(_, children) => {
                for child in children {
                    child.collect(into);
                }
            }
        }
    }

    fn digest(&self) -> [u8; 32] {
        *self.digest.get_or_init(|| {
            let mut all = Sha256::new();
            match &self.inside {
                Inside::Leaf(records) => {
                    all.update([0]);
                    for (path, record) in records {
                        all.update(path);
                        all.update(record.as_bytes());
                    }
                }
                Inside::Branch(_, children) => {
                    all.update([1]);
                    for child in children {
                        all.update(child.digest());
                    }
                }
            }
            all.finalize().into()
        })
    }
}

#[cfg(test)]
mod tests;
