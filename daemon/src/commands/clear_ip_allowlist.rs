//! `quorated clear-ip-allowlist`: lets the users of an organization in again when its IP allowlist has locked all
//! of them out. The daemon must not be running.

use std::path::PathBuf;

use clap::Args;
use quorate_common::ids::OrganizationId;
use quorate_core::founding;
use quorate_core::world::World;

use super::serve::{data, read};
use crate::clock::now;
use crate::service::{self, Outside, StartError};

/// Arguments of `quorated clear-ip-allowlist`.
#[derive(Debug, Args)]
pub struct ClearArguments {
    /// Configuration file (TOML); names the store and the key
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Organization whose IP allowlist is taken away
    #[arg(long, value_name = "ID")]
    organization: String,
}

/// Takes the list away and says so.
pub async fn run(arguments: ClearArguments) -> Result<(), StartError> {
    let other = |text: String| StartError::Other(text);
    let id: OrganizationId =
        arguments.organization.parse().map_err(|error| other(format!("--organization: {error}")))?;
    let config = read(&arguments.config)?;
    let data = data(&config, false)?;
    let engine = service::open(&data, config.limits.resources.clone(), &Outside::default())?;
    let world = engine.turns.world();
    let found = world.organization(id).map_err(|error| other(error.to_string()))?;
    let organization = found.ok_or_else(|| other(format!("there is no organization {id}")))?;
    if organization.head.ip_allowlist.is_none() {
        return super::print(&format!("organization {id} has no IP allowlist"));
    }
    let commit = founding::clear_ip_allowlist(&organization, world.index(), now());
    let commit = commit.map_err(|error| other(error.to_string()))?;
    engine.turns.commit(commit).await.map_err(|error| other(error.to_string()))?;
    super::print(&format!("organization {id} takes requests from any address again"))
}
