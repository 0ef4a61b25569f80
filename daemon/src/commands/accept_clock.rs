//! `quorated accept-clock`: continues from the system clock after it was far ahead and was set back. The
//! daemon must not be running.

use std::path::PathBuf;

use clap::Args;
use quorate_core::activity_log::Log;

use super::serve::{data, read};
use crate::clock;
use crate::epoch::Epoch;
use crate::guard::{self, Guard};
use crate::service::{self, StartError};
use crate::store::Batch;

/// Word that confirms the command.
const WORD: &str = "back";

/// Arguments of `quorated accept-clock`.
#[derive(Debug, Args)]
pub struct AcceptClockArguments {
    /// Configuration file (TOML), which names the store and the root key
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Confirm without a terminal, with the word `back`
    #[arg(long, value_name = "WORD")]
    confirm: Option<String>,
}

/// Restarts the daemon's time from the system clock, once the operator has typed the confirmation.
///
/// # Errors
/// Returns an error if the confirmation is wrong, the store does not match its guard file, or one of the two
/// cannot be written.
pub fn run(arguments: &AcceptClockArguments) -> Result<(), StartError> {
    let config = read(&arguments.config)?;
    let data = data(&config, false)?;
    let barrier = service::open_store(&data)?;
    let newest = guard::newest_time(&data.guard, &barrier)?;
    let ahead = newest.saturating_sub(clock::system());
    let epoch = Epoch::read(&barrier)?;
    let is_log_ahead = Log::read(&barrier)?.head().is_some_and(|head| head.time > clock::system());
    // An interrupted command has corrected the time, but not the epoch and the activity log.
    if ahead == 0 && epoch.begun <= clock::system() && !is_log_ahead {
        return super::print("nothing to accept: the system clock is not behind the newest recorded time");
    }
    let seconds = ahead.div_ceil(1000);
    let question = format!(
        "The newest time that the daemon has recorded is {seconds} s ahead of the system clock.\n\nIf you \
         continue, credentials and approvals that have expired in the meantime become valid again."
    );
    super::confirm(&question, WORD, arguments.confirm.as_deref())?;
    let now = clock::system();
    let guard = Guard::accept_clock(&data.guard, &barrier, now)?;
    // Otherwise, entries that are added from now on would not be found by their time.
    let mut writes = Log::read(&barrier)?.added_by(now)?;
    let is_ahead = epoch.begun > now;
    if is_ahead {
        // Otherwise, requests would be refused until that time. The release raises it to the right time.
        writes.push(epoch.begun_by(now).write());
    }
    if !writes.is_empty() {
        let writes = barrier.seal(writes)?;
        guard.commit(&barrier, now, Batch { writes, ..Batch::default() })?;
    }
    drop(guard);
    if is_ahead {
        super::print("the store was restored, and accepts changes after 'quorated release'")?;
    }
    super::print("accepted: time continues from the system clock; start the daemon")
}
