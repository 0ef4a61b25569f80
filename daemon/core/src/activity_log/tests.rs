//! Tests of the stored tree against published roots, and against a computation that follows the definition of RFC 6962.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use quorate_common::activity_log::{Checkpoint, origin};
use sha2::{Digest, Sha256};

use super::*;
use crate::model::layout::Key;
use crate::world::Page;

/// Records in memory, and the times at which entries were added.
#[derive(Default)]
struct Stored(BTreeMap<Key, Vec<u8>>);

impl Records for Stored {
    fn read(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Corrupt> {
        Ok(self.0.get(key).cloned())
    }

    fn page(&self, _: Page<'_>) -> Result<Vec<(Key, Vec<u8>)>, Corrupt> {
        Ok(Vec::new())
    }

    fn keys(&self, _: Page<'_>) -> Result<Vec<Key>, Corrupt> {
        Ok(Vec::new())
    }
}

impl Stored {
    fn append(&mut self, entries: &[LogHash], now: Millis) {
        let mut log = Log::read(self).unwrap();
        let writes = log.append(entries, now).unwrap();
        self.0.extend(writes.into_iter().map(|write| (write.key, write.value.unwrap().to_vec())));
    }

    fn root(&self) -> LogHash {
        let log = Log::read(self).unwrap();
        tree_hash(log.size(), &log).unwrap().0
    }

    fn checkpoint(&self) -> Checkpoint {
        let size = Log::read(self).unwrap().size();
        Checkpoint { origin: origin("5f5f"), size, root: self.root(), time: 0, epoch: 0 }
    }
}

/// The root of a tree as RFC 6962 §2.1 defines it.
fn root(leaves: &[LogHash]) -> LogHash {
    let [_, _, ..] = leaves else { return leaves[0] };
    let (left, right) = leaves.split_at(leaves.len().next_power_of_two() / 2);
    Sha256::new().chain_update([1]).chain_update(root(left)).chain_update(root(right)).finalize().into()
}

fn leaf(data: &[u8]) -> LogHash {
    Sha256::new().chain_update([0]).chain_update(data).finalize().into()
}

#[test]
fn the_tree_has_the_published_roots() {
    // The test vectors of the reference implementation of Certificate Transparency.
    let vectors = [
        ("", "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"),
        ("00", "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"),
        ("10", "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77"),
        ("2021", "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"),
        ("3031", "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4"),
        ("40414243", "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef"),
        ("5051525354555657", "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c"),
        (
            "606162636465666768696a6b6c6d6e6f",
            "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
        ),
    ];
    let mut stored = Stored::default();
    for (data, root) in vectors {
        stored.append(&[leaf(&const_hex::decode(data).unwrap())], 0);
        assert_eq!(const_hex::encode(stored.root()), root);
    }
}

#[test]
fn every_entry_and_every_earlier_size_is_proven() {
    let leaves: Vec<_> = (0..300_u32).map(|number| leaf(&number.to_be_bytes())).collect();
    let mut stored = Stored::default();
    let (mut checkpoints, mut rest) = (Vec::new(), leaves.as_slice());
    // Of different lengths, so that chunks end within and between them.
    for length in (1..).take_while(|length| *length <= 24) {
        let (some, after) = rest.split_at(length);
        stored.append(some, u64::try_from(length).unwrap() * 1000);
        rest = after;
        let checkpoint = stored.checkpoint();
        let size = usize::try_from(checkpoint.size).unwrap();
        assert_eq!(checkpoint.root, root(&leaves[..size]));
        let log = Log::read(&stored).unwrap();
        for earlier in &checkpoints {
            let known: &Checkpoint = earlier;
            let proof = log.prove_prefix(known.size).unwrap();
            assert_eq!(known.check_successor(&checkpoint, &proof), Ok(()));
            let forged = Checkpoint { root: leaf(b"other"), ..known.clone() };
            assert!(forged.check_successor(&checkpoint, &proof).is_err());
        }
        checkpoints.push(checkpoint);
    }
    assert!(rest.is_empty());
    let log = Log::read(&stored).unwrap();
    log.check().unwrap();
    assert_eq!(log.root(299).unwrap(), root(&leaves[..299]));
    assert_eq!(log.root(301), Err(DAMAGED));
    for (index, entry) in (0..).zip(&leaves) {
        let proof = log.prove_entry(index).unwrap();
        let proof: Vec<_> = proof.iter().map(|hash| Hash::parse_hash(hash).unwrap()).collect();
        tlog_tiles::check_record(&proof, 300, Hash(stored.root()), index, Hash(*entry)).unwrap();
    }
}

#[test]
fn an_entry_is_found_by_its_hash_and_the_time_of_its_activity() {
    let leaves: Vec<_> = (0..2000_u32).map(|number| leaf(&number.to_be_bytes())).collect();
    let time = |number: usize| 1_000_000 + u64::try_from(number / 10).unwrap() * 1000;
    let mut stored = Stored::default();
    for (number, entries) in leaves.chunks(10).enumerate() {
        stored.append(entries, time(number * 10));
    }
    let log = Log::read(&stored).unwrap();
    assert_eq!(log.head().unwrap().begun, 1_000_000);
    for (index, entry) in leaves.iter().enumerate() {
        // The activity changed a moment before its entry was added.
        let since = time(index) - 700;
        assert_eq!(log.find(*entry, since).unwrap(), Some(index as u64));
        assert_eq!(log.find(leaf(b"other"), since).unwrap(), None);
    }
    assert_eq!(Log::read(&Stored::default()).unwrap().find(leaf(b"other"), 5).unwrap(), None);
}

#[test]
fn entries_are_found_long_after_their_commit_and_after_a_clock_was_corrected() {
    const DAY: Millis = 24 * 60 * 60 * 1000;
    let leaves: Vec<_> = (0..600_u32).map(|number| leaf(&number.to_be_bytes())).collect();
    let mut stored = Stored::default();
    stored.append(&leaves[..200], DAY);
    // The daemon did not run for a day, and its clock is a year ahead then.
    stored.append(&leaves[200..400], 365 * DAY);
    let found = |stored: &Stored, index: usize, since| {
        Log::read(stored).unwrap().find(leaves[index], since).unwrap() == Some(index as u64)
    };
    assert!(found(&stored, 200, DAY) && found(&stored, 399, DAY));
    let corrected = Log::read(&stored).unwrap().added_by(2 * DAY).unwrap();
    stored.0.extend(corrected.into_iter().map(|write| (write.key, write.value.unwrap().to_vec())));
    let log = Log::read(&stored).unwrap();
    log.check().unwrap();
    assert_eq!(log.head().unwrap(), Head { size: 400, time: 2 * DAY, begun: DAY });
    assert_eq!(log.added_by(2 * DAY).unwrap().len(), 0);
    stored.append(&leaves[400..], 3 * DAY);
    assert!(
        [(0, DAY - 500), (199, DAY - 500), (399, 2 * DAY), (400, 3 * DAY), (599, 3 * DAY - 500)]
            .into_iter()
            .all(|(index, since)| found(&stored, index, since))
    );
    let log = Log::read(&stored).unwrap();
    assert!(log.began_after(DAY - 60_001) && !log.began_after(DAY - 60_000));
}

#[test]
fn entries_of_a_later_head_are_not_found_before_it() {
    let (first, second) = (leaf(b"first"), leaf(b"second"));
    let mut stored = Stored::default();
    stored.append(&[first], 1000);
    let head = stored.0.get(log::HEAD).unwrap().clone();
    stored.append(&[second], 2000);
    assert_eq!(Log::read(&stored).unwrap().find(second, 1500).unwrap(), Some(1));
    stored.0.insert(log::HEAD.to_vec(), head);
    let log = Log::read(&stored).unwrap();
    assert_eq!((log.find(first, 500).unwrap(), log.find(second, 1500).unwrap()), (Some(0), None));
    assert_eq!(log.prove_entry(0).unwrap(), Vec::<String>::new());
}

#[test]
fn damaged_records_are_reported() {
    let mut stored = Stored::default();
    stored.append(&[leaf(b"first"), leaf(b"second"), leaf(b"third")], 1000);
    for key in [log::HEAD.to_vec(), log::hashes(0)] {
        let whole = stored.0.get(&key).unwrap().clone();
        for length in [0, 1, 8, 9, whole.len() - 1] {
            stored.0.insert(key.clone(), whole[..length].to_vec());
            let log = Log::read(&stored);
            let read = log.and_then(|log| log.of_tree(tree_hash(log.size(), &log)).map(drop));
            assert_eq!(read, Err(DAMAGED), "{length} bytes");
        }
        stored.0.insert(key, whole);
    }
    // Every changed bit of a hash is noticed when the tree is computed again.
    let whole = stored.0.get(&log::hashes(0)).unwrap().clone();
    for place in 9..whole.len() {
        let mut changed = whole.clone();
        changed[place] ^= 4;
        stored.0.insert(log::hashes(0), changed);
        let checked = Log::read(&stored).unwrap().check();
        // Nothing follows from the last entry alone.
        assert_eq!(checked.is_err(), place < 9 + 3 * 32, "byte {place}");
    }
    let waiting = encode_waiting([leaf(b"first"), leaf(b"second")].iter());
    assert_eq!(decode_waiting(&waiting).unwrap(), [leaf(b"first"), leaf(b"second")]);
    assert_eq!(decode_waiting(&waiting[..40]), Err(DAMAGED));
}
