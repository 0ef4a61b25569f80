//! Cleanup of deleted wallets: removes their tombstones step by step, in the background.

use std::sync::Arc;
use std::time::Duration;

use quorate_core::cleanup;
use tokio_util::sync::CancellationToken;

use crate::clock::now;
use crate::executor::Executor;
use crate::fail_points;

/// Maximum time until records that are due are removed.
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// Removes tombstones and records that are due until `stop`. The rest is removed after the next start.
pub async fn run(executor: Arc<Executor>, stop: CancellationToken) {
    schedule_import_keys(&executor).await;
    while !stop.is_cancelled() {
        fail_points::reach("cleanup.read");
        let removed = match cleanup::step(executor.world().as_ref(), now()) {
            Ok(Some(commit)) => {
                fail_points::reach("cleanup.remove");
                let removed = executor.commit(commit).await.is_ok();
                fail_points::reach("cleanup.removed");
                removed
            }
            Ok(None) => false,
            Err(corrupt) => {
                tracing::error!(cause = %corrupt, "cannot remove the tombstones of deleted wallets");
                false
            }
        };
        if !removed {
            tokio::select! {
                () = stop.cancelled() => {}
                () = executor.world().tombstones.notified() => {}
                () = tokio::time::sleep(LONGEST_WAIT) => {}
            }
        }
    }
}

/// Schedules the removal of the import keys that an earlier version stored. If that fails, the next start does it.
async fn schedule_import_keys(executor: &Executor) {
    let mut after = None;
    loop {
        match cleanup::schedule_import_keys(executor.world().as_ref(), after.as_deref()) {
            Ok(Some((commit, last))) => {
                if executor.commit(commit).await.is_err() {
                    return;
                }
                after = Some(last);
            }
            Ok(None) => return,
            Err(corrupt) => {
                tracing::error!(cause = %corrupt, "cannot schedule the removal of import keys");
                return;
            }
        }
    }
}
