//! `quorated quorum-key`: shows the public keys with which clients verify that a bundle comes from this
//! service. The daemon must not be running. While it runs, `GET /public/v1/discovery/quorum-key` and `quorate
//! status` show them.

use std::path::PathBuf;

use clap::Args;

use super::serve::{engine, read};
use crate::service::StartError;

/// Arguments of `quorated quorum-key`.
#[derive(Debug, Args)]
pub struct QuorumKeyArguments {
    /// Configuration file (TOML), which names the store and the root key
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
}

/// Prints the keys as JSON.
///
/// # Errors
/// Returns an error if the configuration is invalid or the store cannot be opened.
pub fn run(arguments: &QuorumKeyArguments) -> Result<(), StartError> {
    let opened = engine(&read(&arguments.config)?, false);
    let engine = opened.map_err(|error| {
        error.advise_in_use(|| "while the daemon runs, `quorate status` shows the quorum key".to_owned())
    })?;
    super::print(&format!("{:#}", engine.identity.quorum_keys()))
}
