//! The store on a server that each test starts.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod failover;
mod sharing;

use super::super::contract;
use super::super::{Batch, Change, ReadRecord};
use super::cluster::Cluster;
use super::*;

const CLASSES: KeyClasses = KeyClasses { registers: b'v', queues: *b"xyz" };

fn settings(url: &str) -> DatabaseSettings {
    DatabaseSettings {
        url: url.parse().unwrap(),
        ca_file: None,
        password_file: None,
        classes: CLASSES,
        is_same_store: |known, header| known == header,
    }
}

fn create(settings: &DatabaseSettings) -> Result<Postgres, StoreError> {
    Postgres::create(settings, Access::Exclusive)
}

fn open(settings: &DatabaseSettings) -> Result<Postgres, StoreError> {
    Postgres::open(settings, Access::Exclusive)
}

fn put(key: &[u8], value: &[u8]) -> Group<'static> {
    Group::of(Batch { writes: vec![Change::put(key, value)], ..Batch::default() })
}

/// Accepts every store.
struct AcceptsAll;

impl Acceptance for AcceptsAll {
    fn check(&self, _: ReadRecord<'_>) -> Result<(), StoreError> {
        Ok(())
    }
}

fn database_error(opened: Result<Postgres, StoreError>) -> DatabaseError {
    match opened {
        Err(StoreError::Database(error)) => error,
        Err(other) => unreachable!("another error: {other}"),
        Ok(_) => unreachable!("the database is accepted"),
    }
}

#[test]
fn fulfils_the_contract() {
    let cluster = Cluster::start();
    let settings = settings(&cluster.url());
    contract::check(&|| Box::new(create(&settings).unwrap()));
}

#[test]
fn registers_and_queues_are_read_in_the_order_of_keys() {
    let cluster = Cluster::start();
    let store = create(&settings(&cluster.url())).unwrap();
    let set = vec![(b"v1".to_vec(), 1), (b"v2".to_vec(), u64::from(u32::MAX))];
    let writes = [b"a", b"m", b"u", b"w", b"x", b"z", b"~"].map(|key| Change::put(*key, *key)).to_vec();
    store.commit(&Group::of(Batch { set, writes, ..Batch::default() })).unwrap();
    let all: Vec<Vec<u8>> =
        [&b"a"[..], b"m", b"u", b"v1", b"v2", b"w", b"x", b"z", b"~"].map(<[u8]>::to_vec).into();
    assert_eq!(store.keys(Page::first(b"", 99)).unwrap(), all);
    assert_eq!(store.keys(Page { after: Some(b"u"), ..Page::first(b"", 2) }).unwrap(), all[3..5]);
    assert_eq!(store.register(b"v2").unwrap(), u64::from(u32::MAX));
    assert!(store.confirm(&[(b"v1".to_vec(), 1), (b"v3".to_vec(), 0)]).unwrap());
    assert!(!store.confirm(&[(b"v1".to_vec(), 2)]).unwrap());
}

#[test]
fn simultaneous_questions_get_their_own_answers() {
    let cluster = Cluster::start();
    let store = create(&settings(&cluster.url())).unwrap();
    let register = |number: u64| format!("v{number}").into_bytes();
    store
        .commit(&Group::of(Batch {
            set: (1..8).map(|one| (register(one), one)).collect(),
            ..Batch::default()
        }))
        .unwrap();
    std::thread::scope(|scope| {
        for number in 0..8 {
            let store = &store;
            scope.spawn(move || {
                for round in 0..200 {
                    // The register that was never set is zero.
                    assert!(store.confirm(&[(register(number), number), (register(0), 0)]).unwrap());
                    assert!(
                        !store.confirm(&[(register(7), 7), (register(number), number + 1 + round)]).unwrap()
                    );
                }
            });
        }
    });
    let confirmer = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query LIKE '%register%ANY%'";
    cluster.sql(confirmer);
    while store.confirm(&[(register(1), 1)]).is_ok() {
        std::thread::yield_now();
    }
    assert!(matches!(store.confirm(&[(register(1), 1)]), Err(StoreError::Unavailable)));
    store.recover(&AcceptsAll).unwrap();
    assert!(store.confirm(&[(register(1), 1)]).unwrap());
}

#[test]
fn a_lost_server_is_an_outage_and_not_a_decision() {
    let mut cluster = Cluster::start();
    let store = create(&settings(&cluster.url())).unwrap();
    store.commit(&put(b"k", b"v")).unwrap();
    cluster.kill();
    while store.ready().is_ok() {
        let _ = store.commit(&put(b"k", b"lost"));
    }
    assert!(matches!(store.commit(&put(b"k", b"w")), Err(StoreError::Unavailable)));
    assert!(matches!(store.value(b"k"), Err(StoreError::Unavailable)));
    assert!(matches!(store.confirm(&[(b"v".to_vec(), 0)]), Err(StoreError::Unavailable)));
    assert!(matches!(store.recover(&AcceptsAll), Err(StoreError::Database(DatabaseError::Unreachable(_)))));
    cluster.run();
    store.recover(&AcceptsAll).unwrap();
    assert_eq!(store.value(b"k").unwrap().as_deref(), Some(b"v".as_slice()));
    store.commit(&put(b"k", b"w")).unwrap();
    assert_eq!(store.value(b"k").unwrap().as_deref(), Some(b"w".as_slice()));
}

#[test]
fn a_table_that_another_client_has_locked_is_an_outage() {
    let cluster = Cluster::start();
    let settings = settings(&cluster.url());
    let store = create(&settings).unwrap();
    store.commit(&put(b"k", b"v")).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let client = Session::connect(runtime.handle(), &settings, 0, drop).unwrap();
    let run = |text: &str| answered(runtime.handle(), ANSWER, client.client.batch_execute(text)).unwrap();
    run("BEGIN; LOCK TABLE quorate.record IN ACCESS EXCLUSIVE MODE");
    assert!(matches!(store.value(b"k"), Err(StoreError::Unavailable)));
    let reopened = store.recover(&AcceptsAll);
    let Err(StoreError::Database(DatabaseError::Unreachable(cause))) = reopened else {
        unreachable!("a locked table can be read: {reopened:?}");
    };
    assert!(cause.contains("lock timeout"), "{cause}");
    run("ROLLBACK");
    store.recover(&AcceptsAll).unwrap();
    assert_eq!(store.value(b"k").unwrap().as_deref(), Some(b"v".as_slice()));
}

#[test]
fn a_second_daemon_is_rejected() {
    let cluster = Cluster::start();
    let settings = settings(&cluster.url());
    let first = create(&settings).unwrap();
    assert_eq!(database_error(open(&settings)), DatabaseError::InUse);
    drop(first);
    open(&settings).unwrap();
}

#[test]
fn a_session_that_was_replaced_commits_nothing() {
    let cluster = Cluster::start();
    let store = create(&settings(&cluster.url())).unwrap();
    store.commit(&put(b"k", b"v")).unwrap();
    cluster.sql("UPDATE quorate.daemon SET session = session + 1");
    assert!(store.commit(&put(b"k", b"w")).is_err());
    assert_eq!(cluster.sql("SELECT convert_from(value, 'UTF8') FROM quorate.record"), "v\n");
    store.recover(&AcceptsAll).unwrap();
    store.commit(&put(b"k", b"w")).unwrap();
}

#[test]
fn only_a_store_that_was_never_used_is_cleared() {
    let cluster = Cluster::start();
    let settings = settings(&cluster.url());
    let records = || cluster.sql("SELECT count(*) FROM quorate.record");
    // A copy that was interrupted has records and no header.
    let store = create(&settings).unwrap();
    store.commit(&put(b"k", b"v")).unwrap();
    drop(store);
    let store = create(&settings).unwrap();
    store.clear_unused().unwrap();
    assert_eq!(records(), "0\n");
    store.commit(&put(b"k", b"v")).unwrap();
    store.set_header(b"header").unwrap();
    store.set_header(b"changed").unwrap();
    store.clear_unused().unwrap();
    cluster.sql("DELETE FROM quorate.meta WHERE name = 'header'");
    let kept = [store.clear_unused(), store.set_header(b"another")];
    assert!(kept.iter().all(|kept| matches!(kept, Err(StoreError::Database(DatabaseError::NoHeader)))));
    assert_eq!((records(), store.header().unwrap()), ("1\n".to_owned(), None));
}

#[test]
fn unsuitable_databases_are_rejected() {
    let mut cluster = Cluster::start();
    let on = |cluster: &Cluster, name: &str| database_error(create(&settings(&cluster.url_of(name))));
    assert_eq!(database_error(open(&settings(&cluster.url()))), DatabaseError::Missing);
    assert_eq!(on(&cluster, "missing"), DatabaseError::Absent);
    cluster.query("postgres", "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0");
    assert_eq!(on(&cluster, "latin"), DatabaseError::Encoding("LATIN1".to_owned()));
    cluster.query("postgres", "CREATE DATABASE other");
    cluster.query("other", "CREATE SCHEMA quorate; CREATE TABLE quorate.meta (price int)");
    assert_eq!(on(&cluster, "other"), DatabaseError::OtherSchema);
    cluster.query(
        "other",
        "DROP SCHEMA quorate CASCADE; ALTER DATABASE other SET default_transaction_read_only = on",
    );
    assert_eq!(on(&cluster, "other"), DatabaseError::ReadOnly);
    let unknown = cluster.url().replace("quorate@", "nobody@");
    assert!(matches!(database_error(create(&settings(&unknown))), DatabaseError::Login(_)));
    cluster.query("postgres", "CREATE ROLE guest LOGIN");
    let guest = cluster.url().replace("quorate@", "guest@");
    assert!(matches!(database_error(create(&settings(&guest))), DatabaseError::Rights(_)));
    drop(create(&settings(&cluster.url())).unwrap());
    cluster.sql("UPDATE quorate.meta SET value = int8send(3) WHERE name = 'level'");
    assert_eq!(on(&cluster, "quorate"), DatabaseError::Level(3));
    cluster.sql("UPDATE quorate.meta SET value = int8send(1) WHERE name = 'level'");
    for name in ["synchronous_commit", "full_page_writes", "fsync"] {
        cluster.set(&format!("{name} = off"));
        let expected =
            DatabaseError::Setting { name: name.to_owned(), value: "off".to_owned(), required: "on" };
        assert_eq!(on(&cluster, "quorate"), expected);
        cluster.set(&format!("{name} = on"));
    }
    drop(open(&settings(&cluster.url())).unwrap());
}

#[test]
fn urls_are_checked() {
    let check = |url: &str, expected: &str| {
        assert_eq!(url.parse::<DatabaseUrl>().unwrap_err(), expected, "{url}");
    };
    check("host=db", "must be a URL, such as \"postgres://quorate@db.example.org/quorate\"");
    check("postgres://a:secret@db/x", "must not contain a password; use password_file");
    check("postgres://a@db/x?sslmode=disable", "must not disable TLS for another machine");
    check("postgres://a@db", "must name a database");
    check("postgres://a@db:5432x/x", "must have a number from 1 to 65535 as port");
    check("postgres://a@db/x?port=70000", "must have a number from 1 to 65535 as port");
    check("postgres://a@db/x?connect_timeout=soon", "has an invalid connect_timeout");
    check(
        "postgres://a@db/x?secret=1",
        "has an unknown parameter after \"?\"; useful ones are host, port, options and sslmode",
    );
    check(
        "postgres://a@db/x?sslmode=verify-full",
        "must have \"require\", \"prefer\" or \"disable\" as sslmode; TLS to another machine always verifies the \
         certificate and the name of the server, as \"verify-full\" does",
    );
    check(
        "postgres://a@db/x?secret",
        "is not a valid URL of PostgreSQL, such as \"postgres://quorate@db.example.org/quorate\"",
    );
    check("postgres://db/x", "must name a user");
    for (url, needs_tls) in [
        ("postgres://a@db.example.org/x", true),
        ("postgres://a@127.0.0.1/x", false),
        ("postgres://a@[::1]:5433/x", false),
        ("postgres://a@localhost/x?sslmode=require", true),
        ("postgres://a@localhost,db.example.org/x", true),
        ("postgres://a@/x?host=/run/postgresql", false),
    ] {
        let config = settings(url).config(0, "a=b").unwrap();
        assert_eq!(config.get_ssl_mode() == tokio_postgres::config::SslMode::Require, needs_tls, "{url}");
    }
}

#[test]
fn a_password_that_was_changed_is_used_by_the_next_connection() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("password");
    let settings =
        DatabaseSettings { password_file: Some(file.clone()), ..settings("postgres://a@127.0.0.1/x") };
    assert!(matches!(settings.config(0, "a=b"), Err(DatabaseError::Login(_))));
    for password in ["first", "second"] {
        crate::private_file::replace(&file, format!("{password}\n").as_bytes()).unwrap();
        let config = settings.config(0, "a=b").unwrap();
        assert_eq!(config.get_password(), Some(password.as_bytes()));
    }
}

#[test]
fn triggers_are_rejected_and_their_warnings_are_no_failure() {
    let cluster = Cluster::start();
    let store = create(&settings(&cluster.url())).unwrap();
    cluster.sql(
        "CREATE FUNCTION public.warn() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'near the end'; \
         RETURN NEW; END $$; \
         CREATE TRIGGER warn BEFORE INSERT OR UPDATE ON quorate.record FOR EACH ROW EXECUTE FUNCTION public.warn()",
    );
    store.commit(&put(b"k", b"v")).unwrap();
    assert_eq!(store.value(b"k").unwrap().as_deref(), Some(&b"v"[..]));
    let reopened = store.recover(&AcceptsAll);
    assert!(
        matches!(&reopened, Err(StoreError::Database(DatabaseError::Table(name))) if name == "record"),
        "{reopened:?}"
    );
    cluster.sql("DROP TRIGGER warn ON quorate.record");
    store.recover(&AcceptsAll).unwrap();
}

#[test]
fn sessions_do_not_end_because_they_rest() {
    let cluster = Cluster::start();
    cluster.sql("ALTER DATABASE quorate SET idle_session_timeout = '200ms'");
    let store = create(&settings(&cluster.url())).unwrap();
    let setting = "SHOW idle_session_timeout";
    let shown = store.reading("testing", async |session: Arc<Session>| {
        session.client.query_one(setting, &[]).await?.try_get::<_, String>(0)
    });
    assert_eq!(shown.unwrap(), "0");
}
