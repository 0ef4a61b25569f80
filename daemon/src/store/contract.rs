//! The contract of a store, as a test suite that runs against each implementation.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use quorate_core::world::Order::{self, Ascending, Descending};
use quorate_core::world::Page;
use sha2::{Digest, Sha256};

use super::BatchOutcome::{self, Clash, Done};
use super::{Batch, Change, Changed, ExtraRecords, Group, LONGEST_VALUE, Store, StoreError};

type Open<'a> = &'a dyn Fn() -> Box<dyn Store>;

/// Runs the suite. `open` opens the same store each time; it is empty at first.
pub(super) fn check(open: Open<'_>) {
    writes_survive_reopening(open);
    conditions_hold_within_a_group(open);
    prefixes_are_empty_within_a_group(open);
    values_are_compared_within_a_group(open);
    ranges_page_both_ways(open);
    extra_records_are_written_with_changes(open);
    long_values_survive_reopening(open);
    many_rows_page_both_ways(open);
    readers_see_whole_groups(open);
}

fn put(key: &[u8], value: &[u8]) -> Batch {
    Batch { writes: vec![Change::put(key, value)], ..Batch::default() }
}

fn remove(key: &[u8]) -> Batch {
    Batch { writes: vec![Change::remove(key)], ..Batch::default() }
}

fn commit(store: &dyn Store, batches: Vec<Batch>) -> Vec<BatchOutcome> {
    store.commit(&Group { batches, ..Group::default() }).unwrap()
}

fn writes_survive_reopening(open: Open<'_>) {
    let store = open();
    assert_eq!(store.value(b"k").unwrap(), None);
    assert_eq!(store.register(b"r").unwrap(), 0);
    let set = Batch { set: vec![(b"r".to_vec(), 7)], ..put(b"k", b"v") };
    assert_eq!(commit(store.as_ref(), vec![set]), [Done]);
    drop(store);
    let store = open();
    assert_eq!(store.value(b"k").unwrap().as_deref(), Some(b"v".as_slice()));
    assert_eq!(store.register(b"r").unwrap(), 7);
    commit(store.as_ref(), vec![remove(b"k")]);
    assert_eq!(store.value(b"k").unwrap(), None);
}

fn conditions_hold_within_a_group(open: Open<'_>) {
    let store = open();
    let expect = |version: u64, next: u64, key: &[u8]| Batch {
        expect: vec![(b"version".to_vec(), version)],
        set: vec![(b"version".to_vec(), next)],
        ..put(key, b"v")
    };
    let fresh = |key: &[u8]| Batch { must_not_exist: vec![key.to_vec()], ..put(key, b"v") };
    let verdicts = commit(
        store.as_ref(),
        vec![
            expect(0, 1, b"first"),
            expect(0, 1, b"second"),
            expect(1, 2, b"third"),
            fresh(b"once"),
            fresh(b"once"),
        ],
    );
    assert_eq!(verdicts, [Done, Clash, Done, Done, Clash]);
    assert!(store.value(b"first").unwrap().is_some());
    assert!(store.value(b"second").unwrap().is_none());
    assert!(store.value(b"third").unwrap().is_some());
    let batches = vec![expect(1, 9, b"late"), expect(2, 3, b"fourth"), expect(3, 4, b"fifth")];
    let verdicts = commit(store.as_ref(), batches);
    assert_eq!((verdicts, store.register(b"version").unwrap()), (vec![Clash, Done, Done], 4));
    let batches = vec![fresh(b"once"), remove(b"once"), fresh(b"once")];
    assert_eq!(commit(store.as_ref(), batches), [Clash, Done, Done]);
}

fn prefixes_are_empty_within_a_group(open: Open<'_>) {
    let store = open();
    let empty = |prefix: &[u8], key: &[u8]| Batch { must_be_empty: vec![prefix.to_vec()], ..put(key, b"v") };
    commit(store.as_ref(), vec![put(b"ab1", b"v"), put(b"b", b"v")]);
    let verdicts = commit(
        store.as_ref(),
        vec![
            empty(b"ab", b"one"),
            empty(b"ac", b"two"),
            remove(b"ab1"),
            empty(b"ab", b"ab2"),
            empty(b"ab", b"three"),
            empty(b"ab2", b"four"),
            empty(b"ab1", b"five"),
        ],
    );
    assert_eq!(verdicts, [Clash, Done, Done, Done, Clash, Clash, Done]);
    assert!(store.value(b"ab2").unwrap().is_some() && store.value(b"three").unwrap().is_none());
}

fn values_are_compared_within_a_group(open: Open<'_>) {
    let store = open();
    let equal = |key: &[u8], value: &[u8], next: &[u8]| Batch {
        must_equal: vec![(key.to_vec(), Sha256::digest(value).into())],
        ..put(key, next)
    };
    let long = vec![7; LONGEST_VALUE];
    commit(store.as_ref(), vec![put(b"e1", b"one"), put(b"e2", &long)]);
    let verdicts = commit(
        store.as_ref(),
        vec![
            equal(b"e1", b"other", b"never"),
            equal(b"e1", b"one", b"two"),
            equal(b"e1", b"one", b"never"),
            equal(b"e1", b"two", b"three"),
            equal(b"e2", &long, b"short"),
            equal(b"e3", b"", b"never"),
            remove(b"e2"),
            equal(b"e2", b"short", b"never"),
            put(b"e4", b""),
            equal(b"e4", b"", b"four"),
        ],
    );
    assert_eq!(verdicts, [Clash, Done, Clash, Done, Done, Clash, Done, Clash, Done, Done]);
    let value = |key: &[u8]| store.value(key).unwrap();
    assert_eq!(value(b"e1").as_deref(), Some(b"three".as_slice()));
    assert_eq!((value(b"e2"), value(b"e3")), (None, None));
    assert_eq!(commit(store.as_ref(), vec![equal(b"e1", b"two", b"never")]), [Clash]);
}

fn ranges_page_both_ways(open: Open<'_>) {
    let store = open();
    let keys: Vec<Vec<u8>> = (0..5_u8).map(|n| vec![b'p', n]).collect();
    for key in keys.iter().chain([&vec![b'o', 255], &vec![b'q']]) {
        commit(store.as_ref(), vec![put(key, b"v")]);
    }
    let page = |after: Option<&[u8]>, order: Order, limit| {
        let page = Page { prefix: b"p", after, order, limit };
        let rows = store.rows(page).unwrap();
        let found: Vec<u8> = rows.iter().map(|(key, _)| key[1]).collect();
        let listed: Vec<u8> = store.keys(page).unwrap().iter().map(|key| key[1]).collect();
        assert_eq!(found, listed);
        found
    };
    assert_eq!(page(None, Ascending, 9), [0, 1, 2, 3, 4]);
    assert_eq!(page(None, Ascending, 2), [0, 1]);
    assert_eq!(page(None, Descending, 2), [4, 3]);
    assert_eq!(page(Some(&[b'p', 1]), Ascending, 2), [2, 3]);
    assert_eq!(page(Some(&[b'p', 3]), Descending, 9), [2, 1, 0]);
    assert_eq!(page(Some(&[b'p', 4]), Ascending, 9), [0_u8; 0]);
    assert_eq!(page(Some(&[b'p', 0]), Descending, 9), [0_u8; 0]);
    assert_eq!(page(Some(b"a"), Ascending, 2), [0, 1]);
}

/// Writes a record with the number of a group and its changes.
struct ChangeLog(u8);

impl ExtraRecords for ChangeLog {
    fn records(
        &self,
        _: &[BatchOutcome],
        changed: &mut dyn Iterator<Item = Changed<'_>>,
    ) -> Result<Vec<Change>, StoreError> {
        let mut value = vec![self.0];
        for Changed { key, before, after } in changed {
            for part in [Some(key), before, after] {
                value.extend_from_slice(part.unwrap_or(b"-"));
                value.push(b' ');
            }
        }
        Ok(vec![Change::put(*b"extra", value)])
    }
}

fn extra_records_are_written_with_changes(open: Open<'_>) {
    let store = open();
    let group =
        |batches, extra| store.commit(&Group { batches, extra: Some(extra), ..Group::default() }).unwrap();
    let clash = || Batch { expect: vec![(b"never set".to_vec(), 1)], ..put(b"key", b"v") };
    let extra = || String::from_utf8(store.value(b"extra").unwrap().unwrap_or_default()).unwrap();
    assert_eq!(group(vec![clash(), Batch::default()], &ChangeLog(b'1')), [Clash, Done]);
    assert_eq!((store.value(b"key").unwrap(), extra().as_str()), (None, ""));
    assert_eq!(group(vec![clash(), put(b"key", b"v")], &ChangeLog(b'2')), [Clash, Done]);
    assert_eq!(extra(), "2key - v ");
    // The last change of a record counts.
    let batches = vec![put(b"key", b"w"), put(b"other", b"x"), put(b"key", b"y"), remove(b"other")];
    assert_eq!(group(batches, &ChangeLog(b'3')), [Done; 4]);
    assert_eq!(extra(), "3key v y other - - ");
    assert_eq!(
        (store.value(b"key").unwrap().as_deref(), store.value(b"other").unwrap()),
        (Some(&b"y"[..]), None)
    );
    assert!(store.confirm(&[(b"version".to_vec(), store.register(b"version").unwrap())]).unwrap());
}

fn long_values_survive_reopening(open: Open<'_>) {
    let keys: Vec<Vec<u8>> = (1..=200).map(|length| vec![b'L'; length]).collect();
    let value = |key: &[u8]| vec![u8::try_from(key.len()).unwrap(); LONGEST_VALUE];
    let store = open();
    commit(store.as_ref(), keys.iter().map(|key| put(key, &value(key))).collect());
    drop(store);
    let rows = open().rows(Page::first(b"L", 1000)).unwrap();
    assert_eq!(rows, keys.iter().map(|key| (key.clone(), value(key))).collect::<Vec<_>>());
}

fn many_rows_page_both_ways(open: Open<'_>) {
    const ROWS: u32 = 10_000;
    let store = open();
    let key = |number: u32| [b"many".as_slice(), &number.to_be_bytes()].concat();
    for first in (0..ROWS).step_by(500) {
        let writes = (first..first + 500).map(|number| Change::put(key(number), number.to_le_bytes()));
        commit(store.as_ref(), vec![Batch { writes: writes.collect(), ..Batch::default() }]);
    }
    for order in [Ascending, Descending] {
        let (mut after, mut found) = (None::<Vec<u8>>, Vec::new());
        loop {
            let page = Page { prefix: b"many", after: after.as_deref(), order, limit: 333 };
            let rows = store.rows(page).unwrap();
            let Some((last, _)) = rows.last() else { break };
            after = Some(last.clone());
            found.extend(rows);
        }
        if order == Descending {
            found.reverse();
        }
        assert_eq!(found.len(), ROWS as usize);
        let expected = (0..ROWS).map(|number| (key(number), number.to_le_bytes().to_vec()));
        assert!(expected.eq(found));
    }
}

/// Each group replaces two records by its number. Readers must never find two different numbers.
fn readers_see_whole_groups(open: Open<'_>) {
    const GROUPS: u32 = 60;
    let store = open();
    let write = |number: u32| {
        let writes = [b"whole1", b"whole2"].map(|key| Change::put(*key, number.to_be_bytes()));
        commit(store.as_ref(), vec![Batch { writes: writes.to_vec(), ..Batch::default() }]);
    };
    write(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut newest = Vec::new();
                while newest != GROUPS.to_be_bytes() {
                    let rows = store.rows(Page::first(b"whole", 9)).unwrap();
                    assert_eq!((rows.len(), &rows[0].1), (2, &rows[1].1));
                    assert!(rows[0].1 >= newest, "an older group is shown again");
                    newest.clone_from(&rows[0].1);
                }
            });
        }
        (1..=GROUPS).for_each(write);
    });
}
