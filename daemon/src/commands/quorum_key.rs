//! `quorated quorum-key`: shows the public keys by which clients know that a bundle comes from this service. The daemon must
//! not be running; while it runs, `GET /public/v1/discovery/quorum-key` and `quorate status` show them.

use std::path::PathBuf;

use clap::Args;

use super::serve::{data, read};
use crate::service::{self, Outside, StartError};

/// Arguments of `quorated quorum-key`.
#[derive(Debug, Args)]
pub struct QuorumKeyArguments {
    /// Configuration file (TOML); names the store and the key
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
}

/// Prints the keys as JSON.
pub fn run(arguments: &QuorumKeyArguments) -> Result<(), StartError> {
    let config = read(&arguments.config)?;
    let engine = service::open(&data(&config, false)?, config.limits.resources.clone(), &Outside::default())?;
    super::print(&format!("{:#}", engine.identity.quorum_keys()))
}
