//! `quorated clear-ip-allowlist`: removes the IP allowlist of an organization when it has locked out all
//! users. The daemon must not be running.

use std::path::PathBuf;

use clap::Args;
use quorate_common::ids::OrganizationId;
use quorate_core::creation;
use quorate_core::world::World;

use super::serve::{engine, read};
use crate::clock::now;
use crate::service::StartError;

/// Arguments of `quorated clear-ip-allowlist`.
#[derive(Debug, Args)]
pub struct ClearArguments {
    /// Configuration file (TOML), which names the store and the root key
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Id of the organization whose IP allowlist is removed
    #[arg(long, value_name = "ID")]
    organization: String,
}

/// Removes the allowlist and prints the result.
///
/// # Errors
/// Returns an error if the organization does not exist, or the store cannot be opened or written.
pub async fn run(arguments: ClearArguments) -> Result<(), StartError> {
    let other = |text: String| StartError::Other(text);
    let id: OrganizationId = arguments
        .organization
        .parse()
        .map_err(|error| StartError::Usage(format!("--organization: {error}")))?;
    let engine = engine(&read(&arguments.config)?, false)?;
    let world = engine.executor.world();
    let found = world.organization(id).map_err(|error| other(error.to_string()))?;
    let organization = found.ok_or_else(|| other(format!("organization {id} not found")))?;
    if organization.head.ip_allowlist.is_none() {
        return super::print(&format!("organization {id} has no IP allowlist"));
    }
    let commit = creation::clear_ip_allowlist(&organization, world.index(), now());
    let commit = commit.map_err(|error| other(error.to_string()))?;
    engine.executor.commit(commit).await.map_err(|error| other(error.to_string()))?;
    super::print(&format!("organization {id} accepts requests from any address again"))
}
