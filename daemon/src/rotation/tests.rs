//! Tests of the rotation, on a store in files.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::path::Path;

use quorate_core::model::write::Write;
use quorate_core::pipeline::Commit;
use quorate_core::world::World as _;

use super::*;
use crate::executor::testing::shared;
use crate::store::embedded::Embedded;
use crate::store::{Batch, Change, Group, Store};
use crate::trailer::{DERIVED, Form, Trailer};

/// A daemon on a store in a directory.
struct Running {
    executor: Arc<Executor>,
    store: Arc<Embedded>,
}

impl Running {
    /// Opens the store. Its records are sealed with the derived key until the first rotation.
    fn start(folder: &Path) -> Self {
        let store = loop {
            // Threads of sled may still hold the lock of the previous instance.
            match Embedded::open(&folder.join("store"), 0) {
                Err(crate::store::StoreError::InUse(_)) => std::thread::yield_now(),
                store => break Arc::new(store.unwrap()),
            }
        };
        let executor = Executor::start(shared(folder, Arc::clone(&store) as Arc<dyn Store>).0);
        executor.world().compare_all();
        Self { executor: Arc::new(executor), store }
    }

    async fn write(&self, key: &str, value: &[u8]) {
        let writes = vec![Write::mark(key.into(), value)];
        self.executor.commit(Commit { writes, ..Commit::default() }).await.unwrap();
    }

    /// Does everything that is due.
    async fn rotate(&self) {
        let mut rotation = Rotation::new(Arc::clone(&self.executor));
        while rotation.step().await.unwrap() == STEP {}
    }

    fn records(&self) -> BTreeMap<Vec<u8>, Vec<u8>> {
        let page = Page::first(b"a", usize::MAX);
        self.executor.world().records().page(page).unwrap().into_iter().collect()
    }

    /// Returns the terms of all sealed values.
    fn terms(&self) -> Vec<u32> {
        let rows = self.store.rows(Page::first(b"", usize::MAX)).unwrap();
        let sealed = rows.iter().filter(|(key, _)| key.first() != Some(&layout::VERSIONS));
        let trailers = sealed.map(|(_, value)| Trailer::of(value).unwrap());
        let mut terms: Vec<u32> =
            trailers.filter(|trailer| trailer.form != Form::Wrapped).map(|trailer| trailer.term).collect();
        terms.sort_unstable();
        terms.dedup();
        terms
    }
}

#[tokio::test]
async fn all_records_are_sealed_with_the_newest_key() {
    let folder = tempfile::tempdir().unwrap();
    let daemon = Running::start(folder.path());
    for number in 0..450_u32 {
        // Some are split into parts.
        let length = if number.is_multiple_of(50) { 20_000 } else { number };
        daemon.write(&format!("a{number:04}"), &vec![7; usize::try_from(length).unwrap()]).await;
    }
    assert_eq!(daemon.terms(), [DERIVED]);
    let (before, count) = (daemon.records(), daemon.store.keys(Page::first(b"", usize::MAX)).unwrap().len());
    // Nobody counted how often the derived key was used.
    daemon.rotate().await;
    assert_eq!((daemon.terms(), daemon.records()), (vec![1], before.clone()));
    let terms = daemon.executor.terms().unwrap();
    assert_eq!((terms.newest(), terms.oldest()), (1, 1));
    // The keys, their register and the counter were added, and no part is left over.
    assert_eq!(daemon.store.keys(Page::first(b"", usize::MAX)).unwrap().len(), count + 4);
    daemon.executor.begin_term(1).await.unwrap();
    daemon.write("a9999", b"later").await;
    assert_eq!(daemon.terms(), [1, 2]);
    drop(daemon);
    // The next start continues, and the digest over all records still agrees.
    let daemon = Running::start(folder.path());
    daemon.rotate().await;
    assert_eq!(daemon.terms(), [2]);
    let mut records = daemon.records();
    assert_eq!(records.remove(b"a9999".as_slice()).unwrap(), b"later");
    assert_eq!(records, before);
    drop(daemon);
    let daemon = Running::start(folder.path());
    assert_eq!((daemon.terms(), daemon.records().len()), (vec![2], 451));
}

#[tokio::test]
async fn records_that_change_meanwhile_keep_their_newest_value() {
    let folder = tempfile::tempdir().unwrap();
    let daemon = Running::start(folder.path());
    daemon.write("a1", &[1; 9000]).await;
    daemon.write("a2", b"two").await;
    let terms = daemon.executor.begin_term(DERIVED).await.unwrap();
    daemon.executor.end_earlier_terms(&terms).await.unwrap();
    let rows = daemon.store.rows(Page::first(b"a", 9)).unwrap();
    daemon.write("a1", &[2; 9000]).await;
    let removal = Commit { writes: vec![Write::remove(b"a2".to_vec())], ..Commit::default() };
    daemon.executor.commit(removal).await.unwrap();
    assert_eq!(daemon.executor.seal_again(&rows).await.unwrap(), (2, 0));
    assert_eq!(daemon.records(), BTreeMap::from([(b"a1".to_vec(), vec![2; 9000])]));
}

#[tokio::test]
async fn what_was_sealed_in_an_ended_term_is_not_committed() {
    let folder = tempfile::tempdir().unwrap();
    let daemon = Running::start(folder.path());
    let barrier = &daemon.executor.world().barrier();
    let early = barrier.seal(vec![Write::mark(b"a1".to_vec(), b"early")]).unwrap();
    let early = Batch { writes: early, ..Batch::default() };
    assert!(!barrier.is_stale(&early));
    let terms = daemon.executor.begin_term(DERIVED).await.unwrap();
    assert!(!barrier.is_stale(&early));
    daemon.executor.end_earlier_terms(&terms).await.unwrap();
    assert!(barrier.is_stale(&early));
    assert_eq!(daemon.executor.commit_batch(early).await, Err(CommitError::Clash));
    assert_eq!(daemon.records(), BTreeMap::new());
}

#[tokio::test]
async fn a_record_that_cannot_be_read_keeps_the_earlier_keys() {
    let folder = tempfile::tempdir().unwrap();
    let daemon = Running::start(folder.path());
    daemon.write("a1", b"one").await;
    daemon.write("a2", b"two").await;
    let mut value = daemon.store.value(b"a1").unwrap().unwrap();
    value.iter_mut().take(1).for_each(|byte| *byte ^= 1);
    let damaged = Batch { writes: vec![Change::put(*b"a1", value)], ..Batch::default() };
    daemon.store.commit(&Group::of(damaged)).unwrap();
    daemon.rotate().await;
    let terms = daemon.executor.terms().unwrap();
    assert_eq!((terms.newest(), terms.oldest(), daemon.terms()), (1, DERIVED, vec![DERIVED, 1]));
    assert_eq!(daemon.executor.world().records().read(b"a2").unwrap().unwrap(), b"two");
}

#[tokio::test]
async fn sealings_are_counted_ahead_in_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let daemon = Running::start(folder.path());
    daemon.rotate().await;
    let counted = || daemon.executor.sealing_key().unwrap().sealings;
    let mut rotation = Rotation::new(Arc::clone(&daemon.executor));
    rotation.step().await.unwrap();
    // An idle daemon writes nothing.
    let before = counted();
    rotation.step().await.unwrap();
    assert_eq!(counted(), before);
    daemon.write("a1", b"one").await;
    rotation.step().await.unwrap();
    assert_eq!(counted(), before + BLOCK);
    rotation.step().await.unwrap();
    assert_eq!(counted(), before + BLOCK);
    // A key that was used up is replaced.
    let used_up = crate::vault::MOST_SEALINGS - before - BLOCK;
    daemon.executor.count_sealings(1, before + BLOCK, used_up).await.unwrap();
    drop(rotation);
    daemon.rotate().await;
    assert_eq!((daemon.executor.terms().unwrap().newest(), daemon.terms()), (2, vec![2]));
}
