//! The journal: a file on another medium than the store, with every change of an organization. A restore applies what was
//! changed after its backup, so a revoked key stays revoked, and a key that was created since is not lost.
//!
//! | part | contents |
//! |---|---|
//! | head | one line of JSON: [`Head`] |
//! | frames | each a word of 8 bytes and sealed bytes |
//!
//! The word is the length of the sealed bytes (4 bytes, big-endian) and the first 4 bytes of the SHA-256 digest of the place of
//! the frame and this length. The place is the SHA-256 digest of the head and the number of frames before (8 bytes,
//! big-endian). A frame is sealed with AES-256-GCM-SIV (RFC 8452), with its place as associated data. So frames cannot be
//! removed, moved or exchanged, except at the end.
//!
//! A frame is durable before its group is committed, and the number of the newest committed frame is a register that the
//! group sets. If the commit fails, the frame is not part of the history; the next frame shows that, since it states the number
//! of the committed frame before it. Numbers are random, so no two frames of any journals have the same by mistake. After a
//! commit, a frame without changes follows that confirms it. It is not synced.

mod change;
mod file;
mod frame;
mod history;
mod reader;

use std::io;
use std::path::{Path, PathBuf};

use quorate_core::error::Corrupt;
use quorate_core::model::Millis;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

pub use self::change::{HeadDigest, Heads, OrganizationChange, Step, after, head};
pub use self::file::{Journal, Known, check_path, is_same, new_number};
pub use self::frame::{Frame, FrameChange, FrameStep};
pub use self::history::{History, Seen};
pub use self::reader::Reader;
use self::reader::WORD;
use crate::clock;

/// Name of the format.
const FORMAT: &str = "quorate-journal/1";
/// Maximum length of the head, in bytes.
const LINE: usize = 4096;
/// Maximum length of a sealed frame, in bytes. It contains the changes of one group.
const LONGEST: u32 = 1024 * 1024 * 1024;

/// What a journal states about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Head {
    format: String,
    /// Id of the store.
    pub store_id: String,
    /// Id of the daemon among those that share the store, in hexadecimal digits; empty for the only daemon of a store.
    pub daemon: String,
    /// Number of the epoch of the store.
    pub epoch: u32,
    /// Begin, in milliseconds since 1970.
    pub begun: Millis,
}

/// Why a journal cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file is missing, although changes were recorded in it.
    #[error(
        "the journal {} is missing; check that its disk is mounted; to begin another one, create an empty file there, and \
         make a backup then",
        .0.display()
    )]
    Missing(PathBuf),
    /// The file is no journal, or frames in its middle cannot be read.
    #[error(
        "the journal {} is damaged: {}; keep the file, and create an empty one at its path, and make a backup then",
        .0.display(), .1
    )]
    Damaged(PathBuf, &'static str),
    /// The file is of a newer version.
    #[error("the journal {} has a format that this version of quorated cannot read", .0.display())]
    Format(PathBuf),
    /// The file is of another store.
    #[error("the journal {} is of another store: name another path", .0.display())]
    OtherStore(PathBuf),
    /// The file is of another daemon of the store.
    #[error("the journal {} is of another daemon of the store: name another path", .0.display())]
    OtherDaemon(PathBuf),
    /// The file contains changes that the store does not have.
    #[error(
        "the journal {} has changes that the store lost; restore a backup, which takes them from the journal; to continue \
         with the present store, run 'quorated accept-loss'",
        .0.display()
    )]
    Ahead(PathBuf),
    /// The file is of a later epoch than the store.
    #[error(
        "the journal {} begins after the restore of {}, and this store is older; use a later backup, or move the journal away",
        .path.display(), clock::text(*.begun)
    )]
    Later {
        /// Path of the journal.
        path: PathBuf,
        /// Begin of the journal, in milliseconds since 1970.
        begun: Millis,
    },
    /// Another process writes to the file.
    #[error("the journal {} is in use by another process", .0.display())]
    InUse(PathBuf),
    /// The file cannot be read or written.
    #[error("journal {}: {source}", .path.display())]
    System {
        /// Path of the journal.
        path: PathBuf,
        /// I/O error of the operating system.
        source: io::Error,
    },
    /// A change cannot be sealed or decrypted.
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
}

/// Returns the error of an operation on a journal.
fn system(path: &Path) -> impl FnOnce(io::Error) -> JournalError + '_ {
    |source| JournalError::System { path: path.to_owned(), source }
}

/// Returns the associated data of the frame at a position.
fn place(head: &[u8; 32], position: u64) -> Vec<u8> {
    [head.as_slice(), &position.to_be_bytes()].concat()
}

/// Returns the word before a frame of this length at a position.
fn word(head: &[u8; 32], position: u64, length: u32) -> [u8; WORD] {
    let length = length.to_be_bytes();
    let digest = Sha256::new().chain_update(place(head, position)).chain_update(length).finalize();
    let mut word = [0; WORD];
    word.iter_mut().zip(length.iter().chain(digest.iter())).for_each(|(to, from)| *to = *from);
    word
}

/// Returns the length in a word; `None` if it was not written for this position.
fn open_word(head: &[u8; 32], position: u64, bytes: [u8; WORD]) -> Option<u32> {
    let length = u32::from_be_bytes(*bytes.first_chunk()?);
    (length <= LONGEST && word(head, position, length) == bytes).then_some(length)
}

/// Decodes the line of a head, without its end. Also returns its digest.
fn decode_head(path: &Path, line: &[u8]) -> Result<(Head, [u8; 32]), JournalError> {
    /// The member that every version has.
    #[derive(Deserialize)]
    struct Format {
        format: String,
    }
    let format: Option<Format> = serde_json::from_slice(line).ok();
    let format = format.map(|format| format.format).unwrap_or_default();
    if format != FORMAT && format.starts_with("quorate-journal/") {
        return Err(JournalError::Format(path.to_owned()));
    }
    let head = serde_json::from_slice(line).ok().filter(|_| format == FORMAT);
    let head = head.ok_or_else(|| JournalError::Damaged(path.to_owned(), "it is not a journal"))?;
    Ok((head, Sha256::digest(line).into()))
}

#[cfg(test)]
mod tests;
