//! Where the header of a store is read and written: in its data directory, and in its database if it has one.

use std::path::PathBuf;
use std::sync::Arc;

use crate::store::postgres::{DatabaseSettings, Postgres};
use crate::store::{Access, Store, StoreError};
use crate::vault::{Header, VaultError};

/// Why the header cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum HeaderError {
    /// The header or its file cannot be used.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The database cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The places of a header. That in a database counts; the data directory has a copy of it.
pub struct Headers {
    folder: PathBuf,
    source: Source,
}

enum Source {
    /// The data directory.
    Folder,
    /// The open store, which may be in a database.
    Store(Arc<dyn Store>),
    /// A database, whose store is not open.
    Database(Box<DatabaseSettings>),
    /// A backup.
    Backup(Box<Header>),
}

impl Headers {
    /// Returns the places of the header of an open store.
    pub fn of_store(folder: PathBuf, store: Arc<dyn Store>) -> Self {
        Self { folder, source: Source::Store(store) }
    }

    /// Returns the places of the header of a store that is not open.
    pub fn of_sealed(folder: PathBuf, database: Option<DatabaseSettings>) -> Self {
        let source = database.map_or(Source::Folder, |settings| Source::Database(Box::new(settings)));
        Self { folder, source }
    }

    /// Returns the header of a backup.
    pub fn of_backup(header: Header) -> Self {
        Self { folder: PathBuf::new(), source: Source::Backup(Box::new(header)) }
    }

    /// Reads the header.
    ///
    /// # Errors
    /// Returns [`HeaderError`] if it is missing or cannot be read.
    pub fn read(&self) -> Result<Header, HeaderError> {
        let stored = match &self.source {
            Source::Folder => None,
            Source::Backup(header) => return Ok(Header::clone(header)),
            Source::Store(store) => store.header()?,
            Source::Database(settings) => Postgres::open(settings, Access::Shared)?.header()?,
        };
        if let Some(stored) = stored {
            return Ok(Header::of_database(&stored, &self.folder)?);
        }
        Ok(Header::read(&self.folder)?.ok_or_else(|| VaultError::NoStore(self.folder.clone()))?)
    }

    /// Replaces the header of an open store. Whatever interrupts it, the header is the old one or the new one.
    ///
    /// # Errors
    /// Returns [`HeaderError`] if it cannot be written.
    pub fn write(&self, header: &Header) -> Result<(), HeaderError> {
        if let Source::Store(store) = &self.source
            && store.header()?.is_some()
        {
            store.set_header(&header.for_database(&self.folder)?)?;
        }
        Ok(header.put(&self.folder)?)
    }
}
