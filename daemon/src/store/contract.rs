//! What every store must do, as one suite that runs against each.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use quorate_core::world::Order::{self, Ascending, Descending};
use quorate_core::world::Page;

use super::Verdict::{Clash, Done};
use super::{Batch, Store};

type Open<'a> = &'a dyn Fn() -> Box<dyn Store>;

/// Runs the suite. `open` opens the same, at first empty, store each time.
pub(super) fn check(open: Open<'_>) {
    writes_survive_reopening(open);
    conditions_hold_within_a_group(open);
    ranges_are_vacant_within_a_group(open);
    ranges_page_both_ways(open);
}

fn put(key: &[u8], value: &[u8]) -> Batch {
    Batch { writes: vec![(key.to_vec(), Some(value.to_vec()))], ..Batch::default() }
}

fn writes_survive_reopening(open: Open<'_>) {
    let store = open();
    assert_eq!(store.value(b"k").unwrap(), None);
    assert_eq!(store.register(b"r").unwrap(), 0);
    let set = Batch { set: vec![(b"r".to_vec(), 7)], ..put(b"k", b"v") };
    assert_eq!(store.commit(&[set]).unwrap(), [Done]);
    drop(store);
    let store = open();
    assert_eq!(store.value(b"k").unwrap().as_deref(), Some(b"v".as_slice()));
    assert_eq!(store.register(b"r").unwrap(), 7);
    let remove = Batch { writes: vec![(b"k".to_vec(), None)], ..Batch::default() };
    store.commit(&[remove]).unwrap();
    assert_eq!(store.value(b"k").unwrap(), None);
}

fn conditions_hold_within_a_group(open: Open<'_>) {
    let store = open();
    let expect = |version: u64, next: u64, key: &[u8]| Batch {
        expect: vec![(b"version".to_vec(), version)],
        set: vec![(b"version".to_vec(), next)],
        ..put(key, b"v")
    };
    let fresh = |key: &[u8]| Batch { absent: vec![key.to_vec()], ..put(key, b"v") };
    let verdicts = store
        .commit(&[
            expect(0, 1, b"first"),
            expect(0, 1, b"second"),
            expect(1, 2, b"third"),
            fresh(b"once"),
            fresh(b"once"),
        ])
        .unwrap();
    assert_eq!(verdicts, [Done, Clash, Done, Done, Clash]);
    assert!(store.value(b"first").unwrap().is_some());
    assert!(store.value(b"second").unwrap().is_none());
    assert!(store.value(b"third").unwrap().is_some());
    let verdicts = store.commit(&[expect(1, 9, b"late"), expect(2, 3, b"fourth"), expect(3, 4, b"fifth")]);
    assert_eq!((verdicts.unwrap(), store.register(b"version").unwrap()), (vec![Clash, Done, Done], 4));
    let remove = Batch { writes: vec![(b"once".to_vec(), None)], ..Batch::default() };
    assert_eq!(store.commit(&[fresh(b"once"), remove, fresh(b"once")]).unwrap(), [Clash, Done, Done]);
}

fn ranges_are_vacant_within_a_group(open: Open<'_>) {
    let store = open();
    let vacant = |prefix: &[u8], key: &[u8]| Batch { vacant: vec![prefix.to_vec()], ..put(key, b"v") };
    let remove = |key: &[u8]| Batch { writes: vec![(key.to_vec(), None)], ..Batch::default() };
    store.commit(&[put(b"ab1", b"v"), put(b"b", b"v")]).unwrap();
    let verdicts = store.commit(&[
        vacant(b"ab", b"one"),
        vacant(b"ac", b"two"),
        remove(b"ab1"),
        vacant(b"ab", b"ab2"),
        vacant(b"ab", b"three"),
        vacant(b"ab2", b"four"),
        vacant(b"ab1", b"five"),
    ]);
    assert_eq!(verdicts.unwrap(), [Clash, Done, Done, Done, Clash, Clash, Done]);
    assert!(store.value(b"ab2").unwrap().is_some() && store.value(b"three").unwrap().is_none());
}

fn ranges_page_both_ways(open: Open<'_>) {
    let store = open();
    let keys: Vec<Vec<u8>> = (0..5_u8).map(|n| vec![b'p', n]).collect();
    for key in keys.iter().chain([&vec![b'o', 255], &vec![b'q']]) {
        store.commit(&[put(key, b"v")]).unwrap();
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
