//! `quorated store`: what a store contains, and copies to another engine or folder. The daemon must not be running.

mod copy;
mod reclaim;
mod stat;

use clap::{Args, Subcommand};

use crate::service::StartError;

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
