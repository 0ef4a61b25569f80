//! Tests of the upgrade with a store in the format of version 0.1.
#![allow(clippy::unwrap_used, reason = "tests")]

use quorate_common::activity::Status;
use quorate_common::ids::OrganizationId;
use quorate_core::model::organization::Head;
use quorate_core::model::record::Record;
use quorate_core::model::{ActivityRecord, RecordDigest};

use super::*;
use crate::service::{self, Data};
use crate::vault::KeySource;

/// Maximum length of a part of a record in version 0.1, in bytes.
const OLD_PART: usize = 48 * 1024;

fn data(folder: &Path) -> Data {
    Data { reserve: 0, ..Data::in_folder(folder.to_owned(), KeySource::File(folder.join("root.key")), true) }
}

fn key(letter: u8, number: u32) -> Vec<u8> {
    [&[letter], number.to_be_bytes().as_slice()].concat()
}

fn record(number: u32) -> Vec<u8> {
    vec![u8::try_from(number % 251).unwrap(); usize::try_from(number).unwrap() * 7000]
}

/// Seals and splits a record as version 0.1 did.
fn old_rows(vault: &Vault, key: &[u8], record: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let seal = |key: &[u8], plain: &[u8], mark: u8| {
        let mut nonce = [0; 12];
        getrandom::fill(&mut nonce).unwrap();
        let mut sealed = vault.seal().seal(nonce, key, plain).unwrap();
        sealed.push(mark);
        (key.to_vec(), sealed)
    };
    if record.len() <= OLD_PART {
        return vec![seal(key, record, 1)];
    }
    let generation = [9; 8];
    let parts = (0_u32..).zip(record.chunks(OLD_PART)).map(|(number, part)| {
        let part_key = [b"~", key, &generation, number.to_be_bytes().as_slice()].concat();
        seal(&part_key, part, 1)
    });
    let mut rows: Vec<_> = parts.collect();
    let count = u32::try_from(rows.len()).unwrap();
    rows.push(seal(key, &[generation.as_slice(), &count.to_be_bytes()].concat(), 2));
    rows
}

/// Creates a store of version 0.1 with files that sled never syncs.
fn old_store(folder: &Path) {
    let vault = Vault::create(folder, &KeySource::File(folder.join("root.key"))).unwrap();
    let db = sled::Config::new().path(folder.join("store")).flush_every_ms(None).open().unwrap();
    for number in 0..40 {
        for (key, value) in old_rows(&vault, &key(b'a', number), &record(number)) {
            db.insert(key, value).unwrap();
        }
    }
    // A register whose last byte is the same as that of a split record.
    db.insert(key(b'v', 1), &2_u64.to_be_bytes()).unwrap();
    db.flush().unwrap();
    drop(db);
    assert!(has_files(&folder.join("store/blobs")));
}

fn has_files(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().next().is_some()
}

/// Opens the store. Retries while threads of sled still hold its lock.
fn opened(data: &Data) -> Barrier {
    loop {
        match service::open_store(data) {
            Err(service::StartError::Store(StoreError::InUse(_))) => std::thread::yield_now(),
            barrier => return barrier.unwrap(),
        }
    }
}

fn assert_complete(barrier: &Barrier) {
    for number in 0..40 {
        assert_eq!(barrier.read(&key(b'a', number)).unwrap(), Some(record(number)), "{number}");
    }
    assert_eq!(barrier.store().register(&key(b'v', 1)).unwrap(), 2);
    let rows = barrier.store().rows(Page::first(b"", 100_000)).unwrap();
    assert!(rows.iter().all(|(_, value)| value.len() <= LONGEST_VALUE));
}

#[test]
fn a_store_of_version_0_1_is_rewritten_completely() {
    let folder = tempfile::tempdir().unwrap();
    old_store(folder.path());
    let data = data(folder.path());
    assert_complete(&opened(&data));
    assert!(!has_files(&folder.path().join("store/blobs")));
    // A rewritten store is not rewritten again.
    assert_complete(&opened(&data));
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| name != "store.old" && name != "store.new"), "{left:?}");
}

#[test]
fn an_interrupted_replacement_is_completed() {
    let folder = tempfile::tempdir().unwrap();
    old_store(folder.path());
    let (data, store) = (data(folder.path()), folder.path().join("store"));
    // After the first of the two renames.
    fs::rename(&store, beside(&store, "old")).unwrap();
    fs::create_dir(beside(&store, "new")).unwrap();
    assert_complete(&opened(&data));
    // After both, before the old store was removed.
    fs::create_dir(beside(&store, "old")).unwrap();
    assert_complete(&opened(&data));
    assert!(!beside(&store, "old").exists() && !beside(&store, "new").exists());
}

/// Stores an organization as version 0.1 did, with an activity that waits for votes. Returns the record keys
/// of its head, of the activity and of its index entry.
fn old_organization(barrier: &Barrier) -> (OrganizationId, [Vec<u8>; 3]) {
    let head = include_str!("../../../assets/vectors/records/1/organization.json");
    let head = Head::decode(&[b"\x01", head.as_bytes()].concat()).unwrap();
    let (id, head_key) = (head.id, layout::organization(head.id));
    let record = include_str!("../../../assets/vectors/records/1/activity.json");
    let record = ActivityRecord::decode(&[b"\x01", record.as_bytes()].concat()).unwrap();
    let record = ActivityRecord { organization: id, status: Status::ConsensusNeeded, ..record };
    let activity = layout::activity(id, record.id);
    let entry = layout::activity_listed(id, record.status, record.number, record.id);
    let writes = vec![
        Write::put(head_key.clone(), &head).unwrap(),
        Write::put(activity.clone(), &record).unwrap(),
        Write::mark(entry.clone(), &[]),
    ];
    let batch = Batch { writes: barrier.seal(writes).unwrap(), ..Batch::default() };
    barrier.store().commit(&Group::of(batch)).unwrap();
    (id, [head_key, activity, entry])
}

#[test]
fn heads_of_version_0_1_are_sealed_with_digests() {
    let folder = tempfile::tempdir().unwrap();
    let data = data(folder.path());
    let (id, [head, activity, entry]) = old_organization(&opened(&data));
    let barrier = opened(&data);
    let contents = || Head::decode(&barrier.read(&head).unwrap().unwrap()).unwrap().contents;
    let digest = RecordDigest::of(&barrier.read(&activity).unwrap().unwrap());
    assert_eq!(barrier.read(&entry).unwrap().unwrap(), digest.as_bytes());
    let sealed = contents().unwrap();
    assert_eq!(records::organization(&barrier, id).unwrap().unwrap().head.contents, Some(sealed));
    // A sealed head is not sealed again, whatever records there are.
    let change = barrier.seal(vec![Write::remove(entry)]).unwrap();
    barrier.store().commit(&Group::of(Batch { writes: change, ..Batch::default() })).unwrap();
    seal_contents(&barrier).unwrap();
    assert_eq!(contents(), Some(sealed));
    assert!(records::organization(&barrier, id).is_err_and(|error| error == Corrupt::Altered(id)));
}
