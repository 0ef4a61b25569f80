//! Keeps the activity log up to date: appends what was committed, in the background.
//!
//! Any of the daemons that share a store may append. The number of entries is a register, so that only one of them does at a time.

use std::sync::Arc;
use std::time::Duration;

use quorate_common::activity_log::LogError;
use quorate_common::console::activity_log::LogCheckpoint;
use quorate_core::activity_log::Log;
use quorate_core::error::Corrupt;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::barrier::Barrier;
use crate::epoch::Epoch;
use crate::executor::{AppendError, Appended, CommitError, Executor};

/// Time from a commit until its entries are appended, with those of later commits.
const DELAY: Duration = Duration::from_millis(500);
/// Time after which entries are appended that another daemon committed and did not append.
const ORPHANED: Duration = Duration::from_secs(10);
/// Time after a failure until the next attempt.
const PAUSE: Duration = Duration::from_secs(5);

/// Returns the newest checkpoint of a store.
///
/// # Errors
/// Returns an error if the store cannot be read.
pub(crate) fn checkpoint(barrier: &Barrier) -> Result<LogCheckpoint, Corrupt> {
    let epoch = Epoch::read(barrier)?.number;
    let sign = |size, root, time| barrier.vault().log().sign(size, root, time, epoch);
    Log::read(barrier)?.checkpoint(None, sign)
}

/// Checks that the log of a store begins with what a checkpoint of it states.
///
/// # Errors
/// Returns an error if it does not, the checkpoint is of another store, or the store cannot be read.
pub(crate) fn check(barrier: &Barrier, stated: &LogCheckpoint) -> Result<(), CheckError> {
    let (stated, key) = stated.open()?;
    if key != barrier.vault().log().verifier() {
        return Err(LogError::Signature.into());
    }
    let log = Log::read(barrier)?;
    if log.size() < stated.size {
        return Err(LogError::Older.into());
    }
    if log.root(stated.size)? == stated.root { Ok(()) } else { Err(LogError::Contradiction.into()) }
}

/// Why the log of a store does not begin with what a checkpoint states.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CheckError {
    #[error(transparent)]
    Log(#[from] LogError),
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
}

/// Appends until `stop`.
pub(crate) async fn run(executor: Arc<Executor>, stop: CancellationToken) {
    let mut is_reported = false;
    loop {
        let rest = match executor.append_to_log().await {
            Ok(appended) => {
                is_reported = false;
                (appended == Appended::All).then_some(Duration::ZERO)
            }
            // Another daemon has appended.
            Err(AppendError::Commit(CommitError::Clash)) => Some(DELAY),
            Err(error) => {
                if !std::mem::replace(&mut is_reported, true) {
                    tracing::warn!(cause = %error, "the activity log cannot be appended to now");
                }
                Some(PAUSE)
            }
        };
        tokio::select! {
            () = stop.cancelled() => return,
            () = wait(&executor, rest) => {}
        }
    }
}

/// Waits for entries, unless there are some, and then for those of further commits.
async fn wait(executor: &Executor, rest: Option<Duration>) {
    let Some(rest) = rest else { return };
    if !rest.is_zero() {
        tokio::time::sleep(rest).await;
        return;
    }
    if executor.is_shared() {
        // Nothing wakes this daemon for the entries of another one.
        let _ = timeout(ORPHANED, executor.logged()).await;
    } else {
        executor.logged().await;
    }
    tokio::time::sleep(DELAY).await;
}
