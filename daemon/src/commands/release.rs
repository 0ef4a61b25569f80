//! `quorated release`: lets a restored store accept changes.

use std::path::PathBuf;

use clap::Args;
use quorate_core::limits::BODY_AHEAD_MILLIS;
use serde_json::{Value, json};

use super::daemon::request;
use super::serve::read;
use crate::clock;
use crate::service::StartError;

/// Word that confirms the command.
const WORD: &str = "release";

/// Arguments of `quorated release`.
#[derive(Debug, Args)]
pub struct ReleaseArguments {
    /// Configuration file (TOML), which names the socket of the daemon
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Confirm without a terminal, with the word `release`
    #[arg(long, value_name = "WORD")]
    confirm: Option<String>,
}

/// Releases the store once the operator has typed the confirmation.
///
/// # Errors
/// Returns an error if no daemon listens, it rejects the request, or the confirmation is wrong.
pub async fn run(arguments: &ReleaseArguments) -> Result<(), StartError> {
    let config = read(&arguments.config)?;
    let question = "The restored store will accept changes. Keys that were deleted after the backup work again unless \
                    you have deleted them.";
    super::confirm(question, WORD, arguments.confirm.as_deref())?;
    let _: Value = request(&config, "release", Some(&json!({}))).await?;
    let from = clock::now().saturating_add(BODY_AHEAD_MILLIS);
    super::print(&format!(
        "released: the daemon accepts requests that are stamped from {} on, which is in five minutes",
        clock::text(from)
    ))
}
