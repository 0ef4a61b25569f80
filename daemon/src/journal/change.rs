//! A change of organizations, with decrypted values.

use quorate_common::activity_log::LogHash;
use quorate_core::error::Corrupt;
use quorate_core::model::layout;
use quorate_core::model::write::Write;

use crate::barrier::Barrier;
use crate::store::{Batch, Register};

/// A change of organizations: a batch that gives at least one of them its next version. The versions order all changes of an
/// organization, so no other condition is needed to apply them again.
pub struct OrganizationChange {
    /// Versions of organizations before the change.
    pub expect: Vec<Register>,
    /// Versions of organizations after the change.
    pub set: Vec<Register>,
    /// Records that are written, decrypted.
    pub writes: Vec<Write>,
    /// Entries of the activity log.
    pub entries: Vec<LogHash>,
}

impl OrganizationChange {
    /// Returns whether a batch is a change of an organization.
    pub fn is_in(batch: &Batch) -> bool {
        batch.set.iter().any(|(key, _)| layout::is_version(key))
    }

    /// Decrypts a batch.
    ///
    /// # Errors
    /// Returns an error if a value cannot be decrypted.
    pub fn of(batch: &Batch, entries: &[LogHash], barrier: &Barrier) -> Result<Self, Corrupt> {
        let versions = |registers: &[Register]| {
            registers.iter().filter(|(key, _)| layout::is_version(key)).cloned().collect()
        };
        let (expect, set) = (versions(&batch.expect), versions(&batch.set));
        Ok(Self { expect, set, writes: barrier.open_writes(&batch.writes)?, entries: entries.to_vec() })
    }
}
