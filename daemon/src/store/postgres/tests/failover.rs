//! A standby becomes the primary: stores follow it, and rely on the old server no longer.

use std::time::{Duration, Instant};

use super::super::super::{Batch, Change};
use super::*;

/// Opens the store of a daemon on two servers, of which the first one is tried first.
fn opened(first: &Cluster, second: &Cluster, id: u8) -> Postgres {
    let store = Postgres::open(&settings(&first.url_with(second)), Access::Shared).unwrap();
    store.become_daemon([id; 16]).unwrap();
    store.share().unwrap();
    store
}

/// Starts a primary with a synchronous standby and a store.
fn pair() -> (Cluster, Cluster) {
    let mut primary = Cluster::start();
    drop(create(&settings(&primary.url())).unwrap());
    let standby = primary.standby();
    primary.set("synchronous_standby_names = '*'");
    (primary, standby)
}

fn version(number: u64) -> Group<'static> {
    let set = vec![(b"v".to_vec(), number)];
    let expect = vec![(b"v".to_vec(), number - 1)];
    Group::of(Batch { expect, set, writes: vec![Change::put(b"k", b"v")], ..Batch::default() })
}

/// Reopens a store until that succeeds.
fn follow(store: &Postgres) {
    let until = Instant::now() + Duration::from_mins(1);
    while let Err(error) = store.recover(&AcceptsAll) {
        assert!(Instant::now() < until, "{error}");
    }
}

#[test]
fn a_primary_that_was_replaced_confirms_nothing_and_is_left() {
    let (primary, standby) = pair();
    let (old, other) = (opened(&primary, &standby, 1), opened(&standby, &primary, 2));
    old.commit(&version(1)).unwrap();
    let expected = [(b"v".to_vec(), 1)];
    assert!(old.confirm(&expected).unwrap() && other.confirm(&expected).unwrap());
    // The primary does not notice it, and the first store is still connected to it.
    standby.sql("SELECT pg_promote()");
    follow(&other);
    other.commit(&version(2)).unwrap();
    assert!(!matches!(old.confirm(&expected), Ok(true)), "an old version was confirmed");
    assert!(old.commit(&version(2)).is_err());
    // The old primary still runs, and is the first one in the URL.
    assert_eq!(primary.sql("SELECT pg_is_in_recovery()"), "f\n");
    follow(&old);
    assert!(old.confirm(&[(b"v".to_vec(), 2)]).unwrap());
    old.commit(&version(3)).unwrap();
    assert!(other.confirm(&[(b"v".to_vec(), 3)]).unwrap());
}

#[test]
fn a_server_that_does_not_answer_is_passed_over() {
    let (primary, standby) = pair();
    let store = opened(&primary, &standby, 1);
    store.commit(&version(1)).unwrap();
    primary.signal(rustix::process::Signal::STOP);
    assert!(store.commit(&version(2)).is_err());
    standby.sql("SELECT pg_promote()");
    follow(&store);
    store.commit(&version(2)).unwrap();
    primary.signal(rustix::process::Signal::CONT);
}

#[test]
fn standbys_that_nobody_waits_for_are_warned_about() {
    let mut primary = Cluster::start();
    let warning = |store: &Postgres| store.engine().warning;
    let settings = settings(&primary.url());
    let store = create(&settings).unwrap();
    assert_eq!(warning(&store), None);
    let standby = primary.standby();
    follow(&store);
    assert!(warning(&store).unwrap().contains("synchronous_standby_names is empty"));
    primary.set("synchronous_standby_names = '*'");
    follow(&store);
    assert_eq!(warning(&store), None);
    drop(standby);
}

#[test]
fn a_commit_that_stopped_waiting_for_a_standby_is_not_acknowledged() {
    let (primary, standby) = pair();
    let (store, other) = (opened(&primary, &standby, 1), opened(&primary, &standby, 2));
    store.commit(&version(1)).unwrap();
    assert!(other.confirm(&[(b"v".to_vec(), 1)]).unwrap());
    standby.signal(rustix::process::Signal::STOP);
    let outcome = std::thread::scope(|scope| {
        let commit = scope.spawn(|| store.commit(&version(2)));
        let waits = "FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query = 'COMMIT'";
        while primary.sql(&format!("SELECT pg_cancel_backend(pid) {waits}")).is_empty() {
            std::thread::yield_now();
        }
        commit.join().unwrap()
    });
    assert!(outcome.is_err(), "a commit that no standby has was acknowledged");
    // The server has it, but the store is usable only once a standby has it as well.
    assert_eq!(primary.sql("SELECT version FROM quorate.register WHERE key = 'v'"), "2\n");
    let confirmed = other.confirm(&[(b"v".to_vec(), 2)]);
    assert!(confirmed.is_err(), "another daemon acknowledged it: {confirmed:?}");
    assert!(store.recover(&AcceptsAll).is_err());
    standby.signal(rustix::process::Signal::CONT);
    follow(&store);
    assert!(store.confirm(&[(b"v".to_vec(), 2)]).unwrap());
    store.commit(&version(3)).unwrap();
}

#[test]
fn a_primary_that_becomes_read_only_is_left() {
    let cluster = Cluster::start();
    let settings = settings(&cluster.url());
    let store = create(&settings).unwrap();
    store.commit(&version(1)).unwrap();
    // Sessions that are open already begin read-only transactions as well.
    let set = |value: &str| {
        cluster.sql(&format!("ALTER SYSTEM SET default_transaction_read_only = {value}"));
        cluster.sql("SELECT pg_reload_conf()");
    };
    set("on");
    // The sessions read the setting soon.
    let mut number = 1;
    while store.commit(&version(number + 1)).is_ok() {
        number += 1;
    }
    assert!(matches!(store.value(b"k"), Err(StoreError::Unavailable)));
    assert!(matches!(store.recover(&AcceptsAll), Err(StoreError::Database(DatabaseError::ReadOnly))));
    set("off");
    follow(&store);
    store.commit(&version(number + 1)).unwrap();
}

#[test]
fn a_primary_that_still_commits_is_left_when_another_one_replaces_it() {
    let mut primary = Cluster::start();
    drop(create(&settings(&primary.url())).unwrap());
    let (standby, loyal) = (primary.standby(), primary.standby());
    primary.set("synchronous_standby_names = 'ANY 1 (*)'");
    let old = opened(&primary, &standby, 1);
    old.commit(&version(1)).unwrap();
    assert_eq!(old.engine().server, Some(primary.socket().display().to_string()));
    drop(old);
    // The other standby alone may have acknowledged the commit.
    let written = primary.sql("SELECT pg_current_wal_lsn()");
    let has_all = format!("SELECT pg_last_wal_replay_lsn() >= '{}'", written.trim());
    while standby.sql(&has_all).trim() != "t" {
        std::thread::yield_now();
    }
    // Both servers acknowledge commits from now on, because a standby still follows the old one.
    standby.sql("SELECT pg_promote()");
    let other = opened(&standby, &primary, 2);
    assert_eq!(other.commit(&version(2)).unwrap(), [BatchOutcome::Done]);
    let old = opened(&primary, &standby, 1);
    while old.failure().is_none() {
        std::thread::yield_now();
    }
    assert!(old.failure().unwrap().contains("has replaced the primary"), "{:?}", old.failure());
    follow(&old);
    assert_eq!(old.engine().server, Some(standby.socket().display().to_string()));
    assert_eq!(old.failure(), None);
    assert!(old.confirm(&[(b"v".to_vec(), 2)]).unwrap());
    // It does not go back, although the old primary would still commit.
    drop((other, standby));
    let reopened = old.recover(&AcceptsAll).unwrap_err().to_string();
    assert!(reopened.contains("was replaced by another one"), "{reopened}");
    assert!(old.confirm(&[(b"v".to_vec(), 1)]).is_err());
    drop(loyal);
}

#[test]
fn the_error_names_each_server_if_none_is_the_primary() {
    let primary = Cluster::start();
    drop(create(&settings(&primary.url())).unwrap());
    let (standby, other) = (primary.standby(), primary.standby());
    let refused = |first: &Cluster, second: &Cluster| {
        let opened = Postgres::create(&settings(&first.url_with(second)), Access::Shared);
        opened.err().map(|error| error.to_string()).unwrap()
    };
    let standbys = refused(&standby, &other);
    let [first, second] = [&standby, &other].map(|server| server.socket().display().to_string());
    assert!(standbys.contains(&format!("{first}: a standby; {second}: a standby")), "{standbys}");
    drop(primary);
    // A server that cannot be reached may have the store, so no other one is created.
    let (down, empty) = (other, Cluster::start());
    down.signal(rustix::process::Signal::STOP);
    let unreachable = refused(&down, &empty);
    assert!(unreachable.contains(&second) && unreachable.contains("contains no store"), "{unreachable}");
    assert_eq!(empty.sql("SELECT to_regnamespace('quorate') IS NULL"), "t\n");
    down.signal(rustix::process::Signal::CONT);
}

#[test]
fn a_server_without_the_standby_that_commits_wait_for_is_explained() {
    let mut primary = Cluster::start();
    drop(create(&settings(&primary.url())).unwrap());
    primary.set("synchronous_standby_names = 'elsewhere'");
    let refused = Postgres::open(&settings(&primary.url()), Access::Shared).err();
    let Some(StoreError::Database(DatabaseError::NoStandby(names))) = refused else {
        unreachable!("{refused:?}");
    };
    assert_eq!(names, "elsewhere");
}
