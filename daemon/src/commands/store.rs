//! `quorated store`: what a store contains, and copies to another engine or folder. The daemon must not be running.

mod copy;
mod reclaim;
mod stat;

use std::path::Path;

use clap::{Args, Subcommand};

use crate::service::{StartError, database_header};
use crate::store::postgres::{DatabaseError, DatabaseSettings, Postgres};
use crate::store::{Access, StoreError};
use crate::vault::{Header, VaultError};

/// Arguments of `quorated store`.
#[derive(Debug, Args)]
pub struct StoreArguments {
    /// Subcommand to run.
    #[command(subcommand)]
    command: StoreCommand,
}

/// Subcommands of `quorated store`.
#[derive(Debug, Subcommand)]
enum StoreCommand {
    /// Copy a store to another engine or folder, and mark the old one as moved
    ///
    /// The records are copied as they are stored, so the root key is not needed. Then all records of both stores are
    /// compared. The old store is kept, but no daemon serves it: two daemons on two copies would execute requests
    /// twice.
    Copy(copy::CopyArguments),
    /// Show the engine of a store, its size, and its records by kind
    Stat(stat::StatArguments),
    /// Serve a store again that was marked as moved
    ///
    /// Only if the copy was never served: what the copy has acknowledged is missing in this store.
    Reclaim(reclaim::ReclaimArguments),
}

/// Runs a subcommand.
///
/// # Errors
/// Returns an error if a store cannot be opened or written, or the subcommand does not apply to it.
pub fn run(arguments: &StoreArguments) -> Result<(), StartError> {
    match &arguments.command {
        StoreCommand::Copy(arguments) => copy::run(arguments),
        StoreCommand::Stat(arguments) => stat::run(arguments),
        StoreCommand::Reclaim(arguments) => reclaim::run(arguments),
    }
}

/// Returns the header of a data directory or, if that has none, the one in its database.
fn header(folder: &Path, database: Option<&DatabaseSettings>) -> Result<Header, StartError> {
    if let Some(header) = Header::read(folder)? {
        return Ok(header);
    }
    let Some(database) = database else { return Err(VaultError::NoStore(folder.to_owned()).into()) };
    let missing = || VaultError::NoStoreInDatabase(database.url.place());
    let store = Postgres::open(database, Access::Shared).map_err(|error| match error {
        StoreError::Database(DatabaseError::Missing) => missing().into(),
        error => StartError::from(error),
    })?;
    Ok(database_header(&store, folder)?.ok_or_else(missing)?)
}
