//! The store: ordered keys, plain bytes, and groups of batches that are atomic and durable. The barrier above
//! it encrypts, so no store ever sees a secret in plaintext.
//!
//! Reads return durable state only. Changes of a group become visible once they survive a power cut, so no
//! answer is based on changes that may be lost.

#[cfg(test)]
mod contract;
pub mod durable;
pub mod embedded;
pub mod engine;
mod files;
mod judge;
mod panics;
pub mod postgres;
mod range;
pub mod redb;
mod space;
#[cfg(test)]
pub(crate) mod testing;

use quorate_common::console::{EngineStatus, StoreDaemon};
use quorate_core::world::Page;

/// Maximum length of a value, in bytes. Implementations need not store longer values.
pub const LONGEST_VALUE: usize = 5 * 1024 + 512;

/// Whether a store must exist when it is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Existence {
    /// It is created if it is missing.
    Optional,
    /// It must exist.
    Required,
}

/// Who else may use a store at the same time. A store in a directory is always used alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Access {
    /// Nobody.
    #[default]
    Exclusive,
    /// Other daemons.
    Shared,
}

/// Id of a daemon among those that share a store.
pub type DaemonId = [u8; 16];

/// Number of bytes in a mebibyte.
const MIB: u64 = 1024 * 1024;

/// A key and its value.
pub type Row = (Vec<u8>, Vec<u8>);

/// An error of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process has the data directory open.
    #[error(
        "the data directory {0} is in use by another process; stop the daemon, or the other command, first"
    )]
    InUse(String),
    /// The store cannot be opened. The cause is in the log.
    #[error("the store in {0} is damaged and cannot be opened; restore a backup")]
    Damaged(String),
    /// There is no file of the store. Its disk may not be mounted.
    #[error("the store in {0} is empty; check that its disk is mounted, or restore the store from a backup")]
    Empty(String),
    /// The file of the store has a format that this program does not know.
    #[error("the store in {folder} has format {version} of redb, which this version of quorated cannot read")]
    Version {
        /// Directory of the store.
        folder: String,
        /// Number of the format.
        version: u8,
    },
    /// The database cannot be used as a store.
    #[error(transparent)]
    Database(#[from] postgres::DatabaseError),
    /// The operating system does not allow durable writes.
    #[error("writes cannot be made durable on this system: {0}")]
    NotDurable(String),
    /// Too little space is free on the file system of the store. Nothing was changed, and reads continue.
    #[error(
        "the file system of {folder} is full; free at least {} MiB ([store] reserve_mib)",
        needed.saturating_sub(*free).div_ceil(MIB)
    )]
    Full {
        /// Directory of the store.
        folder: String,
        /// Number of free bytes.
        free: u64,
        /// Number of bytes that must be free.
        needed: u64,
    },
    /// A file of the store cannot be accessed, which does not mean that the store is damaged.
    #[error("{doing} {path}: {source}")]
    System {
        /// Description of the operation that failed.
        doing: &'static str,
        /// Path of the directory or file.
        path: String,
        /// I/O error of the operating system.
        source: std::io::Error,
    },
    /// What belongs to a group could not be written elsewhere. Nothing was changed.
    #[error("{0}")]
    Journal(String),
    /// A commit failed, and the store has not been reopened yet.
    #[error("the store failed and is being reopened")]
    Unavailable,
    /// Reading or writing failed.
    #[error("{doing}: {cause}")]
    Failed {
        /// Description of the operation that failed.
        doing: &'static str,
        /// Error that the store reported.
        cause: String,
    },
}

/// A register: a number under a key, which commits compare and set.
pub type Register = (Vec<u8>, u64);

/// SHA-256 digest of a value.
pub type ValueDigest = [u8; 32];

/// A write or removal of a record.
#[derive(Debug, Clone)]
pub struct Change {
    /// Key of the record.
    pub key: Vec<u8>,
    /// Value of at most [`LONGEST_VALUE`] bytes; `None` removes the record.
    pub value: Option<Vec<u8>>,
    /// Whether the writer knows that no record exists under this key, which saves a lookup.
    pub fresh: bool,
}

impl Change {
    /// Creates or replaces a record.
    pub fn put(key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) -> Self {
        Self { key: key.into(), value: Some(value.into()), fresh: false }
    }

    /// Removes a record.
    pub fn remove(key: impl Into<Vec<u8>>) -> Self {
        Self { key: key.into(), value: None, fresh: false }
    }
}

/// Changes that are applied together, and their conditions.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// Registers that must have these values; a register that was never set is zero.
    pub expect: Vec<Register>,
    /// Keys that must not exist.
    pub must_not_exist: Vec<Vec<u8>>,
    /// Records that must have these values.
    pub must_equal: Vec<(Vec<u8>, ValueDigest)>,
    /// Prefixes that must be empty: no key may begin with them.
    pub must_be_empty: Vec<Vec<u8>>,
    /// Registers to set.
    pub set: Vec<Register>,
    /// Records to write.
    pub writes: Vec<Change>,
}

impl Batch {
    /// Returns whether the batch changes nothing.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty() && self.writes.is_empty()
    }
}

/// A record that a group changes.
#[derive(Debug, Clone, Copy)]
pub struct Changed<'a> {
    /// Key of the record.
    pub key: &'a [u8],
    /// Value before the group, if the record existed.
    pub before: Option<&'a [u8]>,
    /// Value after the group, if the record exists then.
    pub after: Option<&'a [u8]>,
}

/// Source of records that are written together with a group.
pub trait ExtraRecords {
    /// Returns records to write with a group that has these outcomes and makes these changes. The group must not change the
    /// returned records itself.
    ///
    /// # Errors
    /// Returns an error if a record cannot be created. Nothing of the group is committed then.
    fn records(
        &self,
        outcomes: &[BatchOutcome],
        changed: &mut dyn Iterator<Item = Changed<'_>>,
    ) -> Result<Vec<Change>, StoreError>;
}

/// Describes a group to the other daemons that share a store.
pub trait Announcement {
    /// Returns the notice of a group with these outcomes, unless the others need none.
    ///
    /// # Errors
    /// Returns an error if it cannot be created. Nothing of the group is committed then.
    fn notice(&self, outcomes: &[BatchOutcome]) -> Result<Option<Vec<u8>>, StoreError>;
}

/// Batches that become durable with one sync.
#[derive(Default)]
pub struct Group<'t> {
    /// Batches in order; each sees the changes of the earlier ones.
    pub batches: Vec<Batch>,
    /// Source of further records. It is called only if a batch changes something.
    pub extra: Option<&'t dyn ExtraRecords>,
    /// Source of the notice to other daemons.
    pub announcement: Option<&'t dyn Announcement>,
    /// Oldest term in which its values were sealed, if it may have ended for this daemon.
    pub term: Option<u32>,
}

impl Group<'_> {
    /// Creates a group of one batch.
    pub fn of(batch: Batch) -> Self {
        Self { batches: vec![batch], ..Self::default() }
    }
}

/// Outcome of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchOutcome {
    /// The batch is durable.
    Done,
    /// A condition did not hold, and nothing was changed.
    Clash,
}

/// Reads all rows under a prefix in order, and passes them on in chunks.
///
/// # Errors
/// Returns an error if the store cannot be read, or the error of `take`.
pub fn each_chunk<E: From<StoreError>>(
    store: &dyn Store,
    prefix: &[u8],
    chunk: usize,
    mut take: impl FnMut(Vec<Row>) -> Result<(), E>,
) -> Result<(), E> {
    let mut after: Option<Vec<u8>> = None;
    loop {
        let rows = store.rows(Page { after: after.as_deref(), ..Page::first(prefix, chunk) })?;
        let Some((last, _)) = rows.last() else { return Ok(()) };
        after = Some(last.clone());
        take(rows)?;
    }
}

/// Reads a record.
pub type ReadRecord<'r> = &'r dyn Fn(&[u8]) -> Result<Option<Vec<u8>>, StoreError>;

/// Decides whether readers may see a store that was reopened: it may have lost what was acknowledged.
pub trait Acceptance {
    /// Checks records of the reopened store.
    ///
    /// # Errors
    /// Returns an error if the store must not be read.
    fn check(&self, read: ReadRecord<'_>) -> Result<(), StoreError>;
}

/// The records of one moment.
pub trait Snapshot: Send {
    /// Returns rows of a range of keys.
    ///
    /// # Errors
    /// Returns an error if they cannot be read.
    fn rows(&self, page: Page<'_>) -> Result<Vec<Row>, StoreError>;
}

/// Called when a store fails by itself.
pub type FailureCallback = Box<dyn Fn() + Send + Sync>;

/// Called with each notice of another daemon.
pub type NoticeCallback = Box<dyn Fn(&[u8]) + Send + Sync>;

impl StoreError {
    /// Returns whether there is too little space. Nothing was changed, and reads continue.
    pub const fn is_full(&self) -> bool {
        matches!(self, Self::Full { .. } | Self::Database(postgres::DatabaseError::Full(_)))
    }
}

/// An ordered store. Each implementation passes the contract test suite of this module.
///
/// All reads return [`StoreError::Unavailable`] while the store is being reopened, and [`StoreError::Failed`]
/// if data cannot be read.
pub trait Store: Send + Sync {
    /// Returns the value of a key.
    ///
    /// # Errors
    /// See the trait documentation.
    fn value(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError>;

    /// Returns rows of a range of keys.
    ///
    /// # Errors
    /// See the trait documentation.
    fn rows(&self, page: Page<'_>) -> Result<Vec<Row>, StoreError>;

    /// Returns keys of a range.
    ///
    /// # Errors
    /// See the trait documentation.
    fn keys(&self, page: Page<'_>) -> Result<Vec<Vec<u8>>, StoreError>;

    /// Returns the value of a register.
    ///
    /// # Errors
    /// See the trait documentation.
    fn register(&self, key: &[u8]) -> Result<u64, StoreError>;

    /// Returns whether each read waits for a server.
    fn is_remote(&self) -> bool {
        false
    }

    /// Ends terms: from now on, no daemon commits a group whose values were sealed before this one.
    ///
    /// # Errors
    /// See the trait documentation.
    fn end_terms_before(&self, term: u32) -> Result<(), StoreError> {
        let _ = term;
        Ok(())
    }

    /// Marks this process as the daemon with this id, which no other process may be at the same time.
    ///
    /// # Errors
    /// Returns an error if another process is this daemon, or the store cannot be written.
    fn become_daemon(&self, id: DaemonId) -> Result<(), StoreError> {
        let _ = id;
        Ok(())
    }

    /// Lets other daemons use the store, which was used alone until something was stored in it.
    ///
    /// # Errors
    /// See the trait documentation.
    fn share(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Returns the records of one moment, if others may change the store meanwhile.
    ///
    /// # Errors
    /// See the trait documentation.
    fn snapshot(&self) -> Result<Option<Box<dyn Snapshot>>, StoreError> {
        Ok(None)
    }

    /// Returns the engine, and the settings on which the durability of a commit depends.
    fn engine(&self) -> EngineStatus;

    /// Returns the daemons that share the store, this one included. Stores in a directory have none.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    fn daemons(&self) -> Result<Vec<StoreDaemon>, StoreError> {
        Ok(Vec::new())
    }

    /// Commits a group. When this returns, all batches that are [`BatchOutcome::Done`] survive a crash and a power
    /// cut.
    ///
    /// # Errors
    /// Returns an error that [`StoreError::is_full`] if nothing of the group was committed. After any other error, it is
    /// unknown which batches are on disk. Reads then return the state before the group, and commits fail,
    /// until [`Store::recover`] succeeds.
    fn commit(&self, group: &Group<'_>) -> Result<Vec<BatchOutcome>, StoreError>;

    /// Returns whether a small group would be accepted now.
    ///
    /// # Errors
    /// Returns [`StoreError::Full`] or [`StoreError::Unavailable`], as a commit would.
    fn ready(&self) -> Result<(), StoreError>;

    /// Returns why the store failed, if it knows more than the error [`StoreError::Unavailable`] states.
    fn failure(&self) -> Option<String> {
        None
    }

    /// Registers a callback for failures that no commit reports. The next commit then returns
    /// [`StoreError::Unavailable`]. The callback may be called several times for one failure.
    fn on_failure(&self, callback: FailureCallback);

    /// Registers a callback for the notices of other daemons, which are called in the order of their groups. No notice is lost
    /// until the store fails, but one may arrive late.
    fn on_notice(&self, callback: NoticeCallback) {
        drop(callback);
    }

    /// Reopens the store from the data on disk, after a failure. Until this succeeds, the store is unavailable:
    /// nothing is read from a reopened store before it is accepted.
    ///
    /// # Errors
    /// Returns an error if the disk is not writable, or the store cannot be opened or is not accepted.
    fn recover(&self, acceptance: &dyn Acceptance) -> Result<(), StoreError>;

    /// Closes the store at the end of the process, so that the next start needs not check it as after a kill. Afterwards
    /// all calls return [`StoreError::Unavailable`], or work as before.
    fn close(&self) {}

    /// Returns the header that is stored with the records. Engines in a directory have a file instead.
    ///
    /// # Errors
    /// See the trait documentation.
    fn header(&self) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(None)
    }

    /// Stores the header with the records. Does nothing on engines in a directory.
    ///
    /// # Errors
    /// Returns an error if it cannot be stored.
    fn set_header(&self, header: &[u8]) -> Result<(), StoreError> {
        let _ = header;
        Ok(())
    }

    /// Returns whether registers still have the values that an answer was computed from. An answer without a
    /// commit must not be sent before this check.
    ///
    /// # Errors
    /// See the trait documentation.
    fn confirm(&self, expected: &[Register]) -> Result<bool, StoreError>;
}
