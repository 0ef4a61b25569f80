//! Section `[store]`: the location of the data.

use std::path::PathBuf;

use super::section::Section;
use crate::service::{GUARD, RESERVE_MIB};
use crate::store::engine::Engine;
use crate::store::postgres::DatabaseUrl;
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
    /// Database of a store on PostgreSQL.
    pub database: Option<Database>,
    /// Path of the guard file.
    pub guard: PathBuf,
    /// Space that stays free on the file system of the store, in bytes. With less, writes are rejected.
    pub reserve: u64,
}

/// Settings of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Database {
    /// URL of the database, without a password.
    pub url: DatabaseUrl,
    /// File with the certificates of trusted authorities; `None` for those of the system.
    pub ca_file: Option<PathBuf>,
    /// File with the password of the user; `None` if the server requires none.
    pub password_file: Option<PathBuf>,
}

/// Reads the keys that only a store in a database has.
fn database(section: &mut Section<'_, '_>, engine: Option<Engine>, is_known: bool) -> Option<Database> {
    let is_remote = engine == Some(Engine::Postgres);
    for key in ["url", "ca_file", "password_file"] {
        if section.has(key) && !is_remote && is_known {
            section.report(&format!("{key} needs engine = \"postgres\""));
        }
    }
    if is_remote && !section.has("url") {
        section.report("engine = \"postgres\" needs url");
    }
    let url = section.parsed::<DatabaseUrl>("url");
    let (ca_file, password_file) = (section.path("ca_file"), section.path("password_file"));
    Some(Database { url: url.filter(|_| is_remote)?, ca_file, password_file })
}

pub(super) fn read(section: &mut Section<'_, '_>) -> Option<Store> {
    let guard = section.path("guard");
    let reserve = section.number("reserve_mib", 1..=MOST_RESERVE_MIB).unwrap_or(RESERVE_MIB);
    let is_named = section.has("engine");
    let engine = section.parsed::<Engine>("engine");
    // An invalid name was reported, and what depends on it is unknown.
    let is_known = engine.is_some() || !is_named;
    let mut flag = |key| {
        let is_set = section.flag(key).unwrap_or_default();
        if is_set && engine != Some(Engine::Redb) && is_known {
            section.report(&format!("{key} needs engine = \"redb\""));
        }
        is_set
    };
    let redb = CommitMode::of(flag("two_phase"), flag("quick_repair"));
    let database = database(section, engine, is_known);
    let path = section.required_path("path")?;
    let guard = guard.unwrap_or_else(|| path.join(GUARD));
    Some(Store { path, engine, redb, database, guard, reserve: u64::from(reserve) * 1024 * 1024 })
}
