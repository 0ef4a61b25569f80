//! Tests of the store in a file of redb, with real files.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
use std::fs;

use super::super::engine::{begin, is_unused};
use super::super::{Batch, LONGEST_VALUE, ReadRecord, contract};
use super::*;

fn put(rows: &[(&[u8], &[u8])]) -> Group<'static> {
    let writes = rows.iter().map(|(key, value)| Change::put(*key, *value)).collect();
    Group::of(Batch { writes, ..Batch::default() })
}

fn created(folder: &Path) -> Redb {
    Redb::create(folder, 0, CommitMode::default()).unwrap()
}

#[test]
fn fulfils_the_contract() {
    for mode in CommitMode::ALL {
        let folder = tempfile::tempdir().unwrap();
        contract::check(&|| Box::new(Redb::create(folder.path(), 0, mode).unwrap()));
    }
}

#[test]
fn a_second_process_gets_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let _first = created(folder.path());
    assert!(matches!(Redb::open(folder.path(), 0, CommitMode::default()), Err(StoreError::InUse(_))));
    assert!(matches!(Redb::create(folder.path(), 0, CommitMode::default()), Err(StoreError::InUse(_))));
}

#[test]
fn only_the_owner_can_read_the_file() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    drop(created(folder.path()));
    assert_eq!(fs::metadata(folder.path().join(FILE)).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_file_that_is_no_store_is_an_error_and_is_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    assert!(matches!(Redb::open(folder.path(), 0, CommitMode::default()), Err(StoreError::Empty(_))));
    assert!(!path.exists());
    let store = created(folder.path());
    store.commit(&put(&[(b"k", b"v")])).unwrap();
    drop(store);
    begin(folder.path()).unwrap();
    let intact = fs::read(&path).unwrap();
    let version = |version: u8| {
        let mut bytes = intact.clone();
        // The versions of both commit slots (`docs/design.md` of redb).
        (bytes[64], bytes[192]) = (version, version);
        bytes
    };
    for bytes in [Vec::new(), vec![0; 4096], vec![b'x'; 10_000], intact[..5000].to_vec()] {
        fs::write(&path, &bytes).unwrap();
        let opened = Redb::open(folder.path(), 0, CommitMode::default());
        assert!(matches!(opened, Err(StoreError::Damaged(_))), "{} bytes", bytes.len());
        // A store in which something may be stored is never created again.
        if !bytes.is_empty() {
            assert!(matches!(
                Redb::create(folder.path(), 0, CommitMode::default()),
                Err(StoreError::Damaged(_))
            ));
        }
    }
    fs::write(&path, version(2)).unwrap();
    assert!(matches!(
        Redb::open(folder.path(), 0, CommitMode::default()),
        Err(StoreError::Version { version: 2, .. })
    ));
    fs::write(&path, &intact).unwrap();
    let store = Redb::open(folder.path(), 0, CommitMode::default()).unwrap();
    assert_eq!(store.value(b"k").unwrap().as_deref(), Some(b"v".as_slice()));
}

#[test]
fn a_store_is_unused_until_something_may_be_stored() {
    let data = tempfile::tempdir().unwrap();
    let folder = data.path().join("store");
    assert!(is_unused(&folder).unwrap());
    drop(created(&folder));
    assert!(is_unused(&folder).unwrap(), "the creation was interrupted");
    // An interrupted creation may leave a store that cannot be opened.
    fs::write(folder.join(FILE), [b'x'; 100]).unwrap();
    let _store = created(&folder);
    begin(&folder).unwrap();
    assert!(!is_unused(&folder).unwrap());
}

#[test]
fn a_nearly_full_disk_rejects_groups_and_still_reads() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = created(folder.path());
    store.commit(&put(&[(b"k", b"v")])).unwrap();
    store.space = Space::new(folder.path(), u64::MAX / 2);
    assert!(matches!(store.commit(&put(&[(b"k", b"w")])), Err(StoreError::Full { .. })));
    assert!(matches!(store.ready(), Err(StoreError::Full { .. })));
    assert_eq!(store.value(b"k").unwrap().as_deref(), Some(b"v".as_slice()));
    store.space = Space::new(folder.path(), 0);
    store.commit(&put(&[(b"k", b"w")])).unwrap();
    assert_eq!(store.value(b"k").unwrap().as_deref(), Some(b"w".as_slice()));
}

#[test]
fn long_values_are_rejected_as_by_other_engines() {
    let folder = tempfile::tempdir().unwrap();
    let store = created(folder.path());
    let long = vec![7; LONGEST_VALUE + 1];
    assert!(matches!(store.commit(&put(&[(b"k", &long)])), Err(StoreError::Failed { .. })));
    assert_eq!(store.value(b"k").unwrap(), None);
    store.commit(&put(&[(b"k", b"short")])).unwrap();
}

/// Accepts every store.
struct AcceptsAll;

impl Acceptance for AcceptsAll {
    fn check(&self, _: ReadRecord<'_>) -> Result<(), StoreError> {
        Ok(())
    }
}

#[test]
fn a_closed_store_stays_closed() {
    let folder = tempfile::tempdir().unwrap();
    let store = created(folder.path());
    store.commit(&put(&[(b"k", b"v")])).unwrap();
    store.close();
    assert!(matches!(store.value(b"k"), Err(StoreError::Unavailable)));
    assert!(matches!(store.commit(&put(&[(b"k", b"w")])), Err(StoreError::Unavailable)));
    assert!(matches!(store.recover(&AcceptsAll), Err(StoreError::Unavailable)));
    // The file is free for the next process.
    let again = Redb::open(folder.path(), 0, CommitMode::default()).unwrap();
    assert_eq!(again.value(b"k").unwrap().as_deref(), Some(b"v".as_slice()));
}

#[test]
fn a_store_is_opened_again_after_a_failure_and_only_if_it_is_accepted() {
    struct Rejects;
    impl Acceptance for Rejects {
        fn check(&self, read: ReadRecord<'_>) -> Result<(), StoreError> {
            assert_eq!(read(b"k")?.as_deref(), Some(b"v".as_slice()));
            Err(StoreError::Failed { doing: "testing", cause: "not accepted".to_owned() })
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let store = created(folder.path());
    store.commit(&put(&[(b"k", b"v")])).unwrap();
    store.stop();
    assert!(matches!(store.commit(&put(&[(b"k", b"w")])), Err(StoreError::Unavailable)));
    assert!(matches!(store.recover(&Rejects), Err(StoreError::Failed { .. })));
    assert!(matches!(store.value(b"k"), Err(StoreError::Unavailable)));
    assert!(matches!(store.ready(), Err(StoreError::Unavailable)));
    assert!(matches!(store.confirm(&[]), Err(StoreError::Unavailable)));
    store.recover(&AcceptsAll).unwrap();
    store.commit(&put(&[(b"k", b"w")])).unwrap();
    assert_eq!(store.value(b"k").unwrap().as_deref(), Some(b"w".as_slice()));
}
