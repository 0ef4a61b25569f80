//! The keys of the activity log, which the daemon keeps beside its own records.

use super::{Key, Letter, below, key};

/// Prefix of all records of the log.
const LOG: &[u8] = b"ml";
/// Key of the head.
pub const HEAD: &[u8] = b"mlh";
/// Prefix of the hashes of the tree.
const HASHES: &[u8] = b"mlc";
/// Prefix of the entries that are not in the tree yet.
pub const WAITING: &[u8] = b"mlq";

/// Returns whether a record belongs to the log.
pub fn is_of_log(key: &[u8]) -> bool {
    key.starts_with(LOG)
}

/// Returns the key of a chunk of the hashes of the tree, by its number.
pub fn hashes(chunk: u64) -> Key {
    below(HASHES.to_vec(), &chunk.to_be_bytes())
}

/// Returns the key of the entries of a group of a daemon. The only daemon of a store has no id.
pub fn waiting(daemon: &[u8], group: u64) -> Key {
    [WAITING, daemon, &group.to_be_bytes()].concat()
}

/// Returns the key of the register with the number of entries in the tree.
pub fn size() -> Key {
    key(Letter::Version, &[b"log/size"])
}
