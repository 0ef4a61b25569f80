//! Power cuts at every moment, also a second one while the file is repaired: the database runs on a disk that is
//! recorded. After a cut, synced writes are present. Of the later ones any subset is, the last ones perhaps in part.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::io::{Error, ErrorKind, Result};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use ::redb::{Builder, StorageBackend};
use quorate_core::world::Page;

use super::super::{Batch, BatchOutcome};
use super::file::opened;
use super::*;

/// Unit that a disk writes atomically, in bytes.
const SECTOR: usize = 512;
/// Number of records that each group changes.
const RECORDS_PER_GROUP: u64 = 6;
/// Number of different records.
const RECORDS_IN_ALL: u64 = 60;

/// A random choice, the same in each run (xorshift64*, Vigna 2016).
struct Choices(u64);

impl Choices {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from(self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33).unwrap() % end
    }
}

#[derive(Debug, Clone)]
enum Event {
    Write(usize, Vec<u8>),
    Length(usize),
    Sync,
    /// The group with this number was acknowledged.
    Acknowledged(u64),
}

/// A disk and what was done to it.
#[derive(Debug, Default)]
struct Tape {
    base: Vec<u8>,
    now: Vec<u8>,
    events: Vec<Event>,
}

fn apply(bytes: &mut [u8], offset: usize, data: &[u8]) {
    let end = (offset + data.len()).min(bytes.len());
    if let Some(part) = bytes.get_mut(offset..end) {
        part.copy_from_slice(&data[..end - offset]);
    }
}

impl Tape {
    /// Returns what a power cut after this number of events may leave, and the newest group acknowledged before it.
    fn cut(&self, events: usize, choices: &mut Choices) -> (Vec<u8>, u64) {
        let (mut bytes, mut newest) = (self.base.clone(), 0);
        let synced =
            self.events[..events].iter().rposition(|event| matches!(event, Event::Sync)).unwrap_or(0);
        // The lengths of a file are durable in their order, because they are in the journal.
        let lengths = choices.below(3);
        for (number, event) in self.events[..events].iter().enumerate() {
            let is_synced = number < synced;
            match event {
                Event::Length(length) if is_synced || lengths > 0 => bytes.resize(*length, 0),
                Event::Write(offset, data) if is_synced => apply(&mut bytes, *offset, data),
                Event::Write(offset, data) => {
                    let kept = match choices.below(4) {
                        0 => 0,
                        1 => (choices.below(data.len() / SECTOR + 1) * SECTOR).min(data.len()),
                        _ => data.len(),
                    };
                    apply(&mut bytes, *offset, &data[..kept]);
                }
                Event::Acknowledged(group) => newest = *group,
                Event::Length(_) | Event::Sync => {}
            }
        }
        (bytes, newest)
    }
}

/// A disk that records what is done to it, and fails on demand.
#[derive(Debug, Clone, Default)]
struct Recorded {
    tape: Arc<Mutex<Tape>>,
    /// The sync that fails, counted down to zero.
    failing_sync: Arc<AtomicU64>,
    /// Number of reports of repairs that read the whole file.
    repairs: Arc<AtomicU64>,
}

impl Recorded {
    fn of(bytes: Vec<u8>) -> Self {
        let tape = Tape { base: bytes.clone(), now: bytes, events: Vec::new() };
        Self { tape: Arc::new(Mutex::new(tape)), ..Self::default() }
    }

    fn tape(&self) -> MutexGuard<'_, Tape> {
        self.tape.lock().unwrap()
    }
}

impl StorageBackend for Recorded {
    fn len(&self) -> Result<u64> {
        Ok(self.tape().now.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        let offset = usize::try_from(offset).unwrap();
        let tape = self.tape();
        let bytes = tape.now.get(offset..offset + out.len());
        out.copy_from_slice(bytes.ok_or_else(|| Error::from(ErrorKind::UnexpectedEof))?);
        Ok(())
    }

    fn set_len(&self, length: u64) -> Result<()> {
        let length = usize::try_from(length).unwrap();
        let mut tape = self.tape();
        tape.now.resize(length, 0);
        tape.events.push(Event::Length(length));
        Ok(())
    }

    fn sync_data(&self) -> Result<()> {
        let left = self.failing_sync.load(Ordering::SeqCst);
        if left > 0 && self.failing_sync.fetch_sub(1, Ordering::SeqCst) == 1 {
            return Err(Error::from_raw_os_error(libc::EIO));
        }
        self.tape().events.push(Event::Sync);
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<()> {
        let offset = usize::try_from(offset).unwrap();
        let mut tape = self.tape();
        apply(&mut tape.now, offset, data);
        tape.events.push(Event::Write(offset, data.to_vec()));
        Ok(())
    }
}

fn store_on(disk: &Recorded, folder: &Path, mode: CommitMode) -> Redb {
    let mut builder = Builder::new();
    builder.set_cache_size(1 << 20);
    let repairs = Arc::clone(&disk.repairs);
    builder.set_repair_callback(move |_| {
        repairs.fetch_add(1, Ordering::SeqCst);
    });
    let db = builder.create_with_backend(disk.clone()).unwrap();
    let Ok(opened) = opened(db, Existence::Optional) else { unreachable!("a database that opens") };
    Redb::of(opened, folder, Space::new(folder, 0), mode)
}

/// Returns the key of a record and its value after this group; `None` if the group removes it.
fn changes(group: u64) -> impl Iterator<Item = (Vec<u8>, Option<Vec<u8>>)> {
    (0..RECORDS_PER_GROUP).map(move |part| {
        let record = (group * 7 + part * 11) % RECORDS_IN_ALL;
        let length = usize::try_from((group * 131 + part * 997) % 5000).unwrap();
        let value = (!(group + part).is_multiple_of(5)).then(|| vec![group.to_be_bytes()[7]; length]);
        (record.to_be_bytes().to_vec(), value)
    })
}

fn group_of(number: u64) -> Group<'static> {
    let writes = changes(number).map(|(key, value)| Change { key, value, fresh: false }).collect();
    let last = (b"last".to_vec(), number);
    let expect = vec![(b"last".to_vec(), number - 1)];
    Group::of(Batch { writes, expect, set: vec![last], ..Batch::default() })
}

/// Returns the rows after this number of groups.
fn rows_after(groups: u64) -> Vec<Row> {
    let mut rows = std::collections::BTreeMap::new();
    for (key, value) in (1..=groups).flat_map(changes) {
        match value {
            Some(value) => rows.insert(key, value),
            None => rows.remove(&key),
        };
    }
    if groups > 0 {
        rows.insert(b"last".to_vec(), groups.to_be_bytes().to_vec());
    }
    rows.into_iter().collect()
}

/// Checks that the store has all acknowledged groups, perhaps the next one, and nothing in part.
fn check(store: &Redb, acknowledged: u64) -> u64 {
    let last = store.register(b"last").unwrap();
    assert!((acknowledged..=acknowledged + 1).contains(&last), "{acknowledged} acknowledged, {last} found");
    assert_eq!(store.rows(Page::first(b"", 1000)).unwrap(), rows_after(last));
    last
}

/// Cuts the power at random moments of a run, then during the repair, and then during the repair of that.
fn cut_everywhere(mode: CommitMode, seed: u64, cuts: usize) {
    let folder = tempfile::tempdir().unwrap();
    let mut choices = Choices(seed);
    let disk = Recorded::of(Vec::new());
    drop(store_on(&disk, folder.path(), mode));
    let disk = Recorded::of(disk.tape().now.clone());
    let store = store_on(&disk, folder.path(), mode);
    for number in 1..=40 {
        assert_eq!(store.commit(&group_of(number)).unwrap(), [BatchOutcome::Done]);
        disk.tape().events.push(Event::Acknowledged(number));
    }
    let events = disk.tape().events.len();
    let mut repaired = 0;
    for _ in 0..cuts {
        let at = choices.below(events + 1);
        let (mut image, newest) = disk.tape().cut(at, &mut choices);
        let mut least = newest;
        for _ in 0..3 {
            let again = Recorded::of(image);
            let reopened = store_on(&again, folder.path(), mode);
            least = check(&reopened, least).min(newest + 1);
            // What was read must survive the next cut, even in the middle of the repair.
            let of_repair = again.tape().events.len();
            repaired += usize::from(of_repair > 0);
            drop(reopened);
            let moments = again.tape().events.len();
            let at = choices.below(moments + 1);
            image = again.tape().cut(at, &mut choices).0;
            if at < of_repair {
                // Nobody has read anything before the repair ended.
                least = newest;
            }
        }
        check(&store_on(&Recorded::of(image), folder.path(), mode), least);
    }
    assert!(repaired > 0, "no cut needs a repair");
    // The next groups continue where the store is.
    store.commit(&group_of(41)).unwrap();
}

#[test]
fn acknowledged_groups_survive_cuts_and_cuts_of_repairs() {
    for (mode, seed) in CommitMode::ALL.into_iter().zip(1..) {
        cut_everywhere(mode, seed, 150);
    }
}

#[test]
fn a_failed_sync_is_an_error_and_shows_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for mode in CommitMode::ALL {
        for sync in 1..=1 + u64::from(mode != CommitMode::OnePhase) {
            let disk = Recorded::of(Vec::new());
            let store = store_on(&disk, folder.path(), mode);
            store.commit(&group_of(1)).unwrap();
            disk.failing_sync.store(sync, Ordering::SeqCst);
            assert!(matches!(store.commit(&group_of(2)), Err(StoreError::Failed { .. })));
            assert_eq!(store.register(b"last").unwrap(), 1);
            assert_eq!(store.rows(Page::first(b"", 1000)).unwrap(), rows_after(1));
            assert!(matches!(store.commit(&group_of(2)), Err(StoreError::Unavailable)));
            assert!(matches!(store.ready(), Err(StoreError::Unavailable)));
            assert!(matches!(store.confirm(&[(b"last".to_vec(), 1)]), Err(StoreError::Unavailable)));
            assert!(store.confirm(&[(b"other".to_vec(), 0)]).unwrap());
            // The disk has all of the group or nothing, also after the failed database was closed.
            drop(store);
            let image = disk.tape().now.clone();
            check(&store_on(&Recorded::of(image), folder.path(), mode), 1);
            let all = disk.tape().events.len();
            let (image, _) = disk.tape().cut(all, &mut Choices(sync));
            check(&store_on(&Recorded::of(image), folder.path(), mode), 1);
        }
    }
}

#[test]
fn after_a_kill_only_a_quick_repair_does_not_read_the_whole_file() {
    let folder = tempfile::tempdir().unwrap();
    for mode in CommitMode::ALL {
        let disk = Recorded::of(Vec::new());
        let store = store_on(&disk, folder.path(), mode);
        for number in 1..=20 {
            store.commit(&group_of(number)).unwrap();
        }
        let killed = Recorded::of(disk.tape().now.clone());
        let again = store_on(&killed, folder.path(), mode);
        assert_eq!(killed.repairs.load(Ordering::SeqCst) == 0, mode == CommitMode::QuickRepair, "{mode:?}");
        assert_eq!(again.rows(Page::first(b"", 1000)).unwrap(), rows_after(20));
    }
}

#[test]
fn a_group_writes_no_more_than_is_reserved_for_it() {
    for mode in CommitMode::ALL {
        let closest = closest_to_the_bound(mode);
        assert!(
            closest > 20 || mode != CommitMode::TwoPhase,
            "the bound is too wide: at most {closest} % are used"
        );
    }
}

/// Commits groups of many shapes, and returns how much of its bound a group used at most, in percent.
fn closest_to_the_bound(mode: CommitMode) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let disk = Recorded::of(Vec::new());
    let store = store_on(&disk, folder.path(), mode);
    let (mut number, mut closest) = (0_u32, 0);
    for (count, length) in
        [(1, 40), (10, 900), (300, 40), (1, 5000), (40, 900), (400, 5000), (2, 1), (1, 900)]
    {
        for _ in 0..20 {
            let changes = (0..count).map(|_| {
                number += 1;
                Change::put(number.wrapping_mul(2_654_435_761).to_be_bytes(), vec![7; length])
            });
            let writes: Vec<Change> = changes.collect();
            let bytes = writes.len() * (length + 4);
            // The bound depends on the size of the file.
            let file = std::fs::File::create(folder.path().join(FILE)).unwrap();
            file.set_len(disk.tape().now.len() as u64).unwrap();
            let most = store.most_written(bytes as u64, count);
            disk.tape().events.clear();
            store.commit(&Group::of(Batch { writes, ..Batch::default() })).unwrap();
            let length_of = |event: &Event| match event {
                Event::Write(_, data) => data.len() as u64,
                _ => 0,
            };
            let written: u64 = disk.tape().events.iter().map(length_of).sum();
            assert!(
                written <= most,
                "{mode:?}: {written} bytes instead of {most} for {count} records of {length} bytes"
            );
            closest = closest.max(written * 100 / most);
        }
    }
    closest
}
