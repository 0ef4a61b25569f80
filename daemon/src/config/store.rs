//! Section `[store]`: the location of the data.

use std::path::PathBuf;

use super::section::Section;
use crate::service::{GUARD, RESERVE_MIB};

/// Maximum of `reserve_mib`: 1 TiB.
const MOST_RESERVE_MIB: u32 = 1024 * 1024;

/// Settings of the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    /// Data directory of the daemon.
    pub path: PathBuf,
    /// Path of the guard file.
    pub guard: PathBuf,
    /// Space that stays free on the file system of the store, in bytes. With less, writes are rejected.
    pub reserve: u64,
}

pub(super) fn read(section: &mut Section<'_, '_>) -> Option<Store> {
    let guard = section.path("guard");
    let reserve = section.number("reserve_mib", 1..=MOST_RESERVE_MIB).unwrap_or(RESERVE_MIB);
    let path = section.required_path("path")?;
    let guard = guard.unwrap_or_else(|| path.join(GUARD));
    Some(Store { path, guard, reserve: u64::from(reserve) * 1024 * 1024 })
}
