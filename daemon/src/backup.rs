//! Backups: all records of a store at one moment, in one file that can be written while the daemon serves.
//!
//! | part | contents |
//! |---|---|
//! | head | one line of JSON: [`Head`] |
//! | frames | each a word of 4 bytes (big-endian) and as many encrypted bytes; the highest bit of the word marks the last frame |
//! | trailer | one line of JSON: [`Trailer`] |
//! | signature | one line: 64 bytes in hexadecimal digits (Ed25519, RFC 8032) |
//!
//! The frames are encrypted with AES-256-GCM-SIV (RFC 8452) as a STREAM ("Online Authenticated-Encryption and its Nonce-Reuse
//! Misuse-Resistance", 2015, with a counter of 32 bits), and the SHA-256 digest of the head is their associated data. The chain
//! begins with that digest; each further value is the SHA-256 digest of the one before, the word and the encrypted bytes. The
//! signature is over `quorate-backup/1` and a line end, the last value of the chain and the trailer, without its line end. So everything except what the
//! frames contain can be checked without a key.
//!
//! What is encrypted is a list of [`Entry`]. They are applied in their order: a record that changed while the file was written is
//! contained several times.

mod checker;
mod entry;
mod reader;
mod recorder;
mod writer;

use quorate_common::console::activity_log::LogCheckpoint;
use quorate_core::model::Millis;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

pub use self::checker::{Checked, Checker};
pub use self::entry::Entry;
pub use self::reader::Reader;
pub use self::recorder::Recorder;
pub use self::writer::{Source, write};
use crate::store::StoreError;
use crate::store::engine::Engine;
use crate::vault::Header;

/// Name of the format.
const FORMAT: &str = "quorate-backup/1";
/// Prefix of what is signed.
const SIGNED: &[u8] = b"quorate-backup/1\n";
/// Maximum length of a decrypted frame, in bytes.
const FRAME: usize = 256 * 1024;
/// Length of an authentication tag, in bytes.
const TAG: usize = 16;
/// Bit of the word before the last frame.
const LAST: u32 = 1 << 31;
/// Maximum length of a line, in bytes.
const LINE: usize = 1024 * 1024;
/// Associated data with which the key of the file is sealed, before the id of the store.
const WRAPPING: &[u8] = b"quorate/backup/";

/// What a backup states about itself.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Head {
    format: String,
    /// Id of the store.
    pub store_id: String,
    /// Engine of the store. The backup can be restored to any.
    pub engine: Engine,
    /// Version of the daemon.
    pub version: String,
    /// Begin, in milliseconds since 1970.
    pub begun: Millis,
    /// Ed25519 key of the signature, in hexadecimal digits. It belongs to the store.
    pub public_key: String,
    /// Header of the store, with its slots.
    pub header: Header,
    /// Checkpoint of the activity log when the backup began.
    pub log: LogCheckpoint,
    /// First 7 bytes of the nonces, in hexadecimal digits.
    nonce: String,
    /// Key of the frames, sealed with the backup key of the store, in hexadecimal digits.
    key: String,
}

/// What a backup contains.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Trailer {
    /// Number of frames.
    pub frames: u64,
    /// Number of decrypted bytes.
    pub bytes: u64,
    /// Number of records that were read.
    pub records: u64,
    /// Number of changes that were made meanwhile.
    pub changes: u64,
    /// End, in milliseconds since 1970.
    pub ended: Millis,
}

/// Why a backup cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The file is not a backup, or is damaged.
    #[error("the backup is damaged: {0}; use another one")]
    Damaged(&'static str),
    /// The file is of a newer version.
    #[error("the backup has a format that this version of quorated cannot read")]
    Format,
    /// The store key is that of another store.
    #[error("the backup is of another store than the key")]
    OtherStore,
    /// The file was signed by somebody else.
    #[error("the backup was not signed by the store that it names")]
    OtherSigner,
    /// The file cannot be read or written.
    #[error("{0}")]
    System(#[from] std::io::Error),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store failed while the backup was written.
    #[error("the store failed during the backup; try again")]
    Interrupted,
    /// What is written to cannot keep up with the changes.
    #[error(
        "the backup is written more slowly than the store changes; write it to a faster place, or at another time"
    )]
    TooSlow,
    /// The cryptographic library or the random source failed.
    #[error("the backup cannot be encrypted: {0}")]
    Encryption(&'static str),
}

/// Returns the value of the chain after a frame.
fn next_link(chain: &[u8; 32], word: [u8; 4], sealed: &[u8]) -> [u8; 32] {
    Sha256::new().chain_update(chain).chain_update(word).chain_update(sealed).finalize().into()
}

#[cfg(test)]
mod tests;
