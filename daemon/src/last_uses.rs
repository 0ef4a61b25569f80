//! Records in the background when credentials were last used, many in one commit. What is lost when the process ends
//! abruptly leaves an older time, and an older counter.

use std::sync::Arc;
use std::time::Duration;

use quorate_core::last_use::{self, PasskeyBack};
use quorate_core::model::last_use::CredentialUse;
use tokio_util::sync::CancellationToken;

use crate::executor::{CommitError, Executor};
use crate::telemetry::Metrics;

/// Time for which uses are collected, so that one commit records many.
const COLLECTED: Duration = Duration::from_secs(1);
/// Maximum number of attempts at a commit, which clashes with the deletion of a user.
const ATTEMPTS: u32 = 4;

/// Records uses until `stop`, and then those that still wait.
pub async fn run(executor: Arc<Executor>, metrics: Metrics, stop: CancellationToken) {
    while !stop.is_cancelled() {
        tokio::select! {
            () = stop.cancelled() => {}
            () = executor.world().last_uses.arrived.notified() => tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep(COLLECTED) => {}
            },
        }
        record_waiting(&executor, &metrics).await;
    }
}

async fn record_waiting(executor: &Executor, metrics: &Metrics) {
    loop {
        let uses = executor.world().last_uses.take();
        if uses.is_empty() {
            return;
        }
        match record(executor, &uses).await {
            Some(went_back) => went_back.iter().for_each(|one| report(one, metrics)),
            None => executor.world().last_uses.forget(&uses),
        }
    }
}

/// Warns of a passkey whose counter went back. The request was accepted: the counter is no proof.
fn report(one: &PasskeyBack, metrics: &Metrics) {
    let PasskeyBack { organization, user, passkey, .. } = one;
    tracing::warn!(
        %organization, %user, %passkey,
        "the signature counter of a passkey went back: it may have been copied"
    );
    metrics.passkey_went_back();
}

/// Records uses, and returns the passkeys whose counters went back, or `None` if they could not be recorded.
async fn record(executor: &Executor, uses: &[CredentialUse]) -> Option<Vec<PasskeyBack>> {
    for _ in 0..ATTEMPTS {
        let recording = match last_use::commit(executor.world().as_ref(), uses) {
            Ok(recording) => recording,
            Err(corrupt) => {
                tracing::debug!(cause = %corrupt, "cannot record when credentials were last used");
                return None;
            }
        };
        if recording.commit.writes.is_empty() {
            return Some(Vec::new());
        }
        match executor.commit(recording.commit).await {
            Ok(()) => return Some(recording.went_back),
            Err(CommitError::Clash) => {}
            Err(_) => return None,
        }
    }
    None
}
