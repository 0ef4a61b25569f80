//! Tests of the journal: what counts after failures and kills, and that a changed file is never read as another one.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use quorate_core::model::write::Write;
use zeroize::Zeroizing;

use super::*;
use crate::barrier::Barrier;
use crate::store::embedded::Embedded;
use crate::vault::{KeySource, Vault};

struct Stage {
    folder: tempfile::TempDir,
    barrier: Barrier,
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let vault = Vault::create(folder.path(), &KeySource::File(folder.path().join("key"))).unwrap();
        let store = Arc::new(Embedded::open(&folder.path().join("store"), 0).unwrap());
        Self { barrier: Barrier::new(store, vault), folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("journal")
    }

    fn open(&self, committed: u64) -> Result<Journal, JournalError> {
        Journal::open(&self.path(), &self.barrier, (0, committed), 5)
    }

    fn add(&self, journal: &mut Journal, time: Millis) {
        let number = journal.next();
        journal.add(&self.barrier, number, time, &[&change(b"value")]).unwrap();
    }

    /// Returns the times of the frames that count, and the gaps.
    fn times(&self) -> (Vec<Millis>, Vec<(Millis, Millis)>) {
        let key = self.barrier.vault().journal();
        let Survey { committed, gaps, .. } = Reader::open(&self.path()).unwrap().survey(key).unwrap();
        let mut reader = Reader::open(&self.path()).unwrap();
        let mut times = Vec::new();
        while let Some(plain) = reader.frame(key).unwrap() {
            if committed.contains(&(reader.position() - 1)) {
                times.push(Frame::decode(&plain).unwrap().time);
            }
        }
        (times, gaps)
    }
}

fn change(value: &[u8]) -> OrganizationChange {
    let key = [b"v".as_slice(), &[7; 16]].concat();
    let writes =
        vec![Write::of(b"o1".to_vec(), Some(Zeroizing::new(value.to_vec()))), Write::remove(b"o2".to_vec())];
    OrganizationChange { expect: vec![(key.clone(), 1)], set: vec![(key, 2)], writes, entries: vec![[9; 32]] }
}

#[test]
fn a_frame_is_read_as_it_was_written() {
    let change = change(b"value");
    let frame = Frame { number: 300, previous: 2, time: 1_780_000_000_000, changes: vec![(&change).into()] };
    let encoded = frame.encode().unwrap();
    // This version stores it so.
    let expected = concat!(
        "01",
        "ac02",
        "02",
        "80909282e733",
        "01", // version, number, previous, time, number of changes
        "01",
        "1176",
        "07070707070707070707070707070707",
        "01", // versions before
        "01",
        "1176",
        "07070707070707070707070707070707",
        "02", // versions after
        "02",
        "026f31",
        "01",
        "0576616c7565",
        "026f32",
        "00", // records
        "01",
        "0909090909090909090909090909090909090909090909090909090909090909", // entries of the activity log
    );
    assert_eq!(const_hex::encode(&*encoded), expected);
    assert_eq!(Frame::decode(&encoded).unwrap(), frame);
    for length in 0..encoded.len() {
        assert!(Frame::decode(&encoded[..length]).is_err(), "{length}");
    }
    assert!(Frame::decode(&[&encoded[..], b"x"].concat()).is_err());
}

#[test]
fn what_was_not_committed_does_not_count() {
    let stage = Stage::new();
    let mut journal = stage.open(0).unwrap();
    stage.add(&mut journal, 10);
    journal.committed();
    // The store rejects the group, and the daemon goes on.
    stage.add(&mut journal, 20);
    journal.abandon(&stage.barrier);
    stage.add(&mut journal, 30);
    journal.committed();
    // The group is tried again on the same connection.
    let number = journal.next();
    for time in [40, 41] {
        journal.add(&stage.barrier, number, time, &[&change(b"again")]).unwrap();
    }
    journal.committed();
    assert_eq!(stage.times(), (vec![10, 30, 41], vec![]));
    // The daemon is killed after the frame and before the commit.
    stage.add(&mut journal, 50);
    drop(journal);
    assert_eq!(stage.times().0, [10, 30, 41, 50], "unknown without the store");
    let mut journal = stage.open(number).unwrap();
    assert_eq!(stage.times().0, [10, 30, 41]);
    stage.add(&mut journal, 60);
    let committed = journal.next() - 1;
    drop(journal);
    // It is killed after the commit.
    let journal = stage.open(committed).unwrap();
    assert!(matches!(stage.open(committed), Err(JournalError::InUse(_))));
    drop(journal);
    assert_eq!(stage.times(), (vec![10, 30, 41, 60], vec![]));
    // A change without a journal raises the register only.
    let mut journal = stage.open(committed + 1).unwrap();
    stage.add(&mut journal, 70);
    let newest = journal.next() - 1;
    drop(journal);
    assert_eq!(stage.times(), (vec![10, 30, 41, 60, 70], vec![(60, 70)]));
    // A store that is older than the last but one.
    assert!(matches!(stage.open(1), Err(JournalError::Ahead(_))));
    Journal::void_after(&stage.path(), &stage.barrier, 1).unwrap();
    assert_eq!(stage.times().0, [10]);
    let mut journal = stage.open(1).unwrap();
    stage.add(&mut journal, 80);
    assert!(journal.next() > newest);
    assert_eq!(stage.times().0, [10, 80]);
}

#[test]
fn a_changed_journal_is_never_read_as_another_one() {
    let stage = Stage::new();
    let mut journal = stage.open(0).unwrap();
    for time in [10, 20, 30] {
        stage.add(&mut journal, time);
        journal.committed();
    }
    drop(journal);
    let bytes = fs::read(stage.path()).unwrap();
    let key = stage.barrier.vault().journal();
    let read = |bytes: &[u8]| {
        fs::write(stage.path(), bytes).unwrap();
        let mut reader = Reader::open(&stage.path())?;
        let survey = reader.survey(key)?;
        Ok::<_, JournalError>((survey.committed.len(), reader.is_whole()))
    };
    assert_eq!(read(&bytes).unwrap(), (3, true));
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        // Bits that change a length may hide what follows, as the end of the file does.
        if let Ok((frames, is_whole)) = read(&changed) {
            assert!(frames < 3 && !is_whole, "byte {at}");
        }
        if let Ok((frames, is_whole)) = read(&bytes[..at]) {
            assert!(frames < 3, "truncated at {at}");
            assert!(is_whole || frames < 3);
        }
    }
    // The daemon does not continue a journal whose acknowledged end cannot be read.
    fs::write(stage.path(), &bytes[..bytes.len() - 1]).unwrap();
    assert!(matches!(stage.open(3), Err(JournalError::Damaged(..))));
    // It does if only an unacknowledged frame is cut off, and writes over it.
    let mut journal = stage.open(2).unwrap();
    stage.add(&mut journal, 40);
    drop(journal);
    assert_eq!(stage.times().0, [10, 20, 40]);
}

#[test]
fn a_journal_belongs_to_a_store_and_an_epoch() {
    let (stage, other) = (Stage::new(), Stage::new());
    assert!(matches!(stage.open(1), Err(JournalError::Missing(_))));
    fs::write(stage.path(), "").unwrap();
    drop(stage.open(1).unwrap());
    fs::copy(stage.path(), other.path()).unwrap();
    assert!(matches!(other.open(0), Err(JournalError::OtherStore(_))));
    let later = |epoch| Journal::open(&stage.path(), &stage.barrier, (epoch, 1), 5).map(drop);
    let first = fs::read(stage.path()).unwrap();
    later(7).unwrap();
    assert_eq!(fs::read(stage.path().with_file_name("journal.0")).unwrap(), first);
    assert!(matches!(stage.open(1), Err(JournalError::Later { .. })));
    // It was killed after the link, and before the new file had its name.
    fs::remove_file(stage.path().with_file_name("journal.0")).unwrap();
    fs::write(stage.path(), &first).unwrap();
    fs::hard_link(stage.path(), stage.path().with_file_name("journal.0")).unwrap();
    later(7).unwrap();
    // Another file with that name is never replaced.
    fs::write(stage.path(), &first).unwrap();
    assert!(matches!(later(8), Err(JournalError::System { .. })));
    assert_eq!(fs::read(stage.path()).unwrap(), first);
}
