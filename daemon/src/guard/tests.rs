//! Tests of the guard on real stores.
#![allow(clippy::unwrap_used, reason = "tests")]
use std::fs;

use super::*;
use crate::store::embedded::Embedded;
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
        check(&self.guard(), &self.barrier())
    }
}

fn group(guard: &Guard, barrier: &Barrier, acknowledged: bool) {
    let writes = barrier.seal(vec![Write::mark(b"a".to_vec(), b"v")]).unwrap();
    let batch = Batch { writes, ..Batch::default() };
    let trailer = guard.trailer(barrier, 2000).unwrap();
    barrier.store().commit(&Group { batches: vec![batch], trailer }).unwrap();
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
    drop(Guard::accept(&place.guard(), &place.barrier(), 1000).unwrap());
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
fn a_first_start_that_was_interrupted_can_be_repeated() {
    let place = Place::new();
    let barrier = place.barrier();
    let (guard, _) = Guard::open(&place.guard(), &barrier, 1000).unwrap();
    drop((guard, barrier));
    let first = fs::read(place.guard()).unwrap();
    // Killed before the store took its first group: the guard file is there, the store is empty.
    fs::remove_dir_all(place.folder.path().join("store")).unwrap();
    fs::remove_file(place.guard()).unwrap();
    let barrier = place.barrier();
    create_file(&place.guard(), &barrier, Mark { run: [1; 16], number: 0, time: 5 }).unwrap();
    drop(barrier);
    place.run(1);
    // An empty store under a guard that has seen groups is a loss.
    fs::remove_dir_all(place.folder.path().join("store")).unwrap();
    fs::write(place.guard(), first).unwrap();
    assert!(matches!(place.check(), Err(GuardError::Lost { found: None, .. })));
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
