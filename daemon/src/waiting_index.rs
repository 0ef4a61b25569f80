//! Builds the index of the activities that wait for votes in a store that an earlier version has changed.

use std::sync::Arc;
use std::time::Duration;

use quorate_core::waiting_index;
use quorate_core::world::World as _;
use tokio_util::sync::CancellationToken;

use crate::executor::Executor;

/// Time until a failed step is repeated.
const PAUSE: Duration = Duration::from_secs(1);

/// Builds the index, unless it is complete. After `stop`, the next start begins again.
pub async fn run(executor: Arc<Executor>, stop: CancellationToken) {
    let (mut after, mut entries) = (None, 0_usize);
    let (mut organizations, mut is_reported) = (waiting_index::ORGANIZATIONS, false);
    while !stop.is_cancelled() {
        if executor.world().is_index_outdated() {
            // An earlier version did not keep it up to date.
            let restart = waiting_index::restart(executor.world().index());
            if executor.commit(restart).await.is_err() {
                tokio::select! {
                    () = stop.cancelled() => {}
                    () = tokio::time::sleep(PAUSE) => {}
                }
            }
            continue;
        }
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use quorate_core::model::layout;

    use super::*;
    use crate::executor::testing::shared;
    use crate::store::embedded::Embedded;

    #[tokio::test]
    async fn an_outdated_index_is_built_again() {
        let folder = tempfile::tempdir().unwrap();
        let open = || loop {
            // Threads of sled may still hold the lock of the previous instance.
            match Embedded::open(&folder.path().join("store"), 0) {
                Err(crate::store::StoreError::InUse(_)) => std::thread::yield_now(),
                store => return Arc::new(store.unwrap()),
            }
        };
        let start = || Arc::new(Executor::start(shared(folder.path(), open()).0));
        let executor = start();
        run(Arc::clone(&executor), CancellationToken::new()).await;
        let complete = layout::waiting_is_complete(executor.world().index());
        assert!(executor.world().records().read(&complete).unwrap().is_some());
        // An earlier version stores its run without the record that it keeps the index up to date.
        let removed = quorate_core::model::write::Write::remove(b"mi".to_vec());
        let commit = quorate_core::pipeline::Commit { writes: vec![removed], ..Default::default() };
        executor.commit(commit).await.unwrap();
        drop(executor);
        let executor = start();
        let world = executor.world();
        assert!(world.is_index_outdated() && world.records().read(&complete).unwrap().is_some());
        run(Arc::clone(&executor), CancellationToken::new()).await;
        assert!(!world.is_index_outdated() && world.records().read(&complete).unwrap().is_some());
    }
}
