//! Removes what is left of deleted wallets, step by step, beside all other work.

use std::sync::Arc;

use quorate_core::sweep;
use tokio_util::sync::CancellationToken;

use crate::fail_points;
use crate::turn::Turns;

/// Sweeps until `stop`. What is left then is swept after the next start.
pub async fn run(turns: Arc<Turns>, stop: CancellationToken) {
    while !stop.is_cancelled() {
        fail_points::reach("sweep.read");
        let swept = match sweep::step(turns.world().as_ref()) {
            Ok(Some(commit)) => {
                fail_points::reach("sweep.remove");
                let removed = turns.commit(commit).await.is_ok();
                fail_points::reach("sweep.removed");
                removed
            }
            Ok(None) => false,
            Err(corrupt) => {
                tracing::error!(cause = %corrupt, "what is left of deleted wallets cannot be removed");
                false
            }
        };
        if !swept {
            tokio::select! {
                () = stop.cancelled() => {}
                () = turns.world().leftovers.notified() => {}
            }
        }
    }
}
