//! Digests of the records of an organization: those of its snapshot, and those of the activities that wait
//! for votes. The sealed head of an organization contains a digest over all of them. It reveals records that
//! somebody with write access to the disk restored, removed or added: each single record is authentic, even
//! an old one.

use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A SHA-256 digest over all records; hexadecimal in JSON.
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

/// The SHA-256 digest of one encoded record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordDigest([u8; 32]);

impl RecordDigest {
    /// Computes the digest of an encoded record.
    pub fn of(record: &[u8]) -> Self {
        Self(Sha256::digest(record).into())
    }

    /// Parses the value of the index entry of a waiting activity: the digest of its record. Version 0.1 wrote
    /// an empty value.
    pub fn of_entry(value: &[u8]) -> Option<Self> {
        value.try_into().ok().map(Self)
    }

    /// Returns the value of an index entry.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Number of children of a branch: one for each value of a nibble.
const FAN_OUT: usize = 16;
/// Maximum number of records in a leaf.
const LEAF: usize = 16;
/// Number of nibbles in a path.
const DEPTH: usize = 64;
/// Memory of a record and its share of the branches above it, in bytes.
const RECORD_BYTES: usize = 128;

/// The path of a record in the tree: the SHA-256 digest of its key.
type Path = [u8; 32];

/// The digests of records by their keys, as a Merkle tree. Its structure depends on the records alone, and
/// not on their history. Clones share equal nodes, so that a change does not cost more when there are more
/// records.
#[derive(Debug, Clone, Default)]
pub(crate) struct Contents(Arc<Node>);

#[derive(Debug, Clone, Default)]
struct Node {
    content: Content,
    /// Computed on first use, and cleared by each change.
    digest: OnceLock<[u8; 32]>,
}

#[derive(Debug, Clone)]
enum Content {
    /// Up to [`LEAF`] records, in the order of their paths.
    Leaf(Vec<(Path, RecordDigest)>),
    /// More records than a leaf may contain: their number, and the children.
    Branch(usize, [Arc<Node>; FAN_OUT]),
}

impl Default for Content {
    fn default() -> Self {
        Self::Leaf(Vec::new())
    }
}

impl Contents {
    /// Returns the digest of the record at a key.
    pub(crate) fn get(&self, key: &[u8]) -> Option<RecordDigest> {
        self.0.get(0, &path(key))
    }

    /// Sets the digest of the record at a key.
    pub(crate) fn put(&mut self, key: &[u8], record: RecordDigest) {
        Arc::make_mut(&mut self.0).put(0, path(key), record);
    }

    /// Removes the digest of the record at a key.
    pub(crate) fn remove(&mut self, key: &[u8]) {
        Arc::make_mut(&mut self.0).remove(0, &path(key));
    }

    /// Returns the digest over all records.
    ///
    /// The digest of a leaf is the SHA-256 of the byte 0 and, in the order of paths, each path and the digest
    /// of its record. The digest of a branch is the SHA-256 of the byte 1 and the digests of its children.
    pub(crate) fn digest(&self) -> ContentsDigest {
        ContentsDigest(self.0.digest())
    }

    /// Returns the approximate memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.0.len().saturating_mul(RECORD_BYTES)
    }
}

fn path(key: &[u8]) -> Path {
    Sha256::digest(key).into()
}

/// Returns the index of the child of a branch at this depth that a path leads to.
fn branch(path: &Path, depth: usize) -> usize {
    let byte = path.get(depth / 2).copied().unwrap_or_default();
    usize::from(if depth.is_multiple_of(2) { byte >> 4 } else { byte & 0x0f })
}

impl Node {
    /// Builds the node at this depth from records in the order of their paths.
    fn of(records: Vec<(Path, RecordDigest)>, depth: usize) -> Self {
        let content = if records.len() <= LEAF || depth >= DEPTH {
            Content::Leaf(records)
        } else {
            let mut parts: [Vec<_>; FAN_OUT] = Default::default();
            let count = records.len();
            for record in records {
                if let Some(part) = parts.get_mut(branch(&record.0, depth)) {
                    part.push(record);
                }
            }
            Content::Branch(count, parts.map(|part| Arc::new(Self::of(part, depth.saturating_add(1)))))
        };
        Self { content, digest: OnceLock::new() }
    }

    fn len(&self) -> usize {
        match &self.content {
            Content::Leaf(records) => records.len(),
            Content::Branch(count, _) => *count,
        }
    }

    fn get(&self, depth: usize, path: &Path) -> Option<RecordDigest> {
        match &self.content {
            Content::Leaf(records) => {
                let index = records.binary_search_by(|(other, _)| other.cmp(path)).ok()?;
                records.get(index).map(|(_, record)| *record)
            }
            Content::Branch(_, children) => {
                children.get(branch(path, depth))?.get(depth.saturating_add(1), path)
            }
        }
    }

    /// Sets the digest of a record, and returns whether there was no record at this path.
    fn put(&mut self, depth: usize, path: Path, record: RecordDigest) -> bool {
        self.digest = OnceLock::new();
        match &mut self.content {
            Content::Leaf(records) => match records.binary_search_by(|(other, _)| other.cmp(&path)) {
                Ok(index) => {
                    if let Some((_, present)) = records.get_mut(index) {
                        *present = record;
                    }
                    false
                }
                Err(index) => {
                    records.insert(index, (path, record));
                    if records.len() > LEAF {
                        *self = Self::of(std::mem::take(records), depth);
                    }
                    true
                }
            },
            Content::Branch(count, children) => {
                let child = children.get_mut(branch(&path, depth)).map(Arc::make_mut);
                let is_new = child.is_some_and(|child| child.put(depth.saturating_add(1), path, record));
                *count = count.saturating_add(usize::from(is_new));
                is_new
            }
        }
    }

    /// Removes a record, and returns whether there was a record at this path.
    fn remove(&mut self, depth: usize, path: &Path) -> bool {
        self.digest = OnceLock::new();
        match &mut self.content {
            Content::Leaf(records) => match records.binary_search_by(|(other, _)| other.cmp(path)) {
                Ok(index) => {
                    records.remove(index);
                    true
                }
                Err(_) => false,
            },
            Content::Branch(count, children) => {
                let child = children.get_mut(branch(path, depth)).map(Arc::make_mut);
                let was_present = child.is_some_and(|child| child.remove(depth.saturating_add(1), path));
                *count = count.saturating_sub(usize::from(was_present));
                if *count <= LEAF {
                    let mut records = Vec::with_capacity(*count);
                    self.collect(&mut records);
                    self.content = Content::Leaf(records);
                }
                was_present
            }
        }
    }

    /// Appends all records of the node, in the order of their paths.
    fn collect(&self, records_out: &mut Vec<(Path, RecordDigest)>) {
        match &self.content {
            Content::Leaf(records) => records_out.extend_from_slice(records),
            Content::Branch(_, children) => {
                for child in children {
                    child.collect(records_out);
                }
            }
        }
    }

    fn digest(&self) -> [u8; 32] {
        *self.digest.get_or_init(|| {
            let mut hasher = Sha256::new();
            match &self.content {
                Content::Leaf(records) => {
                    hasher.update([0]);
                    for (path, record) in records {
                        hasher.update(path);
                        hasher.update(record.as_bytes());
                    }
                }
                Content::Branch(_, children) => {
                    hasher.update([1]);
                    for child in children {
                        hasher.update(child.digest());
                    }
                }
            }
            hasher.finalize().into()
        })
    }
}

#[cfg(test)]
mod tests;
