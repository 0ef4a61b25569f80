//! Verification of a whole store: each record can be decrypted, each organization matches the digest in its
//! head, and each activity has the index entries of its status.

use quorate_common::ids::OrganizationId;
use quorate_core::activity_log::Log;
use quorate_core::error::Corrupt;
use quorate_core::model::layout;
use quorate_core::records;
use quorate_core::world::Records;
use quorate_core::{consistency, waiting_index};

use crate::barrier::{Barrier, is_part};
use crate::guard::{self, Comparison, IndexState};
use crate::store::{StoreError, each_chunk};

/// Number of rows that are read at once.
const CHUNK: usize = 256;

/// Result of a verification.
#[derive(Default)]
pub struct Report {
    /// Number of records that were read.
    pub records: u64,
    /// Number of organizations that were checked, including deleted ones.
    pub organizations: u64,
    /// Problems, one sentence each.
    pub problems: Vec<String>,
    /// State of the index of waiting activities. It is compared with them only if it is current.
    pub index: IndexState,
}

/// Reads and checks all records of a store.
///
/// # Errors
/// Returns an error if the store itself cannot be read.
pub fn verify(barrier: &Barrier) -> Result<Report, StoreError> {
    // An unreadable record of the guard is among the problems.
    let index = guard::index_state(barrier).unwrap_or_default();
    let mut report = Report { index, ..Report::default() };
    let mut comparison = Comparison::default();
    each_chunk(barrier.store().as_ref(), b"", CHUNK, |rows| {
        for row in rows {
            report.check(barrier, &row.0);
            comparison.add(barrier, row);
        }
        Ok::<_, StoreError>(())
    })?;
    if let Err(error) = log(barrier) {
        report.problems.push(format!("activity log: {error}"));
    }
    if let Err(altered) = comparison.finish() {
        report.problems.push(altered.to_string());
    }
    Ok(report)
}

/// Computes the activity log again from its entries.
fn log(barrier: &Barrier) -> Result<(), Corrupt> {
    let log = Log::read(barrier)?;
    let size = barrier.store().register(&layout::log::size()).map_err(|error| Corrupt::from(&error))?;
    if size != log.size() {
        return Err(Corrupt::Invariant("it has another number of entries than its register"));
    }
    log.check()
}

/// Returns how many organizations can be read, and how many cannot. Deleted organizations count as well.
///
/// # Errors
/// Returns an error if the store itself cannot be read.
pub fn organizations(barrier: &Barrier) -> Result<(u64, u64), StoreError> {
    let (mut readable, mut unreadable) = (0_u64, 0_u64);
    each_chunk(barrier.store().as_ref(), layout::ORGANIZATIONS, CHUNK, |rows| {
        for id in rows.iter().filter_map(|(key, _)| layout::organization_id(key)) {
            let count = if organization(barrier, id).is_ok() { &mut readable } else { &mut unreadable };
            *count = count.saturating_add(1);
        }
        Ok::<_, StoreError>(())
    })?;
    Ok((readable, unreadable))
}

impl Report {
    fn check(&mut self, barrier: &Barrier, key: &[u8]) {
        self.records = self.records.saturating_add(1);
        // Versions are stored in plaintext and compared with the heads. Parts are read with their records.
        if key.first() != Some(&layout::VERSIONS) && !is_part(key) {
            match barrier.read(key) {
                Ok(Some(value)) => match self.problem(barrier, key, &value) {
                    Ok(problem) => self.problems.extend(problem),
                    Err(error) => self.problems.push(format!("record {}: {error}", name(key))),
                },
                Ok(None) => self.problems.push(format!("record {}: disappeared during the check", name(key))),
                Err(error) => self.problems.push(format!("record {}: {error}", name(key))),
            }
        }
        if key.starts_with(layout::ORGANIZATIONS)
            && let Some(id) = layout::organization_id(key)
        {
            self.organizations = self.organizations.saturating_add(1);
            if let Err(error) = organization(barrier, id) {
                self.problems.push(format!("organization {id}: {error}"));
                if let Ok(Some(activity)) = consistency::surplus(barrier, id) {
                    let text = "waits for votes, but did not when its organization was last changed";
                    self.problems.push(format!("activity {activity} of organization {id}: {text}"));
                }
            }
        }
    }

    /// Describes the inconsistency of a record with others.
    fn problem(&self, barrier: &Barrier, key: &[u8], value: &[u8]) -> Result<Option<String>, Corrupt> {
        let problem = consistency::problem(barrier, key, value)?;
        if problem.is_some() || self.index != IndexState::Current {
            return Ok(problem);
        }
        waiting_index::difference(barrier, barrier.vault().index(), key)
    }
}

fn organization(barrier: &Barrier, id: OrganizationId) -> Result<(), Corrupt> {
    let Some(head) = records::head(barrier, id)? else { return Ok(()) };
    let version = barrier.store().register(&layout::version(id)).map_err(|error| Corrupt::from(&error))?;
    if head.version != version {
        return Err(Corrupt::Altered(id));
    }
    records::organization(barrier, id).map(drop)
}

/// Formats a key: its first letter, and the rest in hexadecimal digits.
fn name(key: &[u8]) -> String {
    match key.split_first() {
        Some((letter, rest)) => {
            format!("{}:{}", char::from(*letter).escape_default(), const_hex::encode(rest))
        }
        None => "with an empty key".to_owned(),
    }
}
