//! Commits a mark of this daemon soon after another one that shares the store has committed. A database that is restored from
//! a backup then lacks a mark that the guard file has seen, so that a daemon which changed nothing detects this as well.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::executor::Executor;

/// Time between a commit of another daemon and the mark, and between two attempts.
const DELAY: Duration = Duration::from_secs(1);
/// Number of own groups after which no mark is needed. The first one may have begun before the commit of the other daemon.
const GROUPS: u64 = 2;

/// Commits marks until `stop`, and a last one if it is due, if the store is shared. What was committed before the start counts as
/// well.
pub async fn run(executor: Arc<Executor>, stop: CancellationToken) {
    if !executor.is_shared() {
        return;
    }
    let groups = || executor.figures().groups;
    let mut wanted = groups().saturating_add(GROUPS);
    while !stop.is_cancelled() {
        // An attempt that fails is repeated.
        if groups() < wanted && executor.commit_mark().await.is_err() {
            pause(&stop).await;
            continue;
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = executor.world().heard.notified() => {}
        }
        wanted = groups().saturating_add(GROUPS);
        pause(&stop).await;
    }
    if groups() < wanted {
        // A failure leaves what a crash would leave.
        let _ = executor.commit_mark().await;
    }
}

async fn pause(stop: &CancellationToken) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = tokio::time::sleep(DELAY) => {}
    }
}
