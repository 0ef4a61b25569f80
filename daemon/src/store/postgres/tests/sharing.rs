//! Several daemons on one database.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::super::super::{Announcement, Changed, ExtraRecords};
use super::*;

/// Opens the store of a database as several daemons, which share it.
fn daemons(cluster: &Cluster, count: u8) -> Vec<Postgres> {
    let settings = settings(&cluster.url());
    let first = Postgres::create(&settings, Access::Shared).unwrap();
    first.set_header(b"header").unwrap();
    first.become_daemon([0; 16]).unwrap();
    first.share().unwrap();
    let joined = (1..count).map(|number| {
        let joined = Postgres::open(&settings, Access::Shared).unwrap();
        joined.become_daemon([number; 16]).unwrap();
        joined
    });
    let joined: Vec<_> = joined.collect();
    std::iter::once(first).chain(joined).collect()
}

/// Runs a closure for each daemon at once.
fn together<T: Send>(daemons: &[Postgres], run: impl Fn(usize, &Postgres) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let run = &run;
        let running: Vec<_> = daemons
            .iter()
            .enumerate()
            .map(|(number, daemon)| scope.spawn(move || run(number, daemon)))
            .collect();
        running.into_iter().map(|one| one.join().unwrap()).collect()
    })
}

fn done(store: &Postgres, batch: Batch) -> bool {
    store.commit(&Group::of(batch)).unwrap() == [BatchOutcome::Done]
}

#[test]
fn a_table_that_another_start_creates_at_the_same_time_is_used() {
    let cluster = Cluster::start();
    let settings = settings(&cluster.url());
    drop(create(&settings).unwrap());
    cluster.sql("ALTER TABLE quorate.feed RENAME TO other");
    std::thread::scope(|scope| {
        // The table appears once the store waits for this transaction.
        let created = scope.spawn(|| {
            cluster.sql(
                "BEGIN; ALTER TABLE quorate.other RENAME TO feed; DO $$ BEGIN WHILE NOT EXISTS \
                (SELECT FROM pg_locks WHERE NOT granted) LOOP END LOOP; END $$; COMMIT",
            )
        });
        let renamed = "SELECT FROM pg_locks WHERE relation = 'quorate.other'::regclass \
            AND mode = 'AccessExclusiveLock' AND granted";
        while cluster.sql(&format!("SELECT EXISTS ({renamed})")) == "f\n" {
            std::thread::yield_now();
        }
        open(&settings).unwrap();
        created.join().unwrap();
    });
}

#[test]
fn a_group_of_a_term_that_ended_is_not_committed() {
    let cluster = Cluster::start();
    let daemons = daemons(&cluster, 2);
    let [first, second] = daemons.as_slice() else { unreachable!("two daemons") };
    let commit = |store: &Postgres, term: u32| store.commit(&Group { term: Some(term), ..put(b"k", b"v") });
    commit(second, 1).unwrap();
    first.end_terms_before(2).unwrap();
    commit(first, 2).unwrap();
    // The daemon may be ahead of the one that ended the term, but not behind it.
    commit(second, 3).unwrap();
    assert!(commit(second, 1).is_err());
    assert!(matches!(commit(second, 2), Err(StoreError::Unavailable)));
    second.recover(&AcceptsAll).unwrap();
    assert!(commit(second, 1).is_err());
    second.recover(&AcceptsAll).unwrap();
    commit(second, 2).unwrap();
    // A term never begins again.
    first.end_terms_before(1).unwrap();
    assert!(commit(first, 1).is_err());
    first.recover(&AcceptsAll).unwrap();
}

#[test]
fn a_store_is_shared_once_its_first_daemon_allows_it() {
    let cluster = Cluster::start();
    let settings = settings(&cluster.url());
    let first = Postgres::create(&settings, Access::Shared).unwrap();
    let join = || Postgres::open(&settings, Access::Shared);
    assert_eq!(database_error(join()), DatabaseError::InUse);
    first.share().unwrap();
    let second = join().unwrap();
    assert_eq!(database_error(open(&settings)), DatabaseError::InUse);
    first.become_daemon([1; 16]).unwrap();
    let taken = second.become_daemon([1; 16]);
    assert!(matches!(taken, Err(StoreError::Database(DatabaseError::DaemonInUse))), "{taken:?}");
    drop((first, second));
    open(&settings).unwrap();
    assert_eq!(cluster.sql("SELECT count(*) FROM quorate.daemon"), "0\n");
}

#[test]
fn versions_that_several_daemons_raise_count_each_change() {
    const CHANGES: u64 = 100;
    let cluster = Cluster::start();
    let daemons = daemons(&cluster, 3);
    let (key, done_count) = (b"v-hot".to_vec(), AtomicU64::new(0));
    together(&daemons, |number, daemon| {
        for change in 0..CHANGES {
            let version = daemon.register(&key).unwrap();
            let batch = Batch {
                expect: vec![(key.clone(), version)],
                set: vec![(key.clone(), version + 1)],
                writes: vec![Change::put(format!("k{number}-{change}"), *b"v")],
                ..Batch::default()
            };
            if done(daemon, batch) {
                done_count.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    let counted = done_count.load(Ordering::Relaxed);
    assert_eq!(daemons[0].register(&key).unwrap(), counted);
    assert_eq!(daemons[1].keys(Page::first(b"k", 1000)).unwrap().len() as u64, counted);
}

/// Both expect a register that was never set to be zero, and there is no row that they could lock.
#[test]
fn a_register_is_set_for_the_first_time_by_one_daemon() {
    let cluster = Cluster::start();
    let daemons = daemons(&cluster, 3);
    for round in 0..50 {
        let key = format!("v{round}").into_bytes();
        let set = together(&daemons, |number, daemon| {
            let set = vec![(key.clone(), 1)];
            let writes = vec![Change::put(format!("k{round}-{number}"), *b"v")];
            done(daemon, Batch { expect: vec![(key.clone(), 0)], set, writes, ..Batch::default() })
        });
        assert_eq!(set.iter().filter(|set| **set).count(), 1, "{round}: {set:?}");
    }
}

/// A signer commits before or after a revocation, and never after one that it did not see.
#[test]
fn nothing_is_committed_on_a_version_that_was_replaced_before() {
    let cluster = Cluster::start();
    let daemons = daemons(&cluster, 2);
    let key = b"v-user".to_vec();
    daemons[0].commit(&Group::of(Batch { set: vec![(key.clone(), 1)], ..Batch::default() })).unwrap();
    let (acknowledged, violations) = (AtomicU64::new(1), AtomicU64::new(0));
    together(&daemons, |number, daemon| {
        for round in 0..200_u64 {
            if number == 0 {
                let version = round + 2;
                assert!(done(daemon, Batch { set: vec![(key.clone(), version)], ..Batch::default() }));
                acknowledged.store(version, Ordering::SeqCst);
            } else {
                let seen = acknowledged.load(Ordering::SeqCst);
                // The version before is replaced already.
                let expect = vec![(key.clone(), seen - 1)];
                let writes = vec![Change::put(format!("s{round}"), *b"v")];
                if done(daemon, Batch { expect, writes, ..Batch::default() }) {
                    violations.fetch_add(1, Ordering::SeqCst);
                }
            }
        }
    });
    assert_eq!(violations.load(Ordering::SeqCst), 0);
}

#[test]
fn daemons_that_need_the_same_rows_in_another_order_never_block_each_other() {
    let cluster = Cluster::start();
    let daemons = daemons(&cluster, 3);
    let keys: Vec<Vec<u8>> = (0..6).map(|one| format!("v{one}").into_bytes()).collect();
    let rows: Vec<Vec<u8>> = (0..6).map(|one| format!("k{one}").into_bytes()).collect();
    let set = keys.iter().map(|key| (key.clone(), 1)).collect();
    daemons[0].commit(&Group::of(Batch { set, ..Batch::default() })).unwrap();
    together(&daemons, |number, daemon| {
        for round in 0..60 {
            let mut order: Vec<usize> = (0..6).collect();
            order.rotate_left((number * 2 + round) % 6);
            let set = order.iter().take(3).map(|at| (keys[*at].clone(), 1)).collect();
            let writes = order.iter().map(|at| Change::put(rows[*at].clone(), *b"v")).collect();
            let expect = order.iter().map(|at| (keys[*at].clone(), 1)).collect();
            assert!(done(daemon, Batch { expect, set, writes, ..Batch::default() }));
        }
    });
    let deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    assert_eq!(cluster.sql(deadlocks), "0\n");
}

/// Adds each value that a group adds and subtracts each that it removes, as a record of this daemon.
struct Sum<'d>(&'d [u8], AtomicU64);

impl ExtraRecords for Sum<'_> {
    fn records(
        &self,
        _: &[BatchOutcome],
        changed: &mut dyn Iterator<Item = Changed<'_>>,
    ) -> Result<Vec<Change>, StoreError> {
        let number =
            |value: Option<&[u8]>| value.map_or(0, |value| u64::from_be_bytes(value.try_into().unwrap()));
        let mut sum = self.1.load(Ordering::Relaxed);
        for Changed { before, after, .. } in changed {
            sum = sum.wrapping_add(number(after)).wrapping_sub(number(before));
        }
        self.1.store(sum, Ordering::Relaxed);
        Ok(vec![Change::put(self.0, sum.to_be_bytes())])
    }
}

/// The digests of the daemons over what they changed are exact only if each sees what it replaces.
#[test]
fn each_daemon_sees_the_value_that_it_replaces() {
    let cluster = Cluster::start();
    let daemons = daemons(&cluster, 3);
    let sums = [b"m0", b"m1", b"m2"].map(|key| Sum(key, AtomicU64::new(0)));
    together(&daemons, |number, daemon| {
        for round in 0..80_u64 {
            // A group that is repeated after a conflict computes its sum again.
            let before = sums[number].1.load(Ordering::Relaxed);
            let key = format!("k{}", round % 3);
            let change = match round % 4 {
                3 => Change::remove(key),
                _ => Change::put(key, (round * 3 + number as u64).to_be_bytes()),
            };
            let batch = Batch { writes: vec![change], ..Batch::default() };
            let extra = Repeated { sum: &sums[number], before };
            daemon.commit(&Group { extra: Some(&extra), ..Group::of(batch) }).unwrap();
        }
    });
    let values: BTreeMap<_, _> = daemons[0].rows(Page::first(b"", 100)).unwrap().into_iter().collect();
    let total = |prefix: u8| {
        let of = values.iter().filter(|(key, _)| key[0] == prefix);
        of.map(|(_, value)| u64::from_be_bytes(value.as_slice().try_into().unwrap()))
            .fold(0, u64::wrapping_add)
    };
    assert_eq!(total(b'm'), total(b'k'));
}

/// A sum that begins again from the same value in each attempt.
struct Repeated<'s, 'd> {
    sum: &'s Sum<'d>,
    before: u64,
}

impl ExtraRecords for Repeated<'_, '_> {
    fn records(
        &self,
        outcomes: &[BatchOutcome],
        changed: &mut dyn Iterator<Item = Changed<'_>>,
    ) -> Result<Vec<Change>, StoreError> {
        self.sum.1.store(self.before, Ordering::Relaxed);
        self.sum.records(outcomes, changed)
    }
}

#[test]
fn a_snapshot_shows_one_moment() {
    let cluster = Cluster::start();
    let daemons = daemons(&cluster, 2);
    daemons[0].commit(&put(b"k", b"old")).unwrap();
    let snapshot = daemons[1].snapshot().unwrap().unwrap();
    daemons[0].commit(&put(b"k", b"new")).unwrap();
    daemons[0].commit(&put(b"l", b"new")).unwrap();
    let rows = snapshot.rows(Page::first(b"", 10)).unwrap();
    assert_eq!(rows, [(b"k".to_vec(), b"old".to_vec())]);
}

/// Announces a text.
struct Announced(&'static str);

impl Announcement for Announced {
    fn notice(&self, _: &[BatchOutcome]) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(Some(self.0.into()))
    }
}

/// Notices do not wait for transactions that other clients of the server keep open, and none is applied twice.
#[test]
fn notices_arrive_while_another_client_keeps_a_transaction_open() {
    let cluster = Cluster::start();
    let daemons = daemons(&cluster, 2);
    let (heard, notices) = std::sync::mpsc::channel();
    daemons[1].on_notice(Box::new(move |notice| heard.send(notice.to_vec()).unwrap()));
    let announce = |text: &'static str| {
        let announcement = Announced(text);
        let group = Group { announcement: Some(&announcement), ..put(b"k", text.as_bytes()) };
        daemons[0].commit(&group).unwrap();
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let client = Session::connect(runtime.handle(), &settings(&cluster.url()), 0, drop).unwrap();
    let run = |text: &str| answered(runtime.handle(), ANSWER, client.client.batch_execute(text)).unwrap();
    run("SET idle_in_transaction_session_timeout = 0; BEGIN; SELECT pg_current_xact_id()");
    let next = || notices.recv_timeout(Duration::from_secs(30)).unwrap();
    for text in ["one", "two"] {
        announce(text);
        assert_eq!(next(), text.as_bytes());
    }
    run("COMMIT");
    announce("three");
    assert_eq!(next(), b"three");
}

#[test]
fn reopened_stores_leave_no_connection_behind() {
    let cluster = Cluster::start();
    let daemons = daemons(&cluster, 1);
    let count = || cluster.sql("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'");
    let before = count();
    for _ in 0..5 {
        daemons[0].recover(&AcceptsAll).unwrap();
        assert!(daemons[0].recover(&RefusesAll).is_err());
    }
    daemons[0].recover(&AcceptsAll).unwrap();
    // The server notices the end of a connection a moment later.
    while count() != before {
        std::thread::yield_now();
    }
    cluster
        .sql("UPDATE quorate.meta SET value = 'another' WHERE name = 'header'; DELETE FROM quorate.daemon");
    let replaced = daemons[0].recover(&AcceptsAll);
    assert!(matches!(replaced, Err(StoreError::Database(DatabaseError::OtherStore))), "{replaced:?}");
    // Nothing was written to it.
    assert_eq!(cluster.sql("SELECT count(*) FROM quorate.daemon"), "0\n");
}

/// Accepts no reopened store.
struct RefusesAll;

impl Acceptance for RefusesAll {
    fn check(&self, _: ReadRecord<'_>) -> Result<(), StoreError> {
        Err(StoreError::Unavailable)
    }
}
