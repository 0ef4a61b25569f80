//! `quorated rotate`: another key seals all records.

use std::path::PathBuf;

use clap::Args;
use quorate_common::console::custody::SealingKeyStatus;
use serde_json::json;

use super::daemon::request;
use super::serve::read;
use crate::service::StartError;

/// Arguments of `quorated rotate`.
#[derive(Debug, Args)]
pub struct RotateArguments {
    /// Configuration file (TOML), which names the socket of the daemon
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Begins the next term of the sealing keys.
///
/// # Errors
/// Returns an error if no daemon listens, or it rejects the request.
pub async fn run(arguments: &RotateArguments) -> Result<(), StartError> {
    let config = read(&arguments.config)?;
    let status: SealingKeyStatus = request(&config, "rotate", Some(&json!({}))).await?;
    if arguments.json {
        let text = serde_json::to_string(&status).map_err(|error| StartError::Other(error.to_string()))?;
        return super::print(&text);
    }
    super::print(&format!(
        "The key of term {} seals all records from now on. Those of earlier terms are sealed again in the background; \
         'quorate status' shows when all are.",
        status.term
    ))
}
