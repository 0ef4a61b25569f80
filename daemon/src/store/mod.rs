//! The store: ordered keys, plain bytes, atomic durable groups of batches. What lies above seals; what lies
//! below never sees a secret in clear.

#[cfg(test)]
mod contract;
pub mod durable;
pub mod embedded;

use quorate_core::world::Page;

/// A key and its value.
pub type Row = (Vec<u8>, Vec<u8>);

/// The store did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process has the data folder open.
    #[error("the data folder {0} is in use by another process")]
    InUse(String),
    /// The store does not open.
    #[error("the store in {folder} does not open: {cause}")]
    Damaged {
        /// The folder.
        folder: String,
        /// What the store says.
        cause: String,
    },
    /// The operating system does not let the store be durable.
    #[error("writes cannot be made durable here: {0}")]
    NotDurable(String),
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

/// What must happen at once, and on what condition.
#[derive(Debug, Default)]
pub struct Batch {
    /// Registers that must have these values; one that was never set counts as zero.
    pub expect: Vec<Register>,
    /// Keys that must not exist.
    pub absent: Vec<Vec<u8>>,
    /// What no key may begin with.
    pub vacant: Vec<Vec<u8>>,
    /// Registers to set.
    pub set: Vec<Register>,
    /// Keys to write, or to remove.
    pub writes: Vec<(Vec<u8>, Option<Vec<u8>>)>,
}

/// What became of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is durable.
    Done,
    /// A condition did not hold; nothing of it happened.
    Clash,
}

/// An ordered store. Every implementation passes the contract suite of this room.
pub trait Store: Send + Sync {
    /// The value at a key.
    fn value(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError>;

    /// Rows of a range of keys.
    fn rows(&self, page: Page<'_>) -> Result<Vec<Row>, StoreError>;

    /// Keys of a range.
    fn keys(&self, page: Page<'_>) -> Result<Vec<Vec<u8>>, StoreError>;

    /// The value of a register.
    fn register(&self, key: &[u8]) -> Result<u64, StoreError>;

    /// Takes the batches in order; each sees what those before it did. When this returns, all that are
    /// [`Verdict::Done`] survive a crash and a power cut. An error means that nothing is known of any of
    /// them, and that the store must not be written to again.
    fn commit(&self, group: &[Batch]) -> Result<Vec<Verdict>, StoreError>;
}
