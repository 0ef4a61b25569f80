//! The store: ordered keys, plain bytes, atomic durable groups of batches. The barrier above it seals; no store ever
//! sees a secret in clear.
//!
//! Reads return durable state only. What a group changes becomes visible when it survives a power cut, never before, so
//! that no answer can rest on something that is taken back.

#[cfg(test)]
mod contract;
pub mod durable;
pub mod embedded;
#[cfg(test)]
pub(crate) mod testing;

use quorate_core::world::Page;

/// Longest value of a key, in bytes. No implementation has to store longer ones in one piece.
pub const LONGEST_VALUE: usize = 5 * 1024 + 512;

/// Bytes in a mebibyte.
const MIB: u64 = 1024 * 1024;

/// A key and its value.
pub type Row = (Vec<u8>, Vec<u8>);

/// A request that the store could not serve.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process has the data folder open.
    #[error("the data folder {0} is in use by another process")]
    InUse(String),
    /// The store does not open. The log has the cause.
    #[error("the store in {0} is damaged and cannot be opened; restore a backup")]
    Damaged(String),
    /// The operating system does not let the store be durable.
    #[error("writes cannot be made durable here: {0}")]
    NotDurable(String),
    /// Too little space is free on the file system of the store. Nothing of the group happened, and reads go on.
    #[error(
        "the file system of {folder} is full; free at least {} MiB ([store] reserve_mib)",
        needed.saturating_sub(*free).div_ceil(MIB)
    )]
    Full {
        /// The folder.
        folder: String,
        /// Bytes that are free.
        free: u64,
        /// Bytes that must be free.
        needed: u64,
    },
    /// The system does not let a file of the store be used, which does not mean that the store is damaged.
    #[error("{doing} {path}: {source}")]
    System {
        /// What was being done.
        doing: &'static str,
        /// The folder or file.
        path: String,
        /// Error of the system.
        source: std::io::Error,
    },
    /// A commit failed, and the store has not been reopened yet.
    #[error("the store failed and is being reopened")]
    Unavailable,
    /// Reading or writing failed.
    #[error("{doing}: {cause}")]
    Failed {
        /// What was being done.
        doing: &'static str,
        /// What the store says.
        cause: String,
    },
}

/// A register: a number under a key, which commits compare and set.
pub type Register = (Vec<u8>, u64);

/// A record to write.
#[derive(Debug, Clone)]
pub struct Change {
    /// Key.
    pub key: Vec<u8>,
    /// Value, at most [`LONGEST_VALUE`] bytes; `None` removes the record.
    pub value: Option<Vec<u8>>,
    /// Whether the writer knows that no record exists under this key, which spares the store a look-up.
    pub fresh: bool,
}

impl Change {
    /// Writes or replaces a record.
    pub fn put(key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) -> Self {
        Self { key: key.into(), value: Some(value.into()), fresh: false }
    }

    /// Removes a record.
    pub fn remove(key: impl Into<Vec<u8>>) -> Self {
        Self { key: key.into(), value: None, fresh: false }
    }
}

/// Changes that happen together, and their conditions.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// Registers that must have these values; one that was never set counts as zero.
    pub expect: Vec<Register>,
    /// Keys that must not exist.
    pub absent: Vec<Vec<u8>>,
    /// Prefixes that no key may have.
    pub vacant: Vec<Vec<u8>>,
    /// Registers to set.
    pub set: Vec<Register>,
    /// Records to write.
    pub writes: Vec<Change>,
}

impl Batch {
    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty() && self.writes.is_empty()
    }
}

/// A record that a group changes.
#[derive(Debug, Clone, Copy)]
pub struct Changed<'a> {
    /// Key.
    pub key: &'a [u8],
    /// Value before the group, if there was a record.
    pub before: Option<&'a [u8]>,
    /// Value after the group, if there is a record then.
    pub after: Option<&'a [u8]>,
}

/// Knows what is to be written with each group.
pub trait Trailer {
    /// Returns records to write with a group that changes these records. The group changes none of those returned.
    ///
    /// # Errors
    /// When a record cannot be made. Nothing of the group happens then.
    fn records(&self, changed: &mut dyn Iterator<Item = Changed<'_>>) -> Result<Vec<Change>, StoreError>;
}

/// Batches that become durable with one sync.
#[derive(Default)]
pub struct Group<'t> {
    /// The batches, in order; each sees what those before it did.
    pub batches: Vec<Batch>,
    /// What is written with the group, unless none of its batches changes anything.
    pub trailer: Option<&'t dyn Trailer>,
}

impl Group<'_> {
    /// A group of one batch.
    pub fn of(batch: Batch) -> Self {
        Self { batches: vec![batch], trailer: None }
    }
}

/// Outcome of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is durable.
    Done,
    /// A condition did not hold; nothing of it happened.
    Clash,
}

/// What is called when a store fails by itself.
pub type Alert = Box<dyn Fn() + Send + Sync>;

/// An ordered store. Every implementation passes the contract suite of this module.
///
/// Every read fails with [`StoreError::Unavailable`] while the store is being reopened, and with [`StoreError::Failed`]
/// where the engine cannot read.
pub trait Store: Send + Sync {
    /// Returns the value of a key.
    ///
    /// # Errors
    /// See the trait.
    fn value(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError>;

    /// Returns rows of a range of keys.
    ///
    /// # Errors
    /// See the trait.
    fn rows(&self, page: Page<'_>) -> Result<Vec<Row>, StoreError>;

    /// Returns keys of a range.
    ///
    /// # Errors
    /// See the trait.
    fn keys(&self, page: Page<'_>) -> Result<Vec<Vec<u8>>, StoreError>;

    /// Returns the value of a register.
    ///
    /// # Errors
    /// See the trait.
    fn register(&self, key: &[u8]) -> Result<u64, StoreError>;

    /// Commits a group. When this returns, all batches that are [`Verdict::Done`] survive a crash and a power cut.
    ///
    /// # Errors
    /// [`StoreError::Full`]: nothing of the group happened. After every other error it is unknown which batches are on
    /// disk: reads return the state before the group, and commits fail, until [`Store::recover`] succeeds.
    fn commit(&self, group: &Group<'_>) -> Result<Vec<Verdict>, StoreError>;

    /// Returns whether a small group would be tried now.
    ///
    /// # Errors
    /// [`StoreError::Full`] and [`StoreError::Unavailable`], as a commit would.
    fn ready(&self) -> Result<(), StoreError>;

    /// Registers what is called when the engine fails by itself, without a commit that tells of it. The next commit
    /// then fails with [`StoreError::Unavailable`]. May be called several times for one failure.
    fn on_failure(&self, alert: Alert);

    /// Reopens the store from what is on disk, after a failure. Until this succeeds, the state is unchanged.
    ///
    /// # Errors
    /// When the disk cannot be written to, or the store does not open.
    fn recover(&self) -> Result<(), StoreError>;

    /// Returns whether registers still have the values that an answer was computed from. An answer that carries no
    /// commit leaves only after this.
    ///
    /// # Errors
    /// See the trait.
    fn confirm(&self, relied: &[Register]) -> Result<bool, StoreError>;
}
