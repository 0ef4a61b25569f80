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

    fn known(epoch: u32, committed: u64) -> Known<'static> {
        Known { daemon: &[], epoch, committed }
    }

    /// Opens the journal of a store with this newest committed frame. Also returns the number that the store has then.
    fn open(&self, committed: u64) -> Result<(Journal, u64), JournalError> {
        let (journal, begin) = Journal::open(&self.path(), &self.barrier, Self::known(0, committed), 5)?;
        Ok((journal, begin.unwrap_or(committed)))
    }

    /// Opens it as the store does, which records the number at once.
    fn begin(&self, committed: u64) -> (Journal, u64) {
        let (mut journal, committed) = self.open(committed).unwrap();
        journal.resume(&self.barrier, committed).unwrap();
        (journal, committed)
    }

    fn add(&self, journal: &mut Journal, time: Millis) -> u64 {
        let number = new_number().unwrap();
        journal.add(&self.barrier, number, time, &[&change(b"value")]).unwrap();
        number
    }

    /// Returns the times of the frames that count, and the gaps.
    fn times(&self) -> (Vec<Millis>, Vec<(Millis, Millis)>) {
        let all = Reader::open(&self.path()).unwrap().all(self.barrier.vault().journal()).unwrap();
        let History { committed, gaps, .. } = History::of(&all);
        (committed.iter().map(|at| all[*at].time).collect(), gaps)
    }
}

fn change(value: &[u8]) -> OrganizationChange {
    let key = [b"v".as_slice(), &[7; 16]].concat();
    let writes =
        vec![Write::of(b"o1".to_vec(), Some(Zeroizing::new(value.to_vec()))), Write::remove(b"o2".to_vec())];
    let step = Step { register: key, from: 1, to: 2, head: Some([8; 32]), after: None };
    OrganizationChange { steps: vec![step], writes, entries: vec![[9; 32]] }
}

#[test]
fn a_frame_is_read_as_it_was_written() {
    let change = change(b"value");
    let frame = Frame {
        number: 300,
        previous: 2,
        time: 1_780_000_000_000,
        changes: vec![FrameChange::of(&change, &Heads::default())],
    };
    let encoded = frame.encode().unwrap();
    // This version stores it so.
    let expected = concat!(
        "01", // version
        "ac02",
        "02",
        "80909282e733",
        "01", // number, previous, time, number of changes
        "01",
        "1176",
        "07070707070707070707070707070707",
        "01",
        "02", // register, versions before and after
        "01",
        "0808080808080808080808080808080808080808080808080808080808080808", // head before
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
    let (mut journal, _) = stage.begin(0);
    stage.add(&mut journal, 10);
    journal.committed(&stage.barrier);
    // The store rejects the group, and the daemon goes on.
    stage.add(&mut journal, 20);
    journal.abandon(&stage.barrier);
    let third = stage.add(&mut journal, 30);
    journal.committed(&stage.barrier);
    // The group is tried again, and then decided otherwise.
    let number = new_number().unwrap();
    for time in [40, 41] {
        journal.add(&stage.barrier, number, time, &[&change(b"again")]).unwrap();
    }
    journal.committed(&stage.barrier);
    stage.add(&mut journal, 42);
    journal.forget_attempt();
    journal.committed(&stage.barrier);
    assert_eq!(stage.times().0, [10, 30, 41, 42], "unknown without the store");
    journal.resume(&stage.barrier, number).unwrap();
    assert_eq!(stage.times(), (vec![10, 30, 41], vec![]));
    // The daemon is killed after the frame and before the commit.
    stage.add(&mut journal, 50);
    drop(journal);
    let (mut journal, known) = stage.begin(number);
    assert_eq!((known, stage.times().0), (number, vec![10, 30, 41]));
    let last = stage.add(&mut journal, 60);
    drop(journal);
    // It is killed after the commit.
    let (mut journal, known) = stage.begin(last);
    assert!(matches!(stage.open(last), Err(JournalError::InUse(_))));
    assert_eq!((known, stage.times()), (last, (vec![10, 30, 41, 60], vec![])));
    let newest = stage.add(&mut journal, 70);
    journal.committed(&stage.barrier);
    drop(journal);
    // A store that is older, by one change or by several.
    for older in [last, third, 0] {
        assert!(matches!(stage.open(older), Err(JournalError::Ahead(_))), "{older}");
        let known = Stage::known(0, older);
        assert!(Journal::check_all_committed(&stage.path(), &stage.barrier, known).is_err());
    }
    assert!(stage.open(newest).is_ok());
    Journal::void_after(&stage.path(), &stage.barrier, third).unwrap();
    assert_eq!(stage.times().0, [10, 30]);
    let (mut journal, _) = stage.begin(third);
    stage.add(&mut journal, 80);
    assert_eq!(stage.times().0, [10, 30, 80]);
}

#[test]
fn what_is_missing_is_known() {
    let stage = Stage::new();
    let (mut journal, _) = stage.begin(0);
    stage.add(&mut journal, 10);
    journal.committed(&stage.barrier);
    // Killed before the commit, and then without a journal: the store has another number.
    stage.add(&mut journal, 20);
    drop(journal);
    let (mut journal, _) = stage.begin(new_number().unwrap());
    stage.add(&mut journal, 30);
    journal.committed(&stage.barrier);
    let (times, gaps) = stage.times();
    assert_eq!((times, gaps.len()), (vec![10, 20, 30], 1), "whether the second one was committed is unknown");
    let all = Reader::open(&stage.path()).unwrap().all(stage.barrier.vault().journal()).unwrap();
    let history = History::of(&all);
    assert_eq!(history.uncertain.iter().map(|at| all[*at].time).collect::<Vec<_>>(), [20]);
}

#[test]
fn a_changed_journal_is_never_read_as_another_one() {
    let stage = Stage::new();
    let (mut journal, _) = stage.begin(0);
    let mut numbers = Vec::new();
    for time in [10, 20, 30] {
        numbers.push(stage.add(&mut journal, time));
        journal.committed(&stage.barrier);
    }
    drop(journal);
    let bytes = fs::read(stage.path()).unwrap();
    let key = stage.barrier.vault().journal();
    let read = |bytes: &[u8]| {
        fs::write(stage.path(), bytes).unwrap();
        let mut reader = Reader::open(&stage.path())?;
        let all = reader.all(key)?;
        Ok::<_, JournalError>((History::of(&all).committed.len(), reader.is_whole()))
    };
    assert_eq!(read(&bytes).unwrap(), (3, true));
    let confirmation = bytes.len() - 60;
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        // Only a last frame that cannot be decrypted may be what a power cut has left.
        let found = read(&changed);
        let is_rejected = matches!(found, Err(JournalError::Damaged(..) | JournalError::Format(_)));
        let is_cut = matches!(found, Ok((3, false))) && at >= confirmation;
        assert!(is_rejected || is_cut, "byte {at}: {found:?}");
        if let Ok((frames, _)) = read(&bytes[..at]) {
            assert!(frames < 3 || at >= confirmation, "truncated at {at}");
        }
        let zeros = [&bytes[..at], &vec![0; bytes.len() - at]].concat();
        match read(&zeros) {
            Ok((frames, _)) => assert!(frames <= 3),
            Err(error) => assert!(matches!(error, JournalError::Damaged(..)), "zeros from {at}: {error}"),
        }
    }
    // The daemon does not continue a journal whose acknowledged end cannot be read.
    let third = bytes.len() - 120;
    fs::write(stage.path(), &bytes[..third]).unwrap();
    assert!(matches!(stage.open(numbers[2]), Err(JournalError::Damaged(..))));
    // It does if only an unacknowledged frame is cut off, and writes over it.
    let (mut journal, _) = stage.begin(numbers[1]);
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
    let later = |epoch| Journal::open(&stage.path(), &stage.barrier, Stage::known(epoch, 1), 5).map(drop);
    let first = fs::read(stage.path()).unwrap();
    later(7).unwrap();
    assert_eq!(fs::read(stage.path().with_file_name("journal.0")).unwrap(), first);
    assert!(matches!(stage.open(1), Err(JournalError::Later { .. })));
    let other_daemon = Known { daemon: &[3; 16], epoch: 7, committed: 1 };
    let opened = Journal::open(&stage.path(), &stage.barrier, other_daemon, 5);
    assert!(matches!(opened, Err(JournalError::OtherDaemon(_))));
    // A link leads to the file, which is kept under its own name.
    let elsewhere = stage.folder.path().join("elsewhere");
    fs::rename(stage.path(), &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, stage.path()).unwrap();
    let second = fs::read(&elsewhere).unwrap();
    later(8).unwrap();
    assert_eq!(fs::read(stage.folder.path().join("elsewhere.7")).unwrap(), second);
    assert!(stage.path().is_symlink() && fs::read(&elsewhere).unwrap() != second);
    fs::remove_file(stage.path()).unwrap();
    // It was killed after the link, and before the new file had its name.
    fs::remove_file(stage.path().with_file_name("journal.0")).unwrap();
    fs::write(stage.path(), &first).unwrap();
    fs::hard_link(stage.path(), stage.path().with_file_name("journal.0")).unwrap();
    later(7).unwrap();
    // Another file with that name is never replaced.
    let kept = stage.path().with_file_name("journal.0");
    fs::write(&kept, "another one").unwrap();
    fs::write(stage.path(), &first).unwrap();
    later(8).unwrap();
    assert_eq!(fs::read(&kept).unwrap(), b"another one");
    assert_eq!(fs::read(stage.path().with_file_name("journal.0-2")).unwrap(), first);
}
