//! Tests of the Merkle tree against a flat map, and of its digest against an independent computation.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::collections::BTreeMap;

use super::*;

fn key(number: u32) -> Vec<u8> {
    [b"e".as_slice(), &number.to_be_bytes()].concat()
}

fn record(number: u32) -> RecordDigest {
    RecordDigest::of(&number.to_be_bytes())
}

fn of(records: impl IntoIterator<Item = u32>) -> Contents {
    let mut contents = Contents::default();
    for number in records {
        contents.put(&key(number), record(number));
    }
    contents
}

#[test]
fn digest_depends_only_on_the_records() {
    for count in [0, 1, LEAF, LEAF + 1, 300, 5000] {
        let count = u32::try_from(count).unwrap();
        let ascending = of(0..count);
        let descending = of((0..count).rev());
        assert_eq!(ascending.digest(), descending.digest(), "{count}: descending order");
        let mut more = of(0..count * 2);
        more.digest();
        for number in count..count * 2 {
            more.remove(&key(number));
        }
        assert_eq!(ascending.digest(), more.digest(), "{count}: records added and removed");
        assert_eq!(more.0.len(), usize::try_from(count).unwrap());
        more.remove(&key(u32::MAX));
        assert_eq!(ascending.digest(), more.digest(), "{count}: missing record removed");
    }
}

#[test]
fn digest_depends_on_each_record_and_key() {
    let whole = of(0..500);
    let before = whole.digest();
    for number in [0, 17, 499] {
        let mut changed = whole.clone();
        changed.put(&key(number), record(number + 1));
        assert_ne!(changed.digest(), before, "{number}: changed record");
        assert_eq!(changed.get(&key(number)), Some(record(number + 1)));
        changed.remove(&key(number));
        assert_ne!(changed.digest(), before, "{number}: removed record");
        assert_eq!(changed.get(&key(number)), None);
        changed.put(&key(number + 1000), record(number));
        assert_ne!(changed.digest(), before, "{number}: changed key");
        changed.remove(&key(number + 1000));
        changed.put(&key(number), record(number));
        assert_eq!(changed.digest(), before, "{number}: restored record");
    }
    assert_eq!(whole.digest(), before, "changes of a clone");
}

/// Computes the digest as described at `Contents::digest`, from a sorted list and without a tree.
fn flat(records: &BTreeMap<Path, RecordDigest>, prefix: &[u8]) -> [u8; 32] {
    let nibbles = |path: &Path| -> Vec<u8> { path.iter().flat_map(|byte| [byte >> 4, byte & 15]).collect() };
    let below: Vec<_> = records.iter().filter(|(path, _)| nibbles(path).starts_with(prefix)).collect();
    let text = if below.len() <= 16 {
        let rows = below.iter().flat_map(|(path, record)| [path.as_slice(), record.as_bytes()].concat());
        [0].into_iter().chain(rows).collect::<Vec<u8>>()
    } else {
        let children = (0..16).flat_map(|nibble| flat(records, &[prefix, &[nibble]].concat()));
        [1].into_iter().chain(children).collect()
    };
    Sha256::digest(text).into()
}

#[test]
fn digest_matches_its_description() {
    for count in [0, 1, 16, 17, 40, 700] {
        let records = (0..count).map(|number| (path(&key(number)), record(number))).collect();
        assert_eq!(of(0..count).digest(), ContentsDigest(flat(&records, &[])), "{count}");
    }
}

#[test]
fn digest_is_stable() {
    // Computed with Python's hashlib, as described at `Contents::digest`.
    for (count, digest) in [
        (0, "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"),
        (3, "bf9b4bee640dd2454e578d1e2cdd629df78bdef365143cab384dccc6e26f3ef1"),
        (100, "1baa3e4cb6899e6e75c0169c6534ef9c658410691a262811ba89b024ae979bb9"),
    ] {
        assert_eq!(String::from(of(0..count).digest()), digest, "{count}");
    }
}
