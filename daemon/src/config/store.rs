//! Section `[store]`: the location of the data.

use std::path::PathBuf;

use super::section::Section;
use crate::service::{GUARD, RESERVE_MIB};
use crate::store::engine::Engine;
use crate::store::redb::CommitMode;

/// Maximum of `reserve_mib`: 1 TiB.
const MOST_RESERVE_MIB: u32 = 1024 * 1024;

/// Settings of the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    /// Data directory of the daemon.
    pub path: PathBuf,
    /// Engine of the store; `None` for that of an existing store, or the default one for a new store.
    pub engine: Option<Engine>,
    /// How redb commits.
    pub redb: CommitMode,
    /// Path of the guard file.
    pub guard: PathBuf,
    /// Space that stays free on the file system of the store, in bytes. With less, writes are rejected.
    pub reserve: u64,
}

pub(super) fn read(section: &mut Section<'_, '_>) -> Option<Store> {
    let guard = section.path("guard");
    let reserve = section.number("reserve_mib", 1..=MOST_RESERVE_MIB).unwrap_or(RESERVE_MIB);
    let engine = section.parsed::<Engine>("engine");
    let mut flag = |key| {
        let is_set = section.flag(key).unwrap_or_default();
        if is_set && engine != Some(Engine::Redb) {
            section.report(&format!("{key} needs engine = \"redb\""));
        }
        is_set
    };
    let redb = CommitMode::of(flag("two_phase"), flag("quick_repair"));
    let path = section.required_path("path")?;
    let guard = guard.unwrap_or_else(|| path.join(GUARD));
    Some(Store { path, engine, redb, guard, reserve: u64::from(reserve) * 1024 * 1024 })
}
