//! Upgrades stores of version 0.1. Heads of organizations are sealed with digests. A store with values of up
//! to 48 KiB is rewritten: sled puts nodes with several such values into separate files, which it never
//! syncs. All records are copied to a new store, which replaces the old one.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quorate_core::error::Corrupt;
use quorate_core::model::layout;
use quorate_core::model::write::Write;
use quorate_core::records;
use quorate_core::world::{Page, Records};

use crate::barrier::{Barrier, is_part, is_whole};
use crate::store::embedded::Embedded;
use crate::store::{Batch, Change, Group, LONGEST_VALUE, StoreError, each_chunk};
use crate::vault::Vault;

/// Number of rows that are copied in one commit.
const CHUNK: usize = 1024;
/// Number of heads of organizations that are sealed in one commit.
const ORGANIZATIONS: usize = 16;

/// An error while upgrading a store of an earlier version.
#[derive(Debug, thiserror::Error)]
pub enum UpgradeError {
    /// A record cannot be read.
    #[error("rewriting the store: {0}")]
    Corrupt(#[from] Corrupt),
    /// The old or the new store failed.
    #[error("rewriting the store: {0}")]
    Store(#[from] StoreError),
    /// Files cannot be written or renamed.
    #[error("rewriting the store: {0}")]
    System(#[from] io::Error),
}

/// Returns the same path with another extension.
fn beside(folder: &Path, ending: &str) -> PathBuf {
    folder.with_extension(ending)
}

/// Returns the path at which an old store is kept until the new one has replaced it.
pub fn replaced(folder: &Path) -> PathBuf {
    beside(folder, "old")
}

/// Completes an interrupted replacement. Afterwards, either the old store or the complete new one exists.
///
/// # Errors
/// Returns an error if directories cannot be renamed or removed.
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

/// Returns whether a store of version 0.1 contains a value that is too long.
///
/// # Errors
/// Returns an error if the store cannot be read.
pub fn is_needed(folder: &Path, barrier: &Barrier) -> Result<bool, UpgradeError> {
    if Embedded::has_blobs(folder) {
        return Ok(true);
    }
    let mut needed = false;
    each_chunk(barrier.store().as_ref(), b"", CHUNK, |rows| {
        needed |= rows.iter().any(|(_, value)| value.len() > LONGEST_VALUE);
        Ok::<_, UpgradeError>(())
    })?;
    Ok(needed)
}

/// Copies the store to a new one, which replaces it.
///
/// # Errors
/// Returns an error if a record cannot be read, or the new store cannot be written. The old store is then
/// unchanged.
pub fn rewrite(folder: &Path, old: Barrier, vault: Vault, reserve: u64) -> Result<(), UpgradeError> {
    tracing::info!(
        "rewriting the store, because its long records cannot be made durable; this needs as much space again"
    );
    let (new_folder, old_folder) = (beside(folder, "new"), replaced(folder));
    if new_folder.exists() {
        fs::remove_dir_all(&new_folder)?;
    }
    let new = Barrier::new(Arc::new(Embedded::open(&new_folder, reserve)?), vault);
    let mut copied = 0_u64;
    each_chunk(old.store().as_ref(), b"", CHUNK, |rows| {
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
        Ok::<_, UpgradeError>(())
    })?;
    drop((old, new));
    fs::rename(folder, &old_folder)?;
    fs::rename(&new_folder, folder)?;
    if let Some(parent) = folder.parent() {
        File::open(parent)?.sync_all()?;
    }
    fs::remove_dir_all(&old_folder)?;
    tracing::info!(records = copied, "the store was rewritten");
    Ok(())
}

/// Seals the heads of all organizations with digests over their records, which version 0.1 did not have. An
/// organization that cannot be read is not changed, and not served.
///
/// # Errors
/// Returns an error if the store cannot be read or written.
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

#[cfg(test)]
mod tests;
