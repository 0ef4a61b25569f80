//! Tests of the guard with real stores.
#![allow(clippy::unwrap_used, reason = "tests")]
use std::fs;
use std::sync::atomic::Ordering;
use std::time::Duration;

use quorate_core::world::Page;

use super::file::{SECTOR, SLOT};
use super::*;
use crate::digest::StoreDigest;
use crate::store::embedded::Embedded;
use crate::store::testing::FaultyStore;
use crate::store::{Change, Group};
use crate::vault::{KeySource, Vault};

struct Fixture {
    folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Vault::create(folder.path(), &KeySource::File(folder.path().join("key"))).unwrap();
        Self { folder }
    }

    fn guard(&self) -> PathBuf {
        self.folder.path().join("guard")
    }

    /// Opens the store. Retries, because threads of sled may still hold the lock of the previous instance.
    fn barrier(&self) -> Barrier {
        let folder = self.folder.path();
        let vault = Vault::open(folder, &KeySource::File(folder.join("key"))).unwrap();
        loop {
            match Embedded::open(&folder.join("store"), 0) {
                Err(StoreError::InUse(_)) => std::thread::yield_now(),
                store => return Barrier::new(Arc::new(store.unwrap()), vault),
            }
        }
    }

    /// Starts a run and commits this many groups.
    fn run(&self, groups: u32) {
        let barrier = self.barrier();
        let (guard, _) = Guard::open(&self.guard(), &barrier, 1000).unwrap();
        (0..groups).for_each(|_| group(&guard, &barrier, true));
    }

    /// Copies a file or a directory with its contents.
    fn copy(from: &Path, to: &Path) {
        if from.is_file() {
            fs::copy(from, to).unwrap();
            return;
        }
        let _ = fs::remove_dir_all(to);
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            Self::copy(&entry.path(), &to.join(entry.file_name()));
        }
    }

    fn save(&self, name: &str) {
        Self::copy(&self.folder.path().join("store"), &self.folder.path().join(name));
    }

    fn restore(&self, name: &str) {
        Self::copy(&self.folder.path().join(name), &self.folder.path().join("store"));
    }

    fn check(&self) -> Result<(), GuardError> {
        self.check_open(&self.barrier())
    }

    fn check_open(&self, barrier: &Barrier) -> Result<(), GuardError> {
        check(&self.guard(), barrier)
    }
}

fn commit(guard: &Guard, barrier: &Barrier, batches: Vec<Batch>) {
    barrier.store().commit(&guard.mark(barrier, 2000).unwrap().group(batches)).unwrap();
}

fn group(guard: &Guard, barrier: &Barrier, acknowledged: bool) {
    let writes = barrier.seal(vec![Write::mark(b"a".to_vec(), b"v")]).unwrap();
    let batch = Batch { writes, ..Batch::default() };
    commit(guard, barrier, vec![batch]);
    if acknowledged {
        guard.advance(barrier, 2000).unwrap();
    }
}

#[test]
fn a_store_can_be_served_again_after_each_run() {
    let fixture = Fixture::new();
    for groups in [0, 3, 1] {
        fixture.run(groups);
        fixture.check().unwrap();
    }
}

#[test]
fn a_guard_file_removed_while_the_daemon_runs_is_detected_and_created_again() {
    let removals: [fn(&Path); 3] = [
        |file| fs::remove_file(file).unwrap(),
        |file| fs::rename(file, file.with_extension("away")).unwrap(),
        |file| {
            fs::copy(file, file.with_extension("older")).unwrap();
            fs::rename(file.with_extension("older"), file).unwrap();
        },
    ];
    for remove in removals {
        let fixture = Fixture::new();
        let barrier = fixture.barrier();
        let (guard, _) = Guard::open(&fixture.guard(), &barrier, 1000).unwrap();
        group(&guard, &barrier, true);
        remove(&fixture.guard());
        // Persisting the time leaves the failure to the next group.
        guard.persist_time(&barrier, 3000).unwrap();
        while !guard.syncer.has_failed() {
            std::thread::yield_now();
        }
        guard.persist_time(&barrier, 4000).unwrap();
        group(&guard, &barrier, false);
        let failure = guard.advance(&barrier, 2000).unwrap_err().to_string();
        assert!(failure.ends_with("the file was removed or replaced"), "{failure}");
        guard.resume(&barrier).unwrap();
        group(&guard, &barrier, true);
        drop((guard, barrier));
        fixture.check().unwrap();
    }
}

#[test]
fn an_unacknowledged_group_may_be_stored_or_not() {
    let fixture = Fixture::new();
    fixture.run(2);
    fixture.save("before");
    let barrier = fixture.barrier();
    let (guard, _) = Guard::open(&fixture.guard(), &barrier, 1000).unwrap();
    group(&guard, &barrier, false);
    drop((guard, barrier));
    fixture.check().unwrap();
    fixture.run(1);
}

#[test]
fn a_lost_end_of_the_store_is_reported_with_its_size() {
    let fixture = Fixture::new();
    fixture.run(2);
    let barrier = fixture.barrier();
    let (guard, _) = Guard::open(&fixture.guard(), &barrier, 1000).unwrap();
    drop(barrier.store().value(b"a"));
    group(&guard, &barrier, true);
    drop((guard, barrier));
    fixture.save("earlier");
    let barrier = fixture.barrier();
    let (guard, _) = Guard::open(&fixture.guard(), &barrier, 1000).unwrap();
    (0..5).for_each(|_| group(&guard, &barrier, true));
    drop((guard, barrier));
    fixture.restore("earlier");
    // The start of a run is a group as well.
    assert!(matches!(fixture.check(), Err(GuardError::Lost { store_time: Some(_), .. })));
    assert!(matches!(
        Guard::open(&fixture.guard(), &fixture.barrier(), 1000),
        Err(GuardError::Lost { store_time: Some(_), .. })
    ));
    drop(Guard::accept(&fixture.guard(), &fixture.barrier(), 1000, false).unwrap());
    fixture.check().unwrap();
    fixture.run(1);
}

#[test]
fn a_copy_that_was_changed_elsewhere_is_another_store() {
    let fixture = Fixture::new();
    fixture.run(3);
    fixture.save("copy");
    let saved = fs::read(fixture.guard()).unwrap();
    fixture.run(3);
    let seen = fs::read(fixture.guard()).unwrap();
    fixture.restore("copy");
    fs::write(fixture.guard(), saved).unwrap();
    fixture.run(30);
    fs::write(fixture.guard(), seen).unwrap();
    assert!(matches!(fixture.check(), Err(GuardError::Mismatch(_))));
}

#[test]
fn reports_a_missing_or_damaged_guard_file() {
    let fixture = Fixture::new();
    fixture.run(3);
    let intact = fs::read(fixture.guard()).unwrap();
    fs::remove_file(fixture.guard()).unwrap();
    assert!(matches!(fixture.check(), Err(GuardError::Missing(_))));
    // One valid slot is enough; without any, the file is rejected.
    let sector = usize::try_from(SECTOR).unwrap();
    for byte in (0..SLOT).step_by(7) {
        let mut one = intact.clone();
        *one.get_mut(byte).unwrap() ^= 1;
        fs::write(fixture.guard(), &one).unwrap();
        fixture.check().unwrap();
        *one.get_mut(sector + byte).unwrap() ^= 1;
        fs::write(fixture.guard(), &one).unwrap();
        assert!(matches!(fixture.check(), Err(GuardError::Damaged(_))), "{byte}");
    }
    fs::write(fixture.guard(), b"").unwrap();
    assert!(matches!(fixture.check(), Err(GuardError::Damaged(_))));
    fs::write(fixture.guard(), intact).unwrap();
    fixture.check().unwrap();
}

#[test]
fn a_guard_file_behind_a_symbolic_link_is_not_moved() {
    let (fixture, other) = (Fixture::new(), tempfile::tempdir().unwrap());
    let real = other.path().join("real");
    std::os::unix::fs::symlink(&real, fixture.guard()).unwrap();
    for groups in [2, 1] {
        fixture.run(groups);
        fixture.check().unwrap();
        assert!(fs::symlink_metadata(fixture.guard()).unwrap().is_symlink() && real.is_file());
    }
    fs::remove_file(&real).unwrap();
    assert!(matches!(fixture.check(), Err(GuardError::Missing(_))));
}

#[test]
fn an_interrupted_first_start_can_be_repeated() {
    let fixture = Fixture::new();
    fixture.run(1);
    let first = fs::read(fixture.guard()).unwrap();
    // The daemon was killed before the first group was stored: the guard file exists, the store is empty.
    fs::remove_dir_all(fixture.folder.path().join("store")).unwrap();
    fs::remove_file(fixture.guard()).unwrap();
    let barrier = fixture.barrier();
    let mark = Mark { run: [1; 16], number: 0, time: 5 };
    file::create(&fixture.guard(), &barrier, Entry { mark, daemon: None }).unwrap();
    drop(barrier);
    fixture.run(1);
    // An empty store with a guard file that has seen groups is a loss.
    fs::remove_dir_all(fixture.folder.path().join("store")).unwrap();
    fs::write(fixture.guard(), first).unwrap();
    assert!(matches!(fixture.check(), Err(GuardError::Lost { store_time: None, .. })));
}

#[test]
fn a_start_writes_to_the_store_only_with_its_first_group() {
    let fixture = Fixture::new();
    for _ in 0..2 {
        let barrier = fixture.barrier();
        let before = barrier.store().rows(Page::first(b"", 100)).unwrap();
        let (guard, _) = Guard::open(&fixture.guard(), &barrier, 1000).unwrap();
        guard.persist_time(&barrier, 3000).unwrap();
        assert_eq!(barrier.store().rows(Page::first(b"", 100)).unwrap(), before);
        drop((guard, barrier));
        fixture.check().unwrap();
        fixture.run(2);
        assert_eq!(newest_time(&fixture.guard(), &fixture.barrier()).unwrap(), 3000);
    }
}

#[test]
fn the_failed_first_group_of_a_run_may_be_stored_or_not() {
    for is_stored in [false, true] {
        let fixture = Fixture::new();
        fixture.run(1);
        let barrier = fixture.barrier();
        let (guard, _) = Guard::open(&fixture.guard(), &barrier, 1000).unwrap();
        if is_stored {
            group(&guard, &barrier, false);
        }
        guard.resume(&barrier).unwrap();
        fixture.check_open(&barrier).unwrap();
        group(&guard, &barrier, true);
        drop((guard, barrier));
        fixture.run(1);
    }
}

#[test]
fn a_process_with_a_copy_of_the_guard_file_is_reported_as_such() {
    let fixture = Fixture::new();
    let (barrier, copy) = (fixture.barrier(), fixture.folder.path().join("copy"));
    let (guard, _) = Guard::open(&fixture.guard(), &barrier, 1000).unwrap();
    group(&guard, &barrier, true);
    fs::copy(fixture.guard(), &copy).unwrap();
    let (other, _) = Guard::open(&copy, &barrier, 1000).unwrap();
    group(&other, &barrier, true);
    let refused = guard.resume(&barrier).unwrap_err();
    assert!(matches!(refused, GuardError::Continued(_)), "{refused}");
    drop((guard, other, barrier));
    // Nothing is lost, so a restart continues.
    fixture.run(1);
}

#[test]
fn the_newest_time_survives_a_restart() {
    let fixture = Fixture::new();
    let barrier = fixture.barrier();
    let (guard, newest) = Guard::open(&fixture.guard(), &barrier, 5000).unwrap();
    assert_eq!(newest, 0);
    guard.persist_time(&barrier, 9000).unwrap();
    drop((guard, barrier));
    let barrier = fixture.barrier();
    assert_eq!(newest_time(&fixture.guard(), &barrier).unwrap(), 9000);
    drop(Guard::open(&fixture.guard(), &barrier, 100).unwrap());
    assert_eq!(newest_time(&fixture.guard(), &barrier).unwrap(), 9000);
    drop(Guard::accept_clock(&fixture.guard(), &barrier, 100).unwrap());
    assert_eq!(newest_time(&fixture.guard(), &barrier).unwrap(), 100);
}

/// Writes rows for several steps of a comparison, including a register and a long record.
fn fill(guard: &Guard, barrier: &Barrier, round: u8) {
    let batches = (0..100_u8).map(|number| {
        let key = vec![b'a', number];
        let write = match number % 10 {
            3 if round > 0 => Write::remove(key),
            4 => Write::mark(key, &vec![round; 12_000]),
            _ => Write::mark(key, &[round, number]),
        };
        let set = vec![(vec![b'v', number % 7], u64::from(round))];
        Batch { writes: barrier.seal(vec![write]).unwrap(), set, ..Batch::default() }
    });
    for chunk in batches.collect::<Vec<_>>().chunks_mut(7) {
        commit(guard, barrier, chunk.iter_mut().map(std::mem::take).collect());
        guard.advance(barrier, 2000).unwrap();
    }
}

impl Fixture {
    /// Opens the guard and compares all records with their digest.
    fn compare(&self) -> Result<(), GuardError> {
        let barrier = self.barrier();
        let (guard, _) = Guard::open(&self.guard(), &barrier, 1000)?;
        guard.compare_for(&barrier, Duration::MAX / 4)
    }

    /// Changes one row without the guard.
    fn alter(&self, change: Change) {
        let batch = Batch { writes: vec![change], ..Batch::default() };
        self.barrier().store().commit(&Group::of(batch)).unwrap();
    }
}

#[test]
fn records_are_compared_while_they_change() {
    let fixture = Fixture::new();
    // Round 0 has no digest yet. Later rounds change records before, after and within those compared so far.
    for round in 0..3 {
        let barrier = fixture.barrier();
        let (guard, _) = Guard::open(&fixture.guard(), &barrier, 1000).unwrap();
        let mut steps = 0;
        while guard.is_comparing() {
            guard.compare(&barrier).unwrap();
            fill(&guard, &barrier, steps % 5);
            steps += 1;
        }
        assert!(steps >= 3 || round == 0, "{steps} steps");
        drop((guard, barrier));
        fixture.compare().unwrap();
        compare(&fixture.barrier()).unwrap();
    }
}

#[test]
fn each_altered_record_is_detected_and_stays_detected() {
    let fixture = Fixture::new();
    let barrier = fixture.barrier();
    let (guard, _) = Guard::open(&fixture.guard(), &barrier, 1000).unwrap();
    fill(&guard, &barrier, 0);
    let old = barrier.store().rows(Page::first(b"", 1000)).unwrap();
    fill(&guard, &barrier, 1);
    drop((guard, barrier));
    fixture.compare().unwrap();
    let rows = fixture.barrier().store().rows(Page::first(b"", 1000)).unwrap();
    let now = |key: &[u8]| rows.iter().find(|row| row.0 == key).map(|row| row.1.clone());
    fixture.save("intact");
    let guarded = fs::read(fixture.guard()).unwrap();
    let restored = old.into_iter().filter(|(key, value)| now(key).as_ref() != Some(value));
    let restored = restored.map(|(key, value)| Change::put(key, value));
    let removed = rows.iter().map(|(key, _)| Change::remove(key.as_slice()));
    let added = [Change::put(*b"zz", [1; 40]), Change::put(*b"v9", 1_u64.to_be_bytes())];
    let of_mark = |change: &Change| change.key == MARK;
    let changes: Vec<Change> =
        restored.chain(removed).chain(added).filter(|change| !of_mark(change)).collect();
    assert!(changes.len() > 200, "{}", changes.len());
    for change in changes.into_iter().step_by(17) {
        let context = format!("{:?}", change.key);
        fixture.restore("intact");
        fs::write(fixture.guard(), &guarded).unwrap();
        fixture.alter(change);
        assert!(matches!(compare(&fixture.barrier()), Err(GuardError::Altered)), "{context}");
        assert!(matches!(fixture.compare(), Err(GuardError::Altered)), "{context}");
        // The next start reports it at once.
        assert!(matches!(fixture.check(), Err(GuardError::Altered)), "{context}");
        drop(Guard::accept(&fixture.guard(), &fixture.barrier(), 1000, false).unwrap());
        fixture.compare().unwrap();
        compare(&fixture.barrier()).unwrap();
    }
}

#[test]
fn restoring_only_the_mark_of_an_old_group_is_a_loss() {
    let fixture = Fixture::new();
    fixture.run(2);
    let mark = fixture.barrier().store().value(MARK).unwrap().unwrap();
    fixture.run(2);
    fixture.alter(Change::put(MARK, mark));
    assert!(matches!(fixture.check(), Err(GuardError::Lost { .. })));
}

#[test]
fn restoring_a_mark_without_a_digest_is_a_loss() {
    let fixture = Fixture::new();
    fixture.run(2);
    fixture.compare().unwrap();
    drop(Guard::accept(&fixture.guard(), &fixture.barrier(), 1000, false).unwrap());
    let barrier = fixture.barrier();
    let (guard, _) = Guard::open(&fixture.guard(), &barrier, 1000).unwrap();
    let unknown = barrier.store().value(MARK).unwrap().unwrap();
    guard.compare_for(&barrier, Duration::MAX / 4).unwrap();
    drop((guard, barrier));
    fixture.alter(Change::put(MARK, unknown));
    assert!(matches!(fixture.check(), Err(GuardError::Lost { missing: 1, .. })));
}

#[test]
fn an_altered_backup_is_detected_whatever_its_guard_file_contains() {
    let fixture = Fixture::new();
    fixture.run(2);
    fixture.compare().unwrap();
    fixture.save("backup");
    fixture.run(2);
    fixture.restore("backup");
    // A backup that lacks the newest groups is accepted together with its digest.
    compare(&fixture.barrier()).unwrap();
    drop(Guard::accept(&fixture.guard(), &fixture.barrier(), 1000, true).unwrap());
    fixture.alter(Change::remove(*b"a"));
    let report = crate::verify::verify(&fixture.barrier()).unwrap();
    assert_eq!(report.problems, [GuardError::Altered.to_string()]);
    assert!(matches!(compare(&fixture.barrier()), Err(GuardError::Altered)));
    assert!(matches!(fixture.compare(), Err(GuardError::Altered)));
}

#[test]
fn a_store_with_a_damaged_mark_can_be_accepted() {
    for key in [MARK, RUNS] {
        let fixture = Fixture::new();
        fixture.run(3);
        fixture.compare().unwrap();
        fixture.alter(Change::put(key, [7; 40]));
        assert!(matches!(fixture.check(), Err(GuardError::Corrupt(_))));
        drop(Guard::accept(&fixture.guard(), &fixture.barrier(), 1000, false).unwrap());
        fixture.compare().unwrap();
        fixture.run(1);
        fixture.check().unwrap();
    }
}

#[test]
fn a_record_unreadable_after_reopening_stops_all_changes() {
    let fixture = Fixture::new();
    let barrier = fixture.barrier();
    let (guard, _) = Guard::open(&fixture.guard(), &barrier, 1000).unwrap();
    fill(&guard, &barrier, 0);
    drop((guard, barrier));
    let folder = fixture.folder.path();
    let vault = Vault::open(folder, &KeySource::File(folder.join("key"))).unwrap();
    let store = Embedded::open_again(&folder.join("store"), 0).unwrap();
    let store = FaultyStore::new(store);
    store.has_damaged_page.store(true, Ordering::Relaxed);
    let barrier = Barrier::new(Arc::new(store), vault);
    let (guard, _) = Guard::open(&fixture.guard(), &barrier, 1000).unwrap();
    let all = Duration::MAX / 4;
    assert!(matches!(guard.compare_for(&barrier, all), Err(GuardError::Store(StoreError::Failed { .. }))));
    guard.resume(&barrier).unwrap();
    assert!(matches!(guard.compare_for(&barrier, all), Err(GuardError::Altered)));
    assert!(
        matches!(check(&fixture.guard(), &barrier), Err(GuardError::Altered)),
        "the next start reports it"
    );
}

#[test]
fn the_stored_state_of_the_newest_group_round_trips() {
    let mark = Mark { run: [1; 16], number: 2, time: 3 };
    let plain = "010101010101010101010101010101010100000000000000020000000000000003";
    for (digest, suffix) in [
        (StoredDigest::Unknown, String::new()),
        (StoredDigest::Known(StoreDigest([7; 32])), "07".repeat(32)),
        (StoredDigest::Altered, const_hex::encode("altered")),
    ] {
        let stored = Stored { mark, digest };
        assert_eq!(const_hex::encode(stored.encode()), format!("{plain}{suffix}"));
        assert_eq!(Stored::decode(&stored.encode()), Some(stored));
    }
    assert_eq!(Stored::decode(&const_hex::decode(format!("{plain}00")).unwrap()), None);
}

#[test]
fn a_run_of_an_earlier_version_makes_the_index_incomplete() {
    let fixture = Fixture::new();
    let state = || index_state(&fixture.barrier()).unwrap();
    // Runs once. Returns whether the index was outdated at the start.
    let run = |is_earlier: bool, completes: bool| {
        let barrier = fixture.barrier();
        let before = barrier.read(INDEXED).unwrap();
        let (guard, _) = Guard::open(&fixture.guard(), &barrier, 1000).unwrap();
        let was_outdated = guard.is_index_outdated();
        group(&guard, &barrier, true);
        assert!(!guard.is_index_outdated());
        let mut writes = Vec::new();
        if completes {
            writes.push(Write::mark(layout::waiting_is_complete(barrier.vault().index()), &[]));
        }
        if is_earlier {
            // An earlier version stores its run without this record.
            let other = before.map(|value| Write::mark(INDEXED.to_vec(), &value));
            writes.push(other.unwrap_or_else(|| Write::remove(INDEXED.to_vec())));
        }
        if !writes.is_empty() {
            let writes = barrier.seal(writes).unwrap();
            commit(&guard, &barrier, vec![Batch { writes, ..Batch::default() }]);
            guard.advance(&barrier, 2000).unwrap();
        }
        // The end of a comparison stores the runs again.
        guard.compare_for(&barrier, Duration::from_secs(1000)).unwrap();
        was_outdated
    };
    assert_eq!(state(), IndexState::Incomplete);
    assert!(!run(false, true) && state() == IndexState::Current);
    assert!(!run(false, false) && state() == IndexState::Current);
    assert!(!run(true, false) && state() == IndexState::Outdated);
    assert!(run(false, false) && state() == IndexState::Incomplete, "until it is built");
    assert!(!run(false, true) && state() == IndexState::Current);
    // A start without a change is no run.
    drop(Guard::open(&fixture.guard(), &fixture.barrier(), 1000).unwrap());
    assert_eq!(state(), IndexState::Current);
    // A store of which only earlier versions stored runs.
    let other = Fixture::new();
    other.run(1);
    let barrier = other.barrier();
    let (guard, _) = Guard::open(&other.guard(), &barrier, 1000).unwrap();
    assert!(!guard.is_index_outdated());
    drop((guard, barrier));
    other.alter(Change::remove(*b"mi"));
    let (guard, _) = Guard::open(&other.guard(), &other.barrier(), 1000).unwrap();
    assert!(guard.is_index_outdated());
    // Whatever a loss was, the index is built again.
    drop(Guard::accept(&fixture.guard(), &fixture.barrier(), 1000, true).unwrap());
    assert_eq!(state(), IndexState::Incomplete);
}
