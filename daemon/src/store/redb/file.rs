//! The file of redb: creation and opening.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use redb::backends::FileBackend;
use redb::{Builder, Database, ReadableDatabase, TableDefinition, TableError};

use super::Existence;
use super::errors::{OpenError, failed};
use super::rows::Records;
use crate::store::StoreError;
use crate::store::panics::silently;
use crate::store::space::Space;

/// File name of the database in the directory of the store.
pub(super) const FILE: &str = "store.redb";
/// Name of the table of all records.
pub(super) const RECORDS: TableDefinition<'static, &'static [u8], &'static [u8]> =
    TableDefinition::new("records");
/// Capacity of redb's page cache in bytes.
const CACHE: usize = 64 * 1024 * 1024;
/// First part of the error of a store that cannot be opened.
const OPENING: &str = "opening the store in";

/// An open database, and its records as of the last commit.
pub(super) struct Opened {
    pub(super) records: Records,
    pub(super) db: Database,
}

impl Opened {
    /// Returns the records as of the last commit.
    pub(super) fn records_now(&self) -> Result<Records, StoreError> {
        records(&self.db)
    }
}

fn records(db: &Database) -> Result<Records, StoreError> {
    const DOING: &str = "reading a record";
    let transaction = db.begin_read().map_err(|error| failed(DOING, error))?;
    transaction.open_table(RECORDS).map(Records).map_err(|error| failed(DOING, error))
}

/// Opens the database in a directory.
pub(super) fn open(folder: &Path, space: &Space, existence: Existence) -> Result<Opened, StoreError> {
    let name = folder.display().to_string();
    let opened = silently(|| open_file(folder, existence));
    let error = match opened {
        Some(Ok(opened)) => return Ok(opened),
        Some(Err(error)) => error,
        None => OpenError::Damaged("a panic".to_owned()),
    };
    Err(match error {
        OpenError::InUse => StoreError::InUse(name),
        OpenError::Missing => StoreError::Empty(name),
        OpenError::System(error) => space.failed(OPENING, folder, error),
        OpenError::Version(version) => StoreError::Version { folder: name, version },
        // redb does not always report that the file system was full.
        OpenError::Damaged(_) if space.is_exhausted() => {
            space.failed(OPENING, folder, io::ErrorKind::StorageFull.into())
        }
        OpenError::Damaged(cause) => {
            tracing::debug!(folder = name, cause, "the store cannot be opened");
            StoreError::Damaged(name)
        }
    })
}

fn open_file(folder: &Path, existence: Existence) -> Result<Opened, OpenError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(existence == Existence::Optional).mode(0o600);
    let file = match options.open(folder.join(FILE)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(OpenError::Missing);
        }
        Err(error) => return Err(OpenError::System(error)),
    };
    let length = file.metadata().map_err(OpenError::System)?.len();
    if length == 0 && existence == Existence::Required {
        // redb would create a new database.
        return Err(OpenError::Damaged(format!("{FILE} is empty")));
    }
    // What an earlier process has written, but not synced, becomes durable before it is read.
    file.sync_all().and_then(|()| File::open(folder)?.sync_all()).map_err(OpenError::System)?;
    let mut builder = Builder::new();
    builder.set_cache_size(CACHE).set_repair_callback(|session| {
        let percent = (session.progress() * 100.0).round();
        if percent > 0.0 {
            tracing::debug!(percent, "the file of the store is checked");
        } else {
            tracing::info!("the store was not closed; its file is checked");
        }
    });
    opened(builder.create_with_backend(FileBackend::new(file)?)?, existence)
}

/// Opens the table of records, or creates it.
pub(super) fn opened(db: Database, existence: Existence) -> Result<Opened, OpenError> {
    let damaged = |error: redb::Error| OpenError::Damaged(error.to_string());
    let begun = db.begin_read().map_err(|error| damaged(error.into()))?;
    match begun.open_table(RECORDS) {
        Ok(table) => return Ok(Opened { records: Records(table), db }),
        Err(TableError::TableDoesNotExist(_)) if existence == Existence::Optional => {}
        Err(error) => return Err(damaged(error.into())),
    }
    drop(begun);
    create_table(&db).map_err(|error| match error {
        redb::Error::Io(error) => OpenError::System(error),
        other => damaged(other),
    })?;
    let begun = db.begin_read().map_err(|error| damaged(error.into()))?;
    let table = begun.open_table(RECORDS).map_err(|error| damaged(error.into()))?;
    Ok(Opened { records: Records(table), db })
}

fn create_table(db: &Database) -> Result<(), redb::Error> {
    let transaction = db.begin_write()?;
    transaction.open_table(RECORDS)?;
    transaction.commit()?;
    Ok(())
}
