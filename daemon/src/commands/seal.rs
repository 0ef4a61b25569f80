//! `quorated seal`: makes a daemon forget all keys.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use quorate_common::console::custody::{SealStatus, SlotCondition, SlotKind};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::daemon::request;
use super::serve::read;
use crate::service::StartError;

/// Word that confirms the command.
const WORD: &str = "seal";
/// Path of the state of the seal.
const SEAL: &str = "seal";
/// Time between two requests for its state.
const PAUSE: Duration = Duration::from_millis(50);
/// Time in which a daemon ends its requests and starts again.
const DEADLINE: Duration = Duration::from_mins(1);
/// No body, so that a request reads.
const NOTHING: Option<&Value> = None;

/// Arguments of `quorated seal`.
#[derive(Debug, Args)]
pub struct SealArguments {
    /// Configuration file (TOML), which names the socket of the daemon
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Confirm without a terminal, with the word `seal`
    #[arg(long, value_name = "WORD")]
    confirm: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Seals the daemon once the operator has typed the confirmation, and waits until it has no keys anymore.
///
/// # Errors
/// Returns an error if the confirmation is wrong, no slot is opened by shares, or the daemon is not sealed in time.
pub async fn run(arguments: &SealArguments) -> Result<(), StartError> {
    let config = read(&arguments.config)?;
    let status: SealStatus = request(&config, SEAL, NOTHING).await?;
    if status.sealed {
        return finish(&status, arguments.json, "the daemon is sealed already");
    }
    let shares = status
        .slots
        .iter()
        .filter(|slot| slot.kind == SlotKind::Shares && slot.state == SlotCondition::Active);
    let Some(threshold) = shares.filter_map(|slot| slot.threshold).min() else {
        return Err(StartError::Other(
            "nothing was changed: no slot is opened by shares, so nothing would open the sealed daemon; add a set with \
             'quorated rekey'"
                .to_owned(),
        ));
    };
    let question = format!(
        "The daemon will end its requests and forget all keys. Until {threshold} holders give their shares with \
         'quorate unseal', it answers no application."
    );
    super::confirm(&question, WORD, arguments.confirm.as_deref())?;
    let _: SealStatus = request(&config, SEAL, Some(&json!({}))).await?;
    let begun = Instant::now();
    loop {
        // It does not listen while it starts again.
        match request::<SealStatus>(&config, SEAL, NOTHING).await {
            Ok(status) if status.sealed => {
                return finish(&status, arguments.json, "sealed: the daemon has no keys anymore");
            }
            Err(error) if begun.elapsed() > DEADLINE => {
                return Err(StartError::Other(format!(
                    "the daemon did not start again: {error}; look at its log"
                )));
            }
            Ok(_) if begun.elapsed() > DEADLINE => {
                let text = "the daemon is not sealed yet: it has not ended its requests; look at its log";
                return Err(StartError::Other(text.to_owned()));
            }
            _ => sleep(PAUSE).await,
        }
    }
}

fn finish(status: &SealStatus, json: bool, text: &str) -> Result<(), StartError> {
    if json {
        let text = serde_json::to_string(status).map_err(|error| StartError::Other(error.to_string()))?;
        return super::print(&text);
    }
    super::print(text)
}
