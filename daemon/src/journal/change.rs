//! A change of organizations, with decrypted values.

use std::collections::HashMap;

use quorate_common::activity_log::LogHash;
use quorate_core::error::Corrupt;
use quorate_core::model::layout::{self, Key};
use quorate_core::model::write::Write;
use quorate_core::world::Records;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::barrier::Barrier;
use crate::store::{Batch, Register};

/// SHA-256 digest of the head of an organization.
pub type HeadDigest = [u8; 32];

/// A change of organizations: a batch that gives at least one of them its next version. It continues exactly one state of each,
/// so no other condition is needed to apply it again.
pub struct OrganizationChange {
    /// The organizations with their versions.
    pub steps: Vec<Step>,
    /// Records that are written, decrypted.
    pub writes: Vec<Write>,
    /// Entries of the activity log.
    pub entries: Vec<LogHash>,
}

/// The next version of an organization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Key of the register of the version.
    pub register: Key,
    /// Version before the change; zero for a new organization.
    pub from: u64,
    /// Version after the change.
    pub to: u64,
    /// Digest of the head in the store before the group of the change; `None` if there was none.
    pub head: Option<HeadDigest>,
    /// Digest of the head after the change.
    pub after: Option<HeadDigest>,
}

/// The heads that the committed batches of a group leave, by the key of the version.
#[derive(Default)]
pub struct Heads(HashMap<Key, Option<HeadDigest>>);

impl Heads {
    /// Returns the digest of the head before a step.
    pub(super) fn before(&self, step: &Step) -> Option<HeadDigest> {
        self.0.get(&step.register).copied().unwrap_or(step.head)
    }

    /// Adds what a committed change leaves.
    pub(super) fn add(&mut self, change: &OrganizationChange) {
        self.0.extend(change.steps.iter().map(|step| (step.register.clone(), step.after)));
    }
}

/// Returns the digest of the present head of an organization.
///
/// # Errors
/// Returns an error if the store cannot be read.
pub fn head(register: &[u8], barrier: &Barrier) -> Result<Option<HeadDigest>, Corrupt> {
    let Some(key) = layout::organization_of_version(register) else { return Ok(None) };
    Ok(barrier.read(&key)?.map(Zeroizing::new).map(|head| Sha256::digest(&*head).into()))
}

impl OrganizationChange {
    /// Returns whether a batch is a change of an organization.
    pub fn is_in(batch: &Batch) -> bool {
        batch.set.iter().any(|(key, _)| layout::is_version(key))
    }

    /// Decrypts a batch.
    ///
    /// # Errors
    /// Returns an error if a value cannot be decrypted, or the store cannot be read.
    pub fn of(batch: &Batch, entries: &[LogHash], barrier: &Barrier) -> Result<Self, Corrupt> {
        let writes = barrier.open_writes(&batch.writes)?;
        let step = |(register, to): &Register| {
            let expected = batch.expect.iter().find(|(key, _)| key == register);
            let from = expected.map_or(0, |(_, from)| *from);
            let after =
                after(register, writes.iter().map(|write| (write.key.as_slice(), write.value.as_deref())));
            Ok(Step { register: register.clone(), from, to: *to, head: head(register, barrier)?, after })
        };
        let steps = batch.set.iter().filter(|(key, _)| layout::is_version(key)).map(step);
        Ok(Self { steps: steps.collect::<Result<_, Corrupt>>()?, writes, entries: entries.to_vec() })
    }
}

/// Returns the digest of the head that an organization has after these writes, if they write it.
pub fn after<'w, V: AsRef<[u8]> + 'w>(
    register: &[u8],
    mut writes: impl Iterator<Item = (&'w [u8], Option<V>)>,
) -> Option<HeadDigest> {
    let organization = layout::organization_of_version(register)?;
    let (_, head) = writes.find(|(key, _)| *key == organization.as_slice())?;
    head.map(|head| Sha256::digest(head.as_ref()).into())
}
