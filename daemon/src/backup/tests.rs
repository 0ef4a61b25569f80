//! Tests of the format of backups.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::io::Cursor;

use super::*;
use crate::store::embedded::Embedded;
use crate::store::{Batch, Change, Group, Store};
use crate::vault::{KeySource, Vault};

/// A store with records of many sizes, and its backup.
struct Stage {
    _folder: tempfile::TempDir,
    store: Embedded,
    vault: Vault,
    header: Header,
}

/// A checkpoint, which the format does not look into.
fn log() -> LogCheckpoint {
    let (checkpoint, verifier_key) = ("a note".to_owned(), "a key".to_owned());
    LogCheckpoint { checkpoint, verifier_key, consistency: Vec::new() }
}

impl Stage {
    fn new(records: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let vault = Vault::create(folder.path(), &KeySource::File(folder.path().join("key"))).unwrap();
        let header = Header::read(folder.path()).unwrap().unwrap();
        let store = Embedded::open(&folder.path().join("store"), 0).unwrap();
        let writes = (0..records).map(|number| {
            let length = usize::try_from(number * 37 % 5000).unwrap();
            Change::put(format!("k{number:05}"), vec![u8::try_from(number % 251).unwrap(); length])
        });
        store.commit(&Group::of(Batch { writes: writes.collect(), ..Batch::default() })).unwrap();
        Self { _folder: folder, store, vault, header }
    }

    fn backup(&self, recorder: Option<&Recorder>) -> Vec<u8> {
        let mut file = Vec::new();
        let source = Source {
            store: &self.store,
            keys: self.vault.backups(),
            header: &self.header,
            log: log(),
            recorder,
            is_served: false,
            flush: &|| Ok(()),
        };
        write(&source, &mut file).unwrap();
        file
    }

    fn entries(&self, file: &[u8]) -> Vec<Entry> {
        let checked = Checker::check(&mut Cursor::new(file)).unwrap();
        let mut from = Cursor::new(file);
        let mut reader = Reader::begin(&mut from, &checked, self.vault.backups()).unwrap();
        std::iter::from_fn(|| reader.entry().unwrap()).collect()
    }
}

#[test]
fn a_backup_has_all_records_and_the_changes() {
    let stage = Stage::new(900);
    let recorder = Recorder::default();
    let changes = [
        Entry { key: b"k00003".to_vec(), value: None },
        Entry { key: b"new".to_vec(), value: Some(vec![9; 6000]) },
        Entry { key: b"new".to_vec(), value: Some(Vec::new()) },
    ];
    recorder.add(changes[..2].to_vec());
    recorder.add(changes[2..].to_vec());
    let file = stage.backup(Some(&recorder));
    assert!(file.len() > 2 * 1024 * 1024, "several frames");
    let checked = Checker::check(&mut Cursor::new(&file)).unwrap();
    assert_eq!((checked.trailer.records, checked.trailer.changes), (900, 3));
    assert_eq!(checked.head.store_id, stage.header.store_id());
    let entries = stage.entries(&file);
    let rows = stage.store.rows(quorate_core::world::Page::first(b"", usize::MAX)).unwrap();
    let records: Vec<_> = rows.into_iter().map(|(key, value)| Entry { key, value: Some(value) }).collect();
    // The changes follow what was read before them.
    let first = entries.iter().position(|entry| *entry == changes[0]).unwrap();
    assert_eq!(first, writer::PAGE);
    assert_eq!(entries, [&records[..first], &changes, &records[first..]].concat());
    // An empty store has a backup, too.
    let empty = Stage::new(0);
    assert_eq!(empty.entries(&empty.backup(None)), []);
}

#[test]
fn every_changed_byte_and_every_cut_is_noticed() {
    let stage = Stage::new(60);
    let file = stage.backup(None);
    let check = |file: &[u8]| Checker::check(&mut Cursor::new(file)).map(drop);
    check(&file).unwrap();
    let mut random = [0; 10_000];
    getrandom::fill(&mut random).unwrap();
    // All bytes of the lines, and some of the frame.
    let head = file.iter().position(|byte| *byte == b'\n').unwrap();
    let some = random.as_chunks::<4>().0.iter().map(|four| u32::from_be_bytes(*four) as usize % file.len());
    for place in (0..head + 6).chain(file.len() - 400..file.len()).chain(some) {
        for bit in [1, 32, 128] {
            let mut changed = file.clone();
            changed[place] ^= bit;
            assert!(check(&changed).is_err(), "byte {place}, bit {bit}");
        }
        assert!(check(&file[..place]).is_err(), "cut at {place}");
    }
    assert!(check(&[&file[..], b"\n"].concat()).is_err());
    assert!(check(&[&file[..], &file[..]].concat()).is_err());
}

#[test]
fn frames_cannot_be_removed_reordered_or_taken_from_another_backup() {
    const SEALED: usize = 4 + FRAME + TAG;
    let stage = Stage::new(600);
    let (one, other) = (stage.backup(None), stage.backup(None));
    let start = |file: &[u8]| file.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let check = |file: &[u8]| Checker::check(&mut Cursor::new(file)).map(drop);
    let frame = |file: &[u8], number: usize| {
        file[start(file) + number * SEALED..start(file) + (number + 1) * SEALED].to_vec()
    };
    let (head, rest) = one.split_at(start(&one));
    let rest = &rest[2 * SEALED..];
    let (first, second) = (frame(&one, 0), frame(&one, 1));
    check(&[head, &first, &second, rest].concat()).unwrap();
    for frames in [
        [&first[..], &[]].concat(),
        [&second[..], &first[..]].concat(),
        [&first[..], &first[..], &second[..]].concat(),
        [first.clone(), frame(&other, 1)].concat(),
    ] {
        assert!(check(&[head, &frames, rest].concat()).is_err());
    }
}

#[test]
fn only_the_keys_of_the_store_decrypt_its_backups() {
    let (stage, other) = (Stage::new(5), Stage::new(5));
    let file = stage.backup(None);
    let checked = Checker::check(&mut Cursor::new(&file)).unwrap();
    let begin = |vault: &Vault| Reader::begin(&mut Cursor::new(&file), &checked, vault.backups()).map(drop);
    begin(&stage.vault).unwrap();
    assert!(matches!(begin(&other.vault), Err(BackupError::OtherStore)));
    // Nothing of the contents is readable without them.
    assert!(!file.windows(6).any(|window| window == b"k00001"));
}

#[test]
fn changes_that_are_unknown_or_too_many_end_a_backup() {
    let stage = Stage::new(5);
    let backup = |recorder: &Recorder| {
        let source = Source {
            store: &stage.store,
            keys: stage.vault.backups(),
            header: &stage.header,
            log: log(),
            recorder: Some(recorder),
            is_served: false,
            flush: &|| Ok(()),
        };
        write(&source, &mut Vec::new())
    };
    let recorder = Recorder::default();
    recorder.interrupt();
    assert!(matches!(backup(&recorder), Err(BackupError::Interrupted)));
    let recorder = Recorder::default();
    for _ in 0..7 {
        let entry = |number: u32| Entry { key: number.to_be_bytes().to_vec(), value: Some(vec![0; 5000]) };
        recorder.add((0..1000).map(entry).collect());
    }
    assert!(matches!(backup(&recorder), Err(BackupError::TooSlow)));
}
