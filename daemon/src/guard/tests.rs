//! Tests of the guard on real stores.
#![allow(clippy::unwrap_used, reason = "tests")]
use std::fs;
use std::sync::atomic::Ordering;

use quorate_core::world::Page;

use super::file::{SECTOR, SLOT};
use super::*;
use crate::digest::StoreDigest;
use crate::store::embedded::Embedded;
use crate::store::testing::FaultyStore;
use crate::vault::{KeySource, Vault};

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Vault::create(folder.path(), &KeySource::File(folder.path().join("key"))).unwrap();
        Self { folder }
    }

    fn guard(&self) -> PathBuf {
        self.folder.path().join("guard")
    }

    /// Opens the store: threads of sled hold its lock a little longer.
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

    /// Serves so many groups.
    fn run(&self, groups: u32) {
        let barrier = self.barrier();
        let (guard, _) = Guard::open(&self.guard(), &barrier, 1000).unwrap();
        (0..groups).for_each(|_| group(&guard, &barrier, true));
    }

    /// Copies store and, if wanted, guard to another folder, or back.
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

    fn put_back(&self, name: &str) {
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
fn what_was_served_can_be_served_again() {
    let place = Place::new();
    for groups in [0, 3, 1] {
        place.run(groups);
        place.check().unwrap();
    }
}

#[test]
fn a_guard_file_that_goes_while_the_daemon_runs_is_missed_and_made_anew() {
    let away: [fn(&Path); 3] = [
        |file| fs::remove_file(file).unwrap(),
        |file| fs::rename(file, file.with_extension("away")).unwrap(),
        |file| {
            fs::copy(file, file.with_extension("older")).unwrap();
            fs::rename(file.with_extension("older"), file).unwrap();
        },
    ];
    for away in away {
        let place = Place::new();
        let barrier = place.barrier();
        let (guard, _) = Guard::open(&place.guard(), &barrier, 1000).unwrap();
        group(&guard, &barrier, true);
        away(&place.guard());
        // What only keeps the time leaves the failure to the next group.
        guard.keep_time(&barrier, 3000).unwrap();
        while !guard.syncer.has_failed() {
            std::thread::yield_now();
        }
        guard.keep_time(&barrier, 4000).unwrap();
        group(&guard, &barrier, false);
        let failure = guard.advance(&barrier, 2000).unwrap_err().to_string();
        assert!(failure.ends_with("it was removed or replaced"), "{failure}");
        guard.resume(&barrier).unwrap();
        group(&guard, &barrier, true);
        drop((guard, barrier));
        place.check().unwrap();
    }
}

#[test]
fn a_group_that_was_not_acknowledged_may_be_there_or_not() {
    let place = Place::new();
    place.run(2);
    place.save("before");
    let barrier = place.barrier();
    let (guard, _) = Guard::open(&place.guard(), &barrier, 1000).unwrap();
    group(&guard, &barrier, false);
    drop((guard, barrier));
    place.check().unwrap();
    place.run(1);
}

#[test]
fn a_store_that_lost_its_end_is_told_with_how_much() {
    let place = Place::new();
    place.run(2);
    let barrier = place.barrier();
    let (guard, _) = Guard::open(&place.guard(), &barrier, 1000).unwrap();
    drop(barrier.store().value(b"a"));
    group(&guard, &barrier, true);
    drop((guard, barrier));
    place.save("earlier");
    let barrier = place.barrier();
    let (guard, _) = Guard::open(&place.guard(), &barrier, 1000).unwrap();
    (0..5).for_each(|_| group(&guard, &barrier, true));
    drop((guard, barrier));
    place.put_back("earlier");
    // The start of the run is a group as well.
    assert!(matches!(place.check(), Err(GuardError::Lost { found: Some(_), .. })));
    assert!(matches!(
        Guard::open(&place.guard(), &place.barrier(), 1000),
        Err(GuardError::Lost { found: Some(_), .. })
    ));
    drop(Guard::accept(&place.guard(), &place.barrier(), 1000, false).unwrap());
    place.check().unwrap();
    place.run(1);
}

#[test]
fn a_copy_that_went_on_elsewhere_is_another_store() {
    let place = Place::new();
    place.run(3);
    place.save("copy");
    let kept = fs::read(place.guard()).unwrap();
    place.run(3);
    let seen = fs::read(place.guard()).unwrap();
    place.put_back("copy");
    fs::write(place.guard(), kept).unwrap();
    place.run(30);
    fs::write(place.guard(), seen).unwrap();
    assert!(matches!(place.check(), Err(GuardError::Other(_))));
}

#[test]
fn a_missing_or_damaged_guard_is_told() {
    let place = Place::new();
    place.run(3);
    let kept = fs::read(place.guard()).unwrap();
    fs::remove_file(place.guard()).unwrap();
    assert!(matches!(place.check(), Err(GuardError::Missing(_))));
    // Every bit of both slots: one of them is enough, and without both nothing is believed.
    let sector = usize::try_from(SECTOR).unwrap();
    for byte in (0..SLOT).step_by(7) {
        let mut one = kept.clone();
        *one.get_mut(byte).unwrap() ^= 1;
        fs::write(place.guard(), &one).unwrap();
        place.check().unwrap();
        *one.get_mut(sector + byte).unwrap() ^= 1;
        fs::write(place.guard(), &one).unwrap();
        assert!(matches!(place.check(), Err(GuardError::Damaged(_))), "{byte}");
    }
    fs::write(place.guard(), b"").unwrap();
    assert!(matches!(place.check(), Err(GuardError::Damaged(_))));
    fs::write(place.guard(), kept).unwrap();
    place.check().unwrap();
}

#[test]
fn a_guard_file_behind_a_symbolic_link_stays_there() {
    let (place, other) = (Place::new(), tempfile::tempdir().unwrap());
    let real = other.path().join("real");
    std::os::unix::fs::symlink(&real, place.guard()).unwrap();
    for groups in [2, 1] {
        place.run(groups);
        place.check().unwrap();
        assert!(fs::symlink_metadata(place.guard()).unwrap().is_symlink() && real.is_file());
    }
    fs::remove_file(&real).unwrap();
    assert!(matches!(place.check(), Err(GuardError::Missing(_))));
}

#[test]
fn a_first_start_that_was_interrupted_can_be_repeated() {
    let place = Place::new();
    place.run(1);
    let first = fs::read(place.guard()).unwrap();
    // Killed before the store took its first group: the guard file is there, the store is empty.
    fs::remove_dir_all(place.folder.path().join("store")).unwrap();
    fs::remove_file(place.guard()).unwrap();
    let barrier = place.barrier();
    file::create(&place.guard(), &barrier, Mark { run: [1; 16], number: 0, time: 5 }).unwrap();
    drop(barrier);
    place.run(1);
    // An empty store under a guard that has seen groups is a loss.
    fs::remove_dir_all(place.folder.path().join("store")).unwrap();
    fs::write(place.guard(), first).unwrap();
    assert!(matches!(place.check(), Err(GuardError::Lost { found: None, .. })));
}

#[test]
fn a_start_writes_to_the_store_with_its_first_group() {
    let place = Place::new();
    for _ in 0..2 {
        let barrier = place.barrier();
        let before = barrier.store().rows(Page::first(b"", 100)).unwrap();
        let (guard, _) = Guard::open(&place.guard(), &barrier, 1000).unwrap();
        guard.keep_time(&barrier, 3000).unwrap();
        assert_eq!(barrier.store().rows(Page::first(b"", 100)).unwrap(), before);
        drop((guard, barrier));
        place.check().unwrap();
        place.run(2);
        assert_eq!(newest_time(&place.guard(), &place.barrier()).unwrap(), 3000);
    }
}

#[test]
fn the_first_group_of_a_run_that_failed_may_be_there_or_not() {
    for is_there in [false, true] {
        let place = Place::new();
        place.run(1);
        let barrier = place.barrier();
        let (guard, _) = Guard::open(&place.guard(), &barrier, 1000).unwrap();
        if is_there {
            group(&guard, &barrier, false);
        }
        guard.resume(&barrier).unwrap();
        place.check_open(&barrier).unwrap();
        group(&guard, &barrier, true);
        drop((guard, barrier));
        place.run(1);
    }
}

#[test]
fn the_newest_time_survives() {
    let place = Place::new();
    let barrier = place.barrier();
    let (guard, newest) = Guard::open(&place.guard(), &barrier, 5000).unwrap();
    assert_eq!(newest, 0);
    guard.keep_time(&barrier, 9000).unwrap();
    drop((guard, barrier));
    let barrier = place.barrier();
    assert_eq!(newest_time(&place.guard(), &barrier).unwrap(), 9000);
    drop(Guard::open(&place.guard(), &barrier, 100).unwrap());
    assert_eq!(newest_time(&place.guard(), &barrier).unwrap(), 9000);
    drop(Guard::accept_clock(&place.guard(), &barrier, 100).unwrap());
    assert_eq!(newest_time(&place.guard(), &barrier).unwrap(), 100);
}

/// Rows of several parts of a comparison, with a register and a long record among them.
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

impl Place {
    /// Opens the guard, and compares all records with their digest.
    fn compare(&self) -> Result<(), GuardError> {
        let barrier = self.barrier();
        let (guard, _) = Guard::open(&self.guard(), &barrier, 1000)?;
        guard.compare_for(&barrier, Duration::MAX / 4)
    }

    /// Changes one row without the daemon.
    fn alter(&self, change: Change) {
        let batch = Batch { writes: vec![change], ..Batch::default() };
        self.barrier().store().commit(&Group::of(batch)).unwrap();
    }
}

#[test]
fn records_are_compared_while_they_change() {
    let place = Place::new();
    // With no digest yet, with one, and with changes before, behind and in the middle of what was compared.
    for round in 0..3 {
        let barrier = place.barrier();
        let (guard, _) = Guard::open(&place.guard(), &barrier, 1000).unwrap();
        let mut steps = 0;
        while guard.is_comparing() {
            guard.compare(&barrier).unwrap();
            fill(&guard, &barrier, steps % 5);
            steps += 1;
        }
        assert!(steps >= 3 || round == 0, "{steps} steps");
        drop((guard, barrier));
        place.compare().unwrap();
        compare(&place.barrier()).unwrap();
    }
}

#[test]
fn each_record_that_was_altered_is_noticed_and_stays_noticed() {
    let place = Place::new();
    let barrier = place.barrier();
    let (guard, _) = Guard::open(&place.guard(), &barrier, 1000).unwrap();
    fill(&guard, &barrier, 0);
    let old = barrier.store().rows(Page::first(b"", 1000)).unwrap();
    fill(&guard, &barrier, 1);
    drop((guard, barrier));
    place.compare().unwrap();
    let rows = place.barrier().store().rows(Page::first(b"", 1000)).unwrap();
    let now = |key: &[u8]| rows.iter().find(|row| row.0 == key).map(|row| row.1.clone());
    place.save("whole");
    let guarded = fs::read(place.guard()).unwrap();
    let put_back = old.into_iter().filter(|(key, value)| now(key).as_ref() != Some(value));
    let put_back = put_back.map(|(key, value)| Change::put(key, value));
    let removed = rows.iter().map(|(key, _)| Change::remove(key.as_slice()));
    let added = [Change::put(*b"zz", [1; 40]), Change::put(*b"v9", 1_u64.to_be_bytes())];
    let of_mark = |change: &Change| change.key == MARK;
    let changes: Vec<Change> =
        put_back.chain(removed).chain(added).filter(|change| !of_mark(change)).collect();
    assert!(changes.len() > 200, "{}", changes.len());
    for change in changes.into_iter().step_by(17) {
        let what = format!("{:?}", change.key);
        place.put_back("whole");
        fs::write(place.guard(), &guarded).unwrap();
        place.alter(change);
        assert!(matches!(compare(&place.barrier()), Err(GuardError::Altered)), "{what}");
        assert!(matches!(place.compare(), Err(GuardError::Altered)), "{what}");
        // The next start knows it at once.
        assert!(matches!(place.check(), Err(GuardError::Altered)), "{what}");
        drop(Guard::accept(&place.guard(), &place.barrier(), 1000, false).unwrap());
        place.compare().unwrap();
        compare(&place.barrier()).unwrap();
    }
}

#[test]
fn the_mark_of_a_group_put_back_alone_is_a_loss() {
    let place = Place::new();
    place.run(2);
    let mark = place.barrier().store().value(MARK).unwrap().unwrap();
    place.run(2);
    place.alter(Change::put(MARK, mark));
    assert!(matches!(place.check(), Err(GuardError::Lost { .. })));
}

#[test]
fn a_mark_without_a_digest_put_back_is_a_loss() {
    let place = Place::new();
    place.run(2);
    place.compare().unwrap();
    drop(Guard::accept(&place.guard(), &place.barrier(), 1000, false).unwrap());
    let barrier = place.barrier();
    let (guard, _) = Guard::open(&place.guard(), &barrier, 1000).unwrap();
    let unknown = barrier.store().value(MARK).unwrap().unwrap();
    guard.compare_for(&barrier, Duration::MAX / 4).unwrap();
    drop((guard, barrier));
    place.alter(Change::put(MARK, unknown));
    assert!(matches!(place.check(), Err(GuardError::Lost { missing: 1, .. })));
}

#[test]
fn an_altered_backup_is_told_whatever_its_guard_says() {
    let place = Place::new();
    place.run(2);
    place.compare().unwrap();
    place.save("backup");
    place.run(2);
    place.put_back("backup");
    // What a backup lacks at its end is accepted with the digest that it has.
    compare(&place.barrier()).unwrap();
    drop(Guard::accept(&place.guard(), &place.barrier(), 1000, true).unwrap());
    place.alter(Change::remove(*b"a"));
    let report = crate::verify::verify(&place.barrier()).unwrap();
    assert_eq!(report.problems, [GuardError::Altered.to_string()]);
    assert!(matches!(compare(&place.barrier()), Err(GuardError::Altered)));
    assert!(matches!(place.compare(), Err(GuardError::Altered)));
}

#[test]
fn a_store_whose_mark_is_damaged_can_be_accepted() {
    for key in [MARK, RUNS] {
        let place = Place::new();
        place.run(3);
        place.compare().unwrap();
        place.alter(Change::put(key, [7; 40]));
        assert!(matches!(place.check(), Err(GuardError::Corrupt(_))));
        drop(Guard::accept(&place.guard(), &place.barrier(), 1000, false).unwrap());
        place.compare().unwrap();
        place.run(1);
        place.check().unwrap();
    }
}

#[test]
fn a_record_that_cannot_be_read_after_reopening_ends_all_changes() {
    let place = Place::new();
    let barrier = place.barrier();
    let (guard, _) = Guard::open(&place.guard(), &barrier, 1000).unwrap();
    fill(&guard, &barrier, 0);
    drop((guard, barrier));
    let folder = place.folder.path();
    let vault = Vault::open(folder, &KeySource::File(folder.join("key"))).unwrap();
    let store = Embedded::open_again(&folder.join("store"), 0).unwrap();
    let store = FaultyStore::new(store);
    store.has_damaged_page.store(true, Ordering::Relaxed);
    let barrier = Barrier::new(Arc::new(store), vault);
    let (guard, _) = Guard::open(&place.guard(), &barrier, 1000).unwrap();
    let all = Duration::MAX / 4;
    assert!(matches!(guard.compare_for(&barrier, all), Err(GuardError::Store(StoreError::Failed { .. }))));
    guard.resume(&barrier).unwrap();
    assert!(matches!(guard.compare_for(&barrier, all), Err(GuardError::Altered)));
    assert!(matches!(check(&place.guard(), &barrier), Err(GuardError::Altered)), "the next start knows");
}

#[test]
fn what_the_store_holds_of_its_newest_group_is_read_as_it_was_written() {
    let mark = Mark { run: [1; 16], number: 2, time: 3 };
    let plain = "010101010101010101010101010101010100000000000000020000000000000003";
    for (digest, behind) in [
        (StoredDigest::Unknown, String::new()),
        (StoredDigest::Known(StoreDigest([7; 32])), "07".repeat(32)),
        (StoredDigest::Altered, const_hex::encode("altered")),
    ] {
        let stored = Stored { mark, digest };
        assert_eq!(const_hex::encode(stored.encode()), format!("{plain}{behind}"));
        assert_eq!(Stored::decode(&stored.encode()), Some(stored));
    }
    assert_eq!(Stored::decode(&const_hex::decode(format!("{plain}00")).unwrap()), None);
}
