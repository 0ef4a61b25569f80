//! `quorated accept-clock`: goes on with the system's clock after it was far ahead and was set back. The daemon must not be
//! running.

use std::path::PathBuf;

use clap::Args;

use super::serve::{data, read};
use crate::clock;
use crate::guard::{self, Guard};
use crate::service::{self, StartError};

/// What must be typed.
const WORD: &str = "back";

/// Arguments of `quorated accept-clock`.
#[derive(Debug, Args)]
pub struct AcceptClockArguments {
    /// Configuration file (TOML); names the store and the key
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Confirm without a terminal: the word `back`
    #[arg(long, value_name = "WORD")]
    confirm: Option<String>,
}

/// Makes the daemon's time start from the system's clock, after a typed word.
///
/// # Errors
/// When the word is not typed, the store is not what its guard has seen, or one of the two cannot be written.
pub fn run(arguments: &AcceptClockArguments) -> Result<(), StartError> {
    let config = read(&arguments.config)?;
    let data = data(&config, false)?;
    let barrier = service::open_store(&data)?;
    let newest = guard::newest_time(&data.guard, &barrier)?;
    let ahead = newest.saturating_sub(clock::system());
    if ahead == 0 {
        return super::print("the system's clock is not behind the newest time seen: nothing to accept");
    }
    let seconds = ahead.div_ceil(1000);
    let question = format!(
        "The daemon has seen a time that is {seconds} seconds ahead of the system's clock.\n\nGoing back makes credentials \
         and approvals valid again that expired meanwhile."
    );
    super::confirm(&question, WORD, arguments.confirm.as_deref())?;
    drop(Guard::accept_clock(&data.guard, &barrier, clock::system())?);
    super::print("time goes on from the system's clock")
}
