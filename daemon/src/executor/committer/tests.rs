//! Tests of the committer with stores that fail, are full or were altered.

#![allow(clippy::unwrap_used, reason = "tests")]
use quorate_core::error::Corrupt;
use quorate_core::model::write::Write;
use quorate_core::pipeline::Commit;
use quorate_core::world::World;

use super::super::{Executor, testing};
use super::*;
use crate::guard;
use crate::store::embedded::Embedded;
use crate::store::testing::FaultyStore;
use crate::store::{Change, Group, Store};

fn commit(number: u32) -> Commit {
    let write = Write::mark(format!("a{number}").into_bytes(), &number.to_be_bytes());
    Commit { writes: vec![write], ..Commit::default() }
}

/// A store, with an executor started on demand.
struct Fixture {
    folder: tempfile::TempDir,
    store: Arc<FaultyStore>,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Embedded::open(&folder.path().join("store"), 0).unwrap();
        Self { folder, store: Arc::new(FaultyStore::new(store)) }
    }

    /// Starts an executor on the store.
    fn executor(&self) -> Executor {
        let store = Arc::clone(&self.store) as Arc<dyn Store>;
        Executor::start(testing::shared(self.folder.path(), store).0)
    }

    /// Removes a record without the daemon.
    async fn alter(&self) {
        let executor = self.executor();
        executor.world().compare_all();
        for number in 0..100 {
            executor.commit(commit(number)).await.unwrap();
        }
        drop(executor);
        let removed = Batch { writes: vec![Change::remove(*b"a77")], ..Batch::default() };
        self.store.commit(&Group::of(removed)).unwrap();
    }

    /// Replaces the guard file by a directory, so that it cannot be written.
    fn obstruct_guard(&self) {
        std::fs::remove_file(self.guard()).unwrap();
        std::fs::create_dir(self.guard()).unwrap();
    }

    fn guard(&self) -> std::path::PathBuf {
        self.folder.path().join("guard")
    }
}

/// Waits until the store is in a matching state.
async fn until(executor: &Executor, matches: impl Fn(&StoreState) -> bool) {
    while !matches(&executor.store_state()) {
        executor.world().store_state.notified().await;
    }
}

const fn is_altered(state: &StoreState) -> bool {
    matches!(state.condition, Condition::Altered)
}

#[tokio::test]
async fn an_alteration_found_on_a_full_disk_is_recorded_once_space_is_free() {
    let fixture = Fixture::new();
    fixture.alter().await;
    fixture.store.is_full.store(true, Ordering::Relaxed);
    let executor = fixture.executor();
    until(&executor, is_altered).await;
    let check = || guard::check(&fixture.guard(), &executor.world().barrier);
    check().unwrap();
    fixture.store.is_full.store(false, Ordering::Relaxed);
    while check().is_ok() {
        tokio::task::yield_now().await;
    }
    assert!(matches!(check(), Err(GuardError::Altered)));
    assert_eq!(executor.commit(commit(200)).await, Err(CommitError::Altered));
}

#[tokio::test]
async fn an_unwritable_guard_file_does_not_stop_reads() {
    let fixture = Fixture::new();
    let executor = fixture.executor();
    executor.commit(commit(1)).await.unwrap();
    fixture.obstruct_guard();
    let mut number = 2;
    while executor.accepts_writes() {
        let _ = executor.commit(commit(number)).await;
        number += 1;
    }
    assert_eq!(executor.store_state().condition, Condition::GuardFailed);
    // A commit that was not acknowledged may still be on disk; its outcome is unknown.
    assert_eq!(executor.commit(commit(number)).await, Err(CommitError::Unavailable));
    assert!(executor.world().records().read(b"a1").unwrap().is_some());
    assert_eq!(fixture.store.recoveries.load(Ordering::Relaxed), 0);
    std::fs::remove_dir(fixture.guard()).unwrap();
    until(&executor, |state| state.condition == Condition::Ready).await;
    executor.commit(commit(number)).await.unwrap();
}

#[tokio::test]
async fn a_reopened_store_does_not_wait_for_its_guard_file() {
    let fixture = Fixture::new();
    let executor = fixture.executor();
    executor.commit(commit(1)).await.unwrap();
    fixture.obstruct_guard();
    fixture.store.rejects_writes.store(true, Ordering::Relaxed);
    assert_eq!(executor.commit(commit(2)).await, Err(CommitError::Unavailable));
    fixture.store.rejects_writes.store(false, Ordering::Relaxed);
    until(&executor, |state| state.condition == Condition::GuardFailed).await;
    let recoveries = fixture.store.recoveries.load(Ordering::Relaxed);
    let begun = Instant::now();
    while begun.elapsed() < RETRY * 2 {
        assert_eq!(executor.commit(commit(3)).await, Err(CommitError::Unavailable));
    }
    assert_eq!(fixture.store.recoveries.load(Ordering::Relaxed), recoveries);
}

#[tokio::test]
async fn a_store_that_lost_acknowledged_commits_is_not_read() {
    let fixture = Fixture::new();
    let executor = fixture.executor();
    executor.commit(commit(1)).await.unwrap();
    executor.commit(commit(2)).await.unwrap();
    let lost = ["mg", "a1", "a2"].map(|key| Change::remove(key.as_bytes()));
    let lost = Batch { writes: lost.to_vec(), ..Batch::default() };
    fixture.store.commit(&Group::of(lost)).unwrap();
    fixture.store.rejects_writes.store(true, Ordering::Relaxed);
    assert_eq!(executor.commit(commit(3)).await, Err(CommitError::Unavailable));
    fixture.store.is_unavailable.store(true, Ordering::Relaxed);
    fixture.store.rejects_writes.store(false, Ordering::Relaxed);
    until(&executor, |state| state.cause.contains("the store lost acknowledged changes")).await;
    // It is not known whether the record existed.
    assert_eq!(executor.world().records().read(b"a1"), Err(Corrupt::Unavailable));
    assert_eq!(executor.commit(commit(3)).await, Err(CommitError::Unavailable));
}

#[tokio::test]
async fn a_failed_store_is_not_reopened_for_each_request() {
    let fixture = Fixture::new();
    let executor = fixture.executor();
    executor.commit(commit(1)).await.unwrap();
    fixture.store.rejects_writes.store(true, Ordering::Relaxed);
    let begun = Instant::now();
    for number in 2..200 {
        assert_eq!(executor.commit(commit(number)).await, Err(CommitError::Unavailable));
    }
    let most = begun.elapsed().as_millis() / RETRY.as_millis() + 2;
    let recoveries = fixture.store.recoveries.load(Ordering::Relaxed);
    assert!(recoveries as u128 <= most, "{recoveries} of {most}");
}

#[tokio::test]
async fn a_removed_record_stops_all_changes_but_no_reads() {
    let fixture = Fixture::new();
    fixture.alter().await;
    let executor = fixture.executor();
    until(&executor, is_altered).await;
    assert_eq!(executor.commit(commit(200)).await, Err(CommitError::Altered));
    assert_eq!(executor.world().records().read(b"a200").unwrap(), None);
    assert!(executor.world().records().read(b"a78").unwrap().is_some());
}

#[test]
fn a_state_keeps_its_start_and_takes_the_newest_cause() {
    let cause = "free at least 24 MiB".to_owned();
    let mut state = StoreState { condition: Condition::Full, since: 1, cause };
    assert!(state.update_cause(Condition::Full, "free at least 30 MiB"));
    assert_eq!((state.since, state.cause.as_str()), (1, "free at least 30 MiB"));
    assert!(!state.update_cause(Condition::Ready, ""));
}

#[tokio::test]
async fn an_altered_store_that_fails_is_reopened_for_reads() {
    let fixture = Fixture::new();
    fixture.alter().await;
    let executor = fixture.executor();
    until(&executor, is_altered).await;
    fixture.store.is_unavailable.store(true, Ordering::Relaxed);
    while executor.world().records().read(b"a78").is_err() {
        tokio::task::yield_now().await;
    }
    assert_eq!(executor.commit(commit(200)).await, Err(CommitError::Altered));
    assert!(is_altered(&executor.store_state()), "{:?}", executor.store_state());
}
