//! Records in the background when credentials were last used, many in one commit. What is lost when the process ends
//! abruptly leaves an older time.

use std::sync::Arc;
use std::time::Duration;

use quorate_core::last_use;
use quorate_core::model::last_use::CredentialUse;
use tokio_util::sync::CancellationToken;

use crate::executor::{CommitError, Executor};

/// Time for which uses are collected, so that one commit records many.
const COLLECTED: Duration = Duration::from_secs(1);
/// Maximum number of attempts at a commit, which clashes with the deletion of a user.
const ATTEMPTS: u32 = 4;

/// Records uses until `stop`, and then those that still wait.
pub async fn run(executor: Arc<Executor>, stop: CancellationToken) {
    while !stop.is_cancelled() {
        tokio::select! {
            () = stop.cancelled() => {}
            () = executor.world().last_uses.arrived.notified() => tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep(COLLECTED) => {}
            },
        }
        record_waiting(&executor).await;
    }
}

async fn record_waiting(executor: &Executor) {
    loop {
        let uses = executor.world().last_uses.take();
        if uses.is_empty() {
            return;
        }
        if !record(executor, &uses).await {
            executor.world().last_uses.forget(&uses);
        }
    }
}

/// Records uses, and returns whether it succeeded.
async fn record(executor: &Executor, uses: &[CredentialUse]) -> bool {
    for _ in 0..ATTEMPTS {
        let commit = match last_use::commit(executor.world().as_ref(), uses) {
            Ok(commit) => commit,
            Err(corrupt) => {
                tracing::debug!(cause = %corrupt, "cannot record when credentials were last used");
                return false;
            }
        };
        if commit.writes.is_empty() {
            return true;
        }
        match executor.commit(commit).await {
            Ok(()) => return true,
            Err(CommitError::Clash) => {}
            Err(_) => return false,
        }
    }
    false
}
