//! Tests of the embedded store with real files.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
use std::fs;

use super::super::engine::{begin, is_unused};
use super::super::{Batch, LONGEST_VALUE, ReadRecord, contract};
use super::*;

/// Opens a store that this process had open. Retries while threads of sled still hold its lock.
fn reopened(folder: &Path) -> Result<Embedded, StoreError> {
    loop {
        match Embedded::open(folder, 0) {
            Err(StoreError::InUse(_)) => std::thread::yield_now(),
            other => return other,
        }
    }
}

fn put(rows: &[(&[u8], &[u8])]) -> Group<'static> {
    let writes = rows.iter().map(|(key, value)| Change::put(*key, *value)).collect();
    Group::of(Batch { writes, ..Batch::default() })
}

/// Accepts a store in which `k` has this value.
struct Accepts(Option<&'static [u8]>);

impl Acceptance for Accepts {
    fn check(&self, read: ReadRecord<'_>) -> Result<(), StoreError> {
        let value = read(b"k")?;
        let other = || StoreError::Failed { doing: "testing", cause: format!("{value:?}") };
        if value.as_deref() == self.0 { Ok(()) } else { Err(other()) }
    }
}

#[test]
fn fulfils_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    contract::check(&|| Box::new(reopened(folder.path()).unwrap()));
}

#[test]
fn a_second_process_gets_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let _first = Embedded::open(folder.path(), 0).unwrap();
    assert!(matches!(Embedded::open(folder.path(), 0), Err(StoreError::InUse(_))));
}

#[test]
fn a_damaged_store_is_an_error_and_does_not_panic() {
    let folder = tempfile::tempdir().unwrap();
    drop(Embedded::open(folder.path(), 0).unwrap());
    fs::write(folder.path().join("conf"), [b'x'; 100]).unwrap();
    assert!(matches!(reopened(folder.path()), Err(StoreError::Damaged(_))));
}

#[test]
fn a_store_can_be_read_without_its_damaged_snapshot() {
    let data = tempfile::tempdir().unwrap();
    let folder = data.path().join("store");
    for number in 0..3_u8 {
        let store = reopened(&folder).unwrap();
        store.commit(&put(&[(&[b'k', number], &[number; 1000])])).unwrap();
    }
    drop(reopened(&folder).unwrap());
    let names = |start: &str| -> Vec<PathBuf> {
        let paths = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        paths.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with(start)).collect()
    };
    let snapshots = names("snap.");
    assert!(!snapshots.is_empty());
    for snapshot in &snapshots {
        fs::write(snapshot, [7; 20]).unwrap();
    }
    assert!(matches!(reopened(&folder), Err(StoreError::Damaged(_))));
    let store = Embedded::open_guarded(&folder, 0).unwrap();
    assert_eq!(store.keys(Page::first(b"k", 9)).unwrap().len(), 3);
    assert_eq!(names("damaged.snap.").len(), snapshots.len());
    store.commit(&put(&[(b"l", b"v")])).unwrap();
    drop(store);
    assert_eq!(reopened(&folder).unwrap().value(b"l").unwrap().as_deref(), Some(&b"v"[..]));
}

#[test]
fn an_interrupted_creation_can_be_repeated() {
    let data = tempfile::tempdir().unwrap();
    let (folder, scratch) = (data.path().join("store"), data.path().join("store/conf.new"));
    fs::create_dir_all(&scratch).unwrap();
    fs::write(scratch.join("conf"), b"segment_size: 524288\nversion: 0.34\n").unwrap();
    drop(Embedded::open(&folder, 0).unwrap());
    assert!(folder.join("conf").exists() && !scratch.exists());
}

#[test]
fn a_store_is_unused_until_something_may_be_stored() {
    let data = tempfile::tempdir().unwrap();
    let folder = data.path().join("store");
    assert!(is_unused(&folder).unwrap());
    drop(Embedded::create(&folder, 0).unwrap());
    assert!(is_unused(&folder).unwrap(), "the creation was interrupted");
    // An interrupted creation may leave a store that cannot be opened.
    fs::write(folder.join("conf"), [b'x'; 100]).unwrap();
    let _store = loop {
        match Embedded::create(&folder, 0) {
            Err(StoreError::InUse(_)) => std::thread::yield_now(),
            created => break created.unwrap(),
        }
    };
    begin(&folder).unwrap();
    assert!(!is_unused(&folder).unwrap());
}

#[test]
fn an_interrupted_snapshot_does_not_prevent_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let store = Embedded::open(folder.path(), 0).unwrap();
    store.commit(&put(&[(b"k", b"v")])).unwrap();
    drop(store);
    fs::write(folder.path().join("snap.FFFFFFFFFFFFFFFF.generating"), b"half").unwrap();
    let store = reopened(folder.path()).unwrap();
    assert_eq!(store.value(b"k").unwrap().as_deref(), Some(b"v".as_slice()));
}

#[test]
fn readers_see_the_state_before_a_group_until_it_is_durable() {
    let folder = tempfile::tempdir().unwrap();
    let store = Embedded::open(folder.path(), 0).unwrap();
    store.commit(&put(&[(b"b", b"old"), (b"d", b"old"), (b"f", b"old")])).unwrap();
    let read = |order, after, limit| {
        let page = Page { prefix: b"", after, order, limit };
        let rows = store.rows(page).unwrap();
        rows.into_iter().map(|(key, value)| [key, value].concat()).collect::<Vec<_>>()
    };
    let before = read(Direction::Ascending, None, 9);
    // The state while a group is synced that adds `a` and `c`, replaces `b`, and removes `f`.
    let hidden = [(b"a", None), (b"b", Some("old")), (b"c", None), (b"f", Some("old"))];
    store.write().before =
        hidden.iter().map(|(key, value)| (sled::IVec::from(*key), value.map(sled::IVec::from))).collect();
    {
        let db = store.read().db.as_ref().unwrap().db();
        db.insert(b"a", b"new").unwrap();
        db.insert(b"b", b"new").unwrap();
        db.insert(b"c", b"new").unwrap();
        db.remove(b"f").unwrap();
    }
    assert_eq!(read(Direction::Ascending, None, 9), before);
    assert_eq!(read(Direction::Ascending, None, 2), before[..2]);
    assert_eq!(read(Direction::Ascending, Some(b"b"), 9), before[1..]);
    let reversed: Vec<_> = before.iter().rev().cloned().collect();
    assert_eq!(read(Direction::Descending, None, 9), reversed);
    assert_eq!(read(Direction::Descending, Some(b"f"), 1), reversed[1..2]);
    assert_eq!((store.value(b"a").unwrap(), store.value(b"f").unwrap()), (None, Some(b"old".to_vec())));
    store.write().before.clear();
    assert_eq!(read(Direction::Ascending, None, 9), [&b"\x61new"[..], b"bnew", b"cnew", b"dold"]);
}

#[test]
fn a_failed_group_is_hidden_until_the_store_is_reopened() {
    let folder = tempfile::tempdir().unwrap();
    let store = Embedded::open(folder.path(), 0).unwrap();
    let first = Batch { set: vec![(b"r".to_vec(), 1)], ..Batch::default() };
    store.commit(&Group::of(first)).unwrap();
    let stray = folder.path().join("blobs/7");
    fs::write(&stray, b"a large node, as sled stores it").unwrap();
    let second =
        Batch { set: vec![(b"r".to_vec(), 2)], writes: vec![Change::put(*b"k", *b"v")], ..Batch::default() };
    assert!(matches!(store.commit(&Group::of(second)), Err(StoreError::Failed { .. })));
    assert_eq!((store.register(b"r").unwrap(), store.value(b"k").unwrap()), (1, None));
    assert!(matches!(store.commit(&put(&[(b"x", b"y")])), Err(StoreError::Unavailable)));
    assert!(matches!(store.confirm(&[(b"r".to_vec(), 1)]), Err(StoreError::Unavailable)));
    assert!(store.confirm(&[(b"other".to_vec(), 0)]).unwrap());
    fs::remove_file(stray).unwrap();
    // A store that is not accepted stays unavailable: nothing of it is read.
    assert!(matches!(store.recover(&Accepts(None)), Err(StoreError::Failed { .. })));
    assert!(matches!(store.value(b"other"), Err(StoreError::Unavailable)));
    assert!(matches!(store.ready(), Err(StoreError::Unavailable)));
    store.recover(&Accepts(Some(b"v"))).unwrap();
    // After reopening, the data on disk decides; here, the whole group is on disk.
    assert_eq!((store.register(b"r").unwrap(), store.value(b"k").unwrap()), (2, Some(b"v".to_vec())));
    assert!(store.confirm(&[(b"r".to_vec(), 2)]).unwrap());
    store.commit(&put(&[(b"x", b"y")])).unwrap();
}

#[test]
fn a_nearly_full_disk_rejects_groups_and_still_reads() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Embedded::open(folder.path(), 0).unwrap();
    store.commit(&put(&[(b"k", b"v")])).unwrap();
    store.space = Space::new(folder.path(), u64::MAX / 2);
    assert!(matches!(store.commit(&put(&[(b"k", b"w")])), Err(StoreError::Full { .. })));
    assert_eq!(store.value(b"k").unwrap().as_deref(), Some(b"v".as_slice()));
    store.space = Space::new(folder.path(), 0);
    store.commit(&put(&[(b"k", b"w")])).unwrap();
    assert_eq!(store.value(b"k").unwrap().as_deref(), Some(b"w".as_slice()));
}

#[test]
fn values_of_the_maximum_length_are_never_stored_in_separate_files() {
    let folder = tempfile::tempdir().unwrap();
    let store = Embedded::open(folder.path(), 0).unwrap();
    let value = vec![7; LONGEST_VALUE];
    let key = |number: u32| [&[b'~'; 120][..], &(number.wrapping_mul(2_654_435_761)).to_be_bytes()].concat();
    for group in 0..24_u32 {
        // Insert groups and remove most of them, so that sled splits and merges its nodes.
        let changes = (group * 64..(group + 1) * 64).map(|number| Change::put(key(number), value.clone()));
        store.commit(&Group::of(Batch { writes: changes.collect(), ..Batch::default() })).unwrap();
        let removed = (group * 64..(group + 1) * 64).filter(|number| number % 3 != 0);
        let removed = removed.map(|number| Change::remove(key(number)));
        store.commit(&Group::of(Batch { writes: removed.collect(), ..Batch::default() })).unwrap();
    }
    assert!(!has_blobs(folder.path()));
    let long =
        Group::of(Batch { writes: vec![Change::put(*b"k", vec![7; LONGEST_VALUE + 1])], ..Batch::default() });
    assert!(matches!(store.commit(&long), Err(StoreError::Failed { .. })));
    assert_eq!(store.value(b"k").unwrap(), None);
    store.commit(&put(&[(b"k", b"short")])).unwrap();
}
