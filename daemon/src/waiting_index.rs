//! Builds the index of the activities that wait for votes, once, in a store of an earlier version.

use std::sync::Arc;
use std::time::Duration;

use quorate_core::waiting_index;
use tokio_util::sync::CancellationToken;

use crate::executor::Executor;

/// Time until a failed step is repeated.
const PAUSE: Duration = Duration::from_secs(1);

/// Builds the index, unless it is complete. After `stop`, the next start begins again.
pub async fn run(executor: Arc<Executor>, stop: CancellationToken) {
    let (mut after, mut entries) = (None, 0_usize);
    let (mut organizations, mut is_reported) = (waiting_index::ORGANIZATIONS, false);
    while !stop.is_cancelled() {
        match waiting_index::step(executor.world().as_ref(), after.as_deref(), organizations) {
            Ok(None) => break,
            Ok(Some(next)) => {
                let added = next.commit.writes.len();
                if next.commit.writes.is_empty() || executor.commit(next.commit).await.is_ok() {
                    (after, entries) = (next.next, entries.saturating_add(added));
                    organizations = waiting_index::ORGANIZATIONS;
                    continue;
                }
                // An organization changed meanwhile. One alone does so less often than one of many.
                organizations = 1;
            }
            Err(corrupt) if !std::mem::replace(&mut is_reported, true) => {
                tracing::error!(cause = %corrupt, "the activities that wait for votes cannot be indexed yet");
            }
            Err(_) => {}
        }
        tokio::select! {
            () = stop.cancelled() => {}
            () = tokio::time::sleep(PAUSE) => {}
        }
    }
    // One of the entries only states that the index is complete.
    if entries > 1 {
        tracing::info!(entries, "the activities that wait for votes were indexed");
    }
}
