//! The engines that store records, and what they share: their names, creation and opening.

use std::fmt;
use std::io;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::embedded::Embedded;
use super::files;
use super::postgres::{DatabaseError, DatabaseSettings, Postgres};
use super::redb::{CommitMode, Redb};
use super::space::Space;
use super::{Access, Store, StoreError};

/// An engine that stores records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// A log of sled.
    #[default]
    Sled,
    /// A file of redb.
    Redb,
    /// A database of PostgreSQL.
    Postgres,
}

impl Engine {
    /// All engines.
    pub const ALL: [Self; 3] = [Self::Sled, Self::Redb, Self::Postgres];

    /// Returns the name of the engine in the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sled => Embedded::NAME,
            Self::Redb => Redb::NAME,
            Self::Postgres => Postgres::NAME,
        }
    }
}

impl FromStr for Engine {
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|engine| engine.name() == name);
        found.ok_or("must be \"sled\", \"redb\" or \"postgres\"")
    }
}

impl Engine {
    /// Returns the name of the file of all records, in the directory of the store, if the engine has one.
    const fn data_file(self) -> Option<&'static str> {
        match self {
            Self::Sled => Some(Embedded::DATA_FILE),
            Self::Redb => Some(Redb::DATA_FILE),
            Self::Postgres => None,
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// How a store is opened.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Engine of the store.
    pub engine: Engine,
    /// Space that stays free on the file system of the store, in bytes.
    pub reserve: u64,
    /// How redb commits.
    pub redb: CommitMode,
    /// Database of a store on PostgreSQL.
    pub database: Option<DatabaseSettings>,
    /// Who else may use a store on PostgreSQL.
    pub access: Access,
}

impl Settings {
    /// Returns the settings of the database.
    fn database(&self) -> Result<&DatabaseSettings, DatabaseError> {
        self.database.as_ref().ok_or(DatabaseError::NotConfigured)
    }

    /// Creates a store, which is marked as unused until [`begin`].
    ///
    /// # Errors
    /// Returns an error if the store cannot be created, or another process has it open.
    pub fn create(&self, folder: &Path) -> Result<Arc<dyn Store>, StoreError> {
        let is_other = |engine: Engine| {
            let exists = |file| folder.join(file).exists();
            engine != self.engine && engine.data_file().is_some_and(exists)
        };
        if Engine::ALL.into_iter().any(is_other) && is_unused(folder)? {
            // An earlier start on another engine was interrupted.
            clear(folder)?;
        }
        Ok(match self.engine {
            Engine::Sled => Arc::new(Embedded::create(folder, self.reserve)?),
            Engine::Redb => Arc::new(Redb::create(folder, self.reserve, self.redb)?),
            Engine::Postgres => {
                let store = Postgres::create(self.database()?, self.access)?;
                store.clear_unused()?;
                Arc::new(store)
            }
        })
    }

    /// Opens a store that this process had open before.
    ///
    /// # Errors
    /// See [`Self::open`].
    pub fn open_again(&self, folder: &Path) -> Result<Arc<dyn Store>, StoreError> {
        match self.engine {
            Engine::Sled => Ok(Arc::new(Embedded::open_again(folder, self.reserve)?)),
            Engine::Redb | Engine::Postgres => self.open(folder, false),
        }
    }

    /// Opens an existing store. If it `has_guard`, the caller must check that nothing is missing, and the engine may
    /// leave out what is damaged.
    ///
    /// # Errors
    /// Returns an error if the store cannot be opened, or another process has it open.
    pub fn open(&self, folder: &Path, has_guard: bool) -> Result<Arc<dyn Store>, StoreError> {
        Ok(match self.engine {
            Engine::Sled if has_guard => Arc::new(Embedded::open_guarded(folder, self.reserve)?),
            Engine::Sled => Arc::new(Embedded::open(folder, self.reserve)?),
            Engine::Redb => Arc::new(Redb::open(folder, self.reserve, self.redb)?),
            Engine::Postgres => Arc::new(Postgres::open(self.database()?, self.access)?),
        })
    }
}

/// Returns whether the directory contains no store, or one in which nothing was ever stored.
///
/// # Errors
/// Returns an error if the directory cannot be read.
pub fn is_unused(folder: &Path) -> Result<bool, StoreError> {
    files::is_unused(folder).map_err(|source| Space::new(folder, 0).failed("reading", folder, source))
}

/// Removes a store that was never finished. Its directory remains, because a disk may be mounted there.
///
/// # Errors
/// Returns an error if the directory cannot be changed.
pub fn clear(folder: &Path) -> Result<(), StoreError> {
    match files::clear_unused(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Space::new(folder, 0).failed("removing an unfinished store in", folder, error))
        }
        _ => Ok(()),
    }
}

/// Marks a created store as used, so that records may be stored.
///
/// # Errors
/// Returns an error if the directory cannot be changed.
pub fn begin(folder: &Path) -> Result<(), StoreError> {
    files::mark_used(folder)
        .map_err(|source| Space::new(folder, 0).failed("creating the store", folder, source))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn an_interrupted_first_start_may_be_repeated_on_another_engine() {
        for (first, second) in [(Engine::Sled, Engine::Redb), (Engine::Redb, Engine::Sled)] {
            let folder = tempfile::tempdir().unwrap();
            let on = |engine| Settings { engine, ..Settings::default() };
            drop(on(first).create(folder.path()).unwrap());
            assert!(folder.path().join(first.data_file().unwrap()).exists());
            let store = on(second).create(folder.path()).unwrap();
            assert!(!folder.path().join(first.data_file().unwrap()).exists());
            assert!(folder.path().join(second.data_file().unwrap()).exists());
            begin(folder.path()).unwrap();
            drop(store);
            // A store in which something may be stored is never removed.
            let _ = on(first).create(folder.path());
            assert!(folder.path().join(second.data_file().unwrap()).exists());
        }
    }
}
