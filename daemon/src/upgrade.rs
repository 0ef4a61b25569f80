//! Brings stores of version 0.1 up to date. Heads of organizations are sealed with digests. A store that holds values of up
//! to 48 KiB is rewritten: sled puts nodes with several of those into files of their own, which it never syncs. All records
//! are copied to a new store that takes the place of the old one.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quorate_core::model::layout;
use quorate_core::model::write::Write;
use quorate_core::records;
use quorate_core::refusal::Corrupt;
use quorate_core::world::{Page, Records};

use crate::barrier::{Barrier, is_part, is_whole};
use crate::store::embedded::Embedded;
use crate::store::{Batch, Change, Group, LONGEST_VALUE, Row, StoreError};
use crate::vault::Vault;

/// How many rows are copied at once, and become durable together.
const CHUNK: usize = 1024;
/// How many heads of organizations are sealed at once, and become durable together.
const ORGANIZATIONS: usize = 16;

/// A store of an earlier version cannot be rewritten.
#[derive(Debug, thiserror::Error)]
pub enum UpgradeError {
    /// A record cannot be read.
    #[error("rewriting the store: {0}")]
    Corrupt(#[from] Corrupt),
    /// One of the two stores failed.
    #[error("rewriting the store: {0}")]
    Store(#[from] StoreError),
    /// The system does not let files be written or renamed.
    #[error("rewriting the store: {0}")]
    System(#[from] io::Error),
}

/// The same folder with another ending.
fn beside(folder: &Path, ending: &str) -> PathBuf {
    folder.with_extension(ending)
}

/// Where a rewritten store is kept until the new one has taken its place.
pub fn replaced(folder: &Path) -> PathBuf {
    beside(folder, "old")
}

/// Ends a replacement that was interrupted: either the old store or the whole new one is there afterwards.
///
/// # Errors
/// When the system does not let folders be renamed.
pub fn finish(folder: &Path) -> Result<(), UpgradeError> {
    let old = replaced(folder);
    if old.exists() {
        if folder.exists() {
            fs::remove_dir_all(&old)?;
        } else {
            fs::rename(&old, folder)?;
        }
    }
    Ok(())
}

/// Whether a store of version 0.1 has a value that is too long.
///
/// # Errors
/// When the store cannot be read.
pub fn is_needed(folder: &Path, barrier: &Barrier) -> Result<bool, UpgradeError> {
    if Embedded::has_blobs(folder) {
        return Ok(true);
    }
    let mut needed = false;
    each_chunk(barrier, |rows| {
        needed |= rows.iter().any(|(_, value)| value.len() > LONGEST_VALUE);
        Ok(())
    })?;
    Ok(needed)
}

/// Copies the store to a new one that takes its place.
///
/// # Errors
/// When a record cannot be read, or the new store cannot be written. The old one is unchanged then.
pub fn rewrite(folder: &Path, old: Barrier, vault: Vault, reserve: u64) -> Result<(), UpgradeError> {
    tracing::info!(
        "rewriting the store, whose records are too long for it to be durable; this needs as much space again"
    );
    let (new_folder, old_folder) = (beside(folder, "new"), replaced(folder));
    if new_folder.exists() {
        fs::remove_dir_all(&new_folder)?;
    }
    let new = Barrier::new(Arc::new(Embedded::open(&new_folder, reserve)?), vault);
    let mut copied = 0_u64;
    each_chunk(&old, |rows| {
        let mut changes = Vec::new();
        for (key, value) in rows.into_iter().filter(|(key, _)| !is_part(key)) {
            if is_whole(&key, &value) {
                changes.push(Change { key, value: Some(value), fresh: true });
            } else if let Some(record) = old.read(&key)? {
                let write = Write { replaces: false, ..Write::mark(key, &record) };
                changes.append(&mut new.seal(vec![write])?);
            }
        }
        copied = copied.saturating_add(changes.len() as u64);
        new.store().commit(&Group::of(Batch { writes: changes, ..Batch::default() }))?;
        Ok(())
    })?;
    drop((old, new));
    fs::rename(folder, &old_folder)?;
    fs::rename(&new_folder, folder)?;
    if let Some(parent) = folder.parent() {
        File::open(parent)?.sync_all()?;
    }
    fs::remove_dir_all(&old_folder)?;
    tracing::info!(records = copied, "the store is rewritten");
    Ok(())
}

/// Seals the heads of all organizations with digests over their records, which version 0.1 did not have. An organization
/// that cannot be read is left as it is, and not served.
///
/// # Errors
/// When the store cannot be read or written.
pub fn seal_contents(barrier: &Barrier) -> Result<(), UpgradeError> {
    let mut after: Option<Vec<u8>> = None;
    loop {
        let page = Page { after: after.as_deref(), ..Page::first(layout::ORGANIZATIONS, ORGANIZATIONS) };
        let heads = barrier.store().keys(page)?;
        let Some(last) = heads.last() else { return Ok(()) };
        after = Some(last.clone());
        let mut writes = Vec::new();
        for id in heads.iter().filter_map(|key| layout::organization_id(key)) {
            match records::seal_contents(barrier, id) {
                Ok(mut of_one) => writes.append(&mut of_one),
                Err(error) => tracing::error!(%id, cause = %error, "an organization cannot be read"),
            }
        }
        let writes = barrier.seal(writes)?;
        barrier.store().commit(&Group::of(Batch { writes, ..Batch::default() }))?;
    }
}

/// Reads all rows in order.
fn each_chunk(
    barrier: &Barrier,
    mut take: impl FnMut(Vec<Row>) -> Result<(), UpgradeError>,
) -> Result<(), UpgradeError> {
    let mut after: Option<Vec<u8>> = None;
    loop {
        let page = Page { after: after.as_deref(), ..Page::first(b"", CHUNK) };
        let rows = barrier.store().rows(page)?;
        let Some((last, _)) = rows.last() else { return Ok(()) };
        after = Some(last.clone());
        take(rows)?;
    }
}

#[cfg(test)]
mod tests;
