//! Section `[store]`: where data is kept.

use std::path::PathBuf;

use super::section::Section;
use crate::service::{GUARD, RESERVE_MIB};

/// Most space that can be kept free, in MiB: 1 TiB.
const MOST_RESERVE_MIB: u32 = 1024 * 1024;

/// The store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    /// The daemon's own folder.
    pub path: PathBuf,
    /// The guard file.
    pub guard: PathBuf,
    /// Space that stays free on the file system of the store, in bytes. Writes are refused below it.
    pub reserve: u64,
}

pub(super) fn read(section: &mut Section<'_, '_>) -> Option<Store> {
    let guard = section.path("guard");
    let reserve = section.number("reserve_mib", 1..=MOST_RESERVE_MIB).unwrap_or(RESERVE_MIB);
    let path = section.required_path("path")?;
    let guard = guard.unwrap_or_else(|| path.join(GUARD));
    Some(Store { path, guard, reserve: u64::from(reserve) * 1024 * 1024 })
}
