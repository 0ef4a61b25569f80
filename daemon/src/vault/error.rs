//! Errors while opening or creating a vault, or changing its slots.

use std::path::{Path, PathBuf};

use crate::store::engine::Engine;

/// File name of the header.
pub(super) const HEADER: &str = "quorate.json";
/// Most slots that a store can have.
pub(super) const MAX_SLOTS: usize = 8;
/// Fewest characters of the passphrase of a new store or slot. Those that have a shorter one still open.
pub(super) const MIN_PASSPHRASE: usize = 8;

/// An error while opening or creating the vault.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    /// The key file is missing.
    #[error(
        "key file {} not found, and the store in {store} needs it; restore it from your copy, or correct [key]",
        .file.display()
    )]
    MissingKey {
        /// Path of the key file.
        file: PathBuf,
        /// Data directory, or the database.
        store: String,
    },
    /// The directory for the key file of a new store is missing.
    #[error("the directory {} of the key file does not exist; create it with mode 0700", .0.display())]
    NoKeyDirectory(PathBuf),
    /// Other users have access to the key file.
    #[error("the key file {0} is accessible to other users (mode {1:04o}); run: chmod 600 {0}")]
    KeyTooOpen(PathBuf, u32),
    /// The key file does not contain a key.
    #[error("the key file {0} must contain 64 hex digits")]
    NotAKey(PathBuf),
    /// The passphrase of a new store is too short.
    #[error("the passphrase is too short: use at least {MIN_PASSPHRASE} characters")]
    ShortPassphrase,
    /// The program of a slot failed.
    #[error("the command {program} failed: {reason}")]
    Command {
        /// Path of the program.
        program: String,
        /// Why it failed.
        reason: String,
    },
    /// The token of a slot cannot be used.
    #[error("the PKCS #11 token {token}: {reason}")]
    Token {
        /// Label of the token.
        token: String,
        /// Why it cannot be used.
        reason: String,
        /// Whether the token or its key is not there, or it does not answer.
        is_absent: bool,
    },
    /// The token rejected its PIN, and may lock itself if it is tried again.
    #[error("the PKCS #11 token {token}: {reason}")]
    Pin {
        /// Label of the token.
        token: String,
        /// Why the PIN was rejected.
        reason: &'static str,
    },
    /// A restore was interrupted.
    #[error("a restore to {0} was interrupted: run 'quorated restore' again, or remove the directory")]
    Restoring(PathBuf),
    /// The key belongs to another store.
    #[error("wrong key: it does not decrypt the store in {0}")]
    WrongKey(String),
    /// The key opens another store than that of a backup.
    #[error("wrong key: it does not decrypt the backup")]
    WrongBackupKey,
    /// No slot of the store is opened by the configured kind of key.
    #[error("the store in {0} is opened by {1}; configure [key] accordingly")]
    OtherKind(String, String),
    /// The store can only be opened by a daemon, to which holders give their shares.
    #[error(
        "the store in {0} is sealed: it is opened by shares, which a daemon collects; for commands that work \
         without a daemon, add a slot with a key file: 'quorated slot add --key-file FILE'"
    )]
    Sealed(String),
    /// The store was to be opened by shares, but none of its slots is.
    #[error(
        "the store in {0} is not opened by shares; configure its key file or passphrase in [key], start the daemon, \
         and move to shares with 'quorated rekey'"
    )]
    NoShares(String),
    /// A new store was to be opened by shares.
    #[error(
        "a new store needs a key file or a passphrase first: configure one in [key], start the daemon, and move \
         to shares with 'quorated rekey'"
    )]
    SharesFirst,
    /// No slot has this id.
    #[error("no slot has the id {0}; list the slots with 'quorated slot ls'")]
    NoSlot(String),
    /// Without this slot, nothing would open the store.
    #[error("slot {0} is the last one that opens the store; add another one first")]
    LastSlot(String),
    /// The store has as many slots as it can have.
    #[error("the store has {MAX_SLOTS} slots, which is the maximum; remove one with 'quorated slot rm'")]
    TooManySlots,
    /// The holders of a new set of shares are invalid.
    #[error("holders: {0}")]
    Holders(String),
    /// A slot is damaged.
    #[error("slot {0} is damaged: its shares do not open it; restore {HEADER} from a backup")]
    Slot(String),
    /// The store is on another engine than the configured one.
    #[error(
        "the store in {} is on the engine {}; set [store] engine accordingly, or copy the store with \
         'quorated store copy'", .0.display(), .1
    )]
    OtherEngine(PathBuf, Engine),
    /// The store was moved, so that this copy must not be served.
    #[error(
        "the store {0} was moved to {1}; configure that one, or run 'quorated store reclaim' if it was never served"
    )]
    Moved(String, String),
    /// The directory contains no store.
    #[error("no store in {0}; create one with 'quorated init'")]
    NoStore(PathBuf),
    /// The database contains no store.
    #[error("no store in the database {0}; check [store] url, or create a store with 'quorated init'")]
    NoStoreInDatabase(String),
    /// The header in the database is damaged or from a newer version.
    #[error(
        "the header of the store in the database is damaged or was written by a newer version of this program"
    )]
    DatabaseHeader,
    /// The directory contains a store without its header.
    #[error("the store in {} has no {HEADER}; restore that file from a backup", .0.display())]
    NoHeader(PathBuf),
    /// The header is damaged or from a newer version.
    #[error("{0} is damaged or was written by a newer version of this program")]
    Header(PathBuf),
    /// A call of the operating system failed.
    #[error("{doing} {}: {source}", .path.display())]
    System {
        /// Description of the operation that failed.
        doing: &'static str,
        /// Path of the file or directory.
        path: PathBuf,
        /// I/O error of the operating system.
        source: std::io::Error,
    },
}

/// Returns the error for a failed call of the operating system.
pub(super) fn system(doing: &'static str, path: &Path) -> impl Fn(std::io::Error) -> VaultError {
    move |source| VaultError::System { doing, path: path.to_owned(), source }
}
