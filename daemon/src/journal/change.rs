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
use crate::store::Batch;

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
    /// Digest of the head before the change; `None` if there was none.
    pub head: Option<HeadDigest>,
}

/// The heads that the batches of a group leave, by the key of the version.
#[derive(Default)]
pub struct Heads(HashMap<Key, (u64, HeadDigest)>);

impl Heads {
    /// Returns the digest of the head that an organization has in this version, before the next batch.
    fn before(&self, register: &[u8], from: u64, barrier: &Barrier) -> Result<Option<HeadDigest>, Corrupt> {
        match self.0.get(register) {
            Some((version, digest)) if *version == from => Ok(Some(*digest)),
            _ => head(register, barrier),
        }
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

    /// Decrypts a batch, the next one of a group that leaves these heads.
    ///
    /// # Errors
    /// Returns an error if a value cannot be decrypted.
    pub fn of(
        batch: &Batch,
        entries: &[LogHash],
        barrier: &Barrier,
        heads: &mut Heads,
    ) -> Result<Self, Corrupt> {
        let writes = barrier.open_writes(&batch.writes)?;
        let mut steps = Vec::new();
        for (register, to) in batch.set.iter().filter(|(key, _)| layout::is_version(key)) {
            let expected = batch.expect.iter().find(|(key, _)| key == register);
            let from = expected.map_or(0, |(_, from)| *from);
            let head = heads.before(register, from, barrier)?;
            steps.push(Step { register: register.clone(), from, to: *to, head });
            let key = layout::organization_of_version(register);
            let written = writes.iter().find(|write| Some(&write.key) == key.as_ref());
            if let Some(head) = written.and_then(|write| write.value.as_ref()) {
                heads.0.insert(register.clone(), (*to, Sha256::digest(head.as_slice()).into()));
            }
        }
        Ok(Self { steps, writes, entries: entries.to_vec() })
    }
}
