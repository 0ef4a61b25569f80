//! Databases that cannot be the store of a daemon: each has its own message and exit code, and nothing is written.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use quorate_tests::cluster::Cluster;
use quorate_tests::installation::{Installation, Run};
use quorate_tests::keys::Key;
use quorate_tests::pooler::Pooler;

const UNUSABLE: i32 = 3;
const NO_KEY: i32 = 4;
const WRONG_KEY: i32 = 5;
const DAMAGED: i32 = 7;
const LOST: i32 = 10;

fn configuration(url: &str) -> String {
    format!(
        "[socket]\npath = \"run/socket\"\n\n[store]\npath = \"data\"\nengine = \"postgres\"\nurl = \"{url}\"\n\n[key]\n\
         file = \"root.key\"\n"
    )
}

fn installation(url: &str) -> Installation {
    let installation = Installation::new("");
    installation.configure(&configuration(url));
    installation
}

async fn init(installation: &Installation) -> Run {
    let root_user = format!("root={}", Key::named("first root user").public_key());
    installation.run("init", &["--name", "first", "--root-user", &root_user]).await
}

#[track_caller]
fn assert_run(run: &Run, code: i32, words: &str) {
    assert_eq!(run.code, code, "{words}: {run:#?}");
    assert!(run.stderr.contains(words), "{words}: {run:#?}");
}

/// Ways to operate a pooler: each mode, small and large pools, servers in turn, and a parameter of clients that is ignored.
fn poolers() -> impl Iterator<Item = String> {
    let modes = ["transaction", "statement", "session"];
    let pools = ["default_pool_size=1", "default_pool_size=20", "server_round_robin=1\nmin_pool_size=3"];
    modes.into_iter().flat_map(move |mode| {
        pools.into_iter().flat_map(move |pool| {
            ["", "ignore_startup_parameters=options"]
                .map(|ignored| format!("pool_mode={mode}\n{pool}\n{ignored}"))
        })
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pooler_is_refused_before_anything_is_written() {
    const WORDS: &str = "the database is reached through a pooler";
    let cluster = Cluster::start();
    let (first, second) = (installation(&cluster.url()), installation(&cluster.url()));
    for settings in poolers() {
        let pooler = Pooler::start(&cluster, &settings).await;
        first.configure(&configuration(&pooler.url()));
        assert_run(&init(&first).await, UNUSABLE, WORDS);
        assert_eq!(cluster.sql("SELECT to_regnamespace('quorate') IS NULL"), "t\n", "{settings}");
        let locks = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'";
        assert_eq!(cluster.sql(locks), "0\n", "{settings}");
    }
    first.configure(&configuration(&cluster.url()));
    assert_eq!(init(&first).await.code, 0);
    fs::copy(first.path("root.key"), second.path("root.key")).expect("copied");
    fs::set_permissions(second.path("root.key"), fs::Permissions::from_mode(0o600)).expect("permitted");
    for settings in poolers().filter(|settings| settings.ends_with("options")) {
        let pooler = Pooler::start(&cluster, &settings).await;
        // Another client has an open transaction, where it would not keep the daemon from the only session.
        let is_busy = settings.contains("transaction") && !settings.contains("size=1\n");
        let _others = is_busy.then(|| [pooler.session("BEGIN; SELECT 1"), pooler.session("SELECT 1")]);
        for (daemon, command) in [(&first, "serve"), (&second, "join"), (&first, "verify")] {
            daemon.configure(&configuration(&pooler.url()));
            assert_run(&daemon.run(command, &[]).await, UNUSABLE, WORDS);
        }
        assert_eq!(cluster.sql("SELECT count(*) FROM quorate.daemon"), "0\n", "{settings}");
    }
    for daemon in [&first, &second] {
        daemon.configure(&configuration(&cluster.url()));
    }
    assert_eq!(second.run("join", &[]).await.code, 0);
    drop((first.serve().await, second.serve().await));
}

/// Role without special rights, which owns databases.
const ROLE: &str = "app";

fn url(cluster: &Cluster, role: &str, database: &str) -> String {
    cluster.url_of(database).replace("quorate@", &format!("{role}@"))
}

/// Statements that prepare a database `broken`, the role that uses it, and words of the message.
const BEFORE_INIT: &[(&[&str], &str, &str)] = &[
    (&[], ROLE, "the database does not exist; create it with CREATE DATABASE"),
    (&["CREATE DATABASE broken OWNER app ENCODING 'LATIN1' TEMPLATE template0"], ROLE, "has encoding LATIN1"),
    (
        &["CREATE DATABASE broken OWNER app ENCODING 'SQL_ASCII' TEMPLATE template0"],
        ROLE,
        "has encoding SQL_ASCII; create it with ENCODING 'UTF8'",
    ),
    (
        &["CREATE DATABASE broken OWNER app", "ALTER DATABASE broken SET default_transaction_read_only = on"],
        ROLE,
        "the database is read-only; set default_transaction_read_only = off",
    ),
    (
        &["CREATE DATABASE broken OWNER app", "ALTER DATABASE broken SET synchronous_commit = local"],
        ROLE,
        "has synchronous_commit = local, with which commits may be lost; set synchronous_commit = on",
    ),
    (
        &["CREATE DATABASE broken OWNER careless", "ALTER ROLE careless SET synchronous_commit = off"],
        "careless",
        "has synchronous_commit = off, with which commits may be lost",
    ),
    (&["CREATE DATABASE broken"], ROLE, "the database user lacks rights: db error: ERROR: permission denied"),
    (
        &["CREATE DATABASE broken OWNER app", "REVOKE CONNECT ON DATABASE broken FROM PUBLIC, app"],
        ROLE,
        "the database user lacks rights: db error: FATAL: permission denied for database",
    ),
    (
        &["CREATE DATABASE broken"],
        "nobody",
        "rejected the login: db error: FATAL: role \"nobody\" does not exist",
    ),
    (
        &["CREATE DATABASE broken"],
        "banned",
        "rejected the login: db error: FATAL: pg_hba.conf rejects connection",
    ),
    (
        &["CREATE DATABASE broken OWNER limited"],
        "limited",
        "accepts no more connections: db error: FATAL: too many connections for role",
    ),
    (
        &["CREATE DATABASE broken OWNER app CONNECTION LIMIT 4"],
        ROLE,
        "accepts no more connections: db error: FATAL: too many connections for database",
    ),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_unsuitable_database_has_its_message() {
    let cluster = Cluster::start();
    cluster.sql("CREATE ROLE app LOGIN; CREATE ROLE careless LOGIN; CREATE ROLE banned LOGIN");
    cluster.sql("CREATE ROLE limited LOGIN CONNECTION LIMIT 3");
    cluster.admit("local all banned reject\nlocal all all trust\n");
    let installation = installation("");
    for (statements, role, words) in BEFORE_INIT {
        for statement in *statements {
            cluster.query("postgres", statement);
        }
        installation.configure(&configuration(&url(&cluster, role, "broken")));
        assert_run(&init(&installation).await, UNUSABLE, words);
        if !statements.is_empty() {
            assert_eq!(
                cluster.query("broken", "SELECT to_regnamespace('quorate') IS NULL"),
                "t\n",
                "{words}"
            );
        }
        cluster.query("postgres", "DROP DATABASE IF EXISTS broken");
    }
    // The message names the socket, and the address.
    installation.configure(&configuration("postgres://quorate@/quorate?host=/nowhere"));
    let words = "cannot be reached: /nowhere/.s.PGSQL.5432: No such file or directory";
    assert_run(&init(&installation).await, UNUSABLE, words);
    installation.configure(&configuration("postgres://quorate@127.0.0.1:1/quorate"));
    assert_run(&init(&installation).await, UNUSABLE, "cannot be reached: 127.0.0.1:1: Connection refused");
    // Something else uses the schema.
    cluster.query("postgres", "CREATE DATABASE broken OWNER app");
    cluster.query("broken", "CREATE SCHEMA quorate; CREATE TABLE quorate.meta (price int)");
    cluster.query("broken", "GRANT ALL ON SCHEMA quorate TO app; GRANT ALL ON quorate.meta TO app");
    installation.configure(&configuration(&url(&cluster, ROLE, "broken")));
    assert_run(&init(&installation).await, UNUSABLE, "is not that of a store; use another database");
    assert_eq!(cluster.query("broken", "SELECT count(*) FROM pg_tables WHERE schemaname = 'quorate'"), "1\n");
    // After all that, the same configuration creates a store.
    cluster.sql("ALTER DATABASE quorate OWNER TO app");
    installation.configure(&configuration(&url(&cluster, ROLE, "quorate")));
    let created = init(&installation).await;
    assert_eq!(created.code, 0, "{created:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_problem_with_the_password_has_its_message() {
    let cluster = Cluster::start();
    cluster.sql("CREATE ROLE app LOGIN PASSWORD 'correct'; ALTER DATABASE quorate OWNER TO app");
    cluster.admit("local all app scram-sha-256\nlocal all all trust\n");
    let installation = installation("");
    let url = url(&cluster, ROLE, "quorate");
    installation.configure(&configuration(&url));
    let words = "quorated: the database server requires a password; set password_file in [store]\n";
    assert_run(&init(&installation).await, UNUSABLE, words);
    installation.configure(&configuration(&format!("{url}\"\npassword_file = \"db-password")));
    assert_run(&init(&installation).await, UNUSABLE, "quorated: [store] password_file: cannot read ");
    installation.write_secret("db-password", "");
    let words = "db-password begins with an empty line; write the secret to its first line";
    assert_run(&init(&installation).await, UNUSABLE, words);
    installation.write_secret("db-password", "wrong\n");
    assert_run(&init(&installation).await, UNUSABLE, "the database server rejected the login: ");
    let file = installation.path("db-password");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("permitted");
    assert_run(&init(&installation).await, WRONG_KEY, "[store] password_file: the secret file ");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("permitted");
    installation.write_secret("db-password", "correct\n");
    assert_run(&init(&installation).await, 0, "");
}

/// Changes of a store, how each is undone, the exit code of a start, and words of its message.
const AFTER_INIT: &[(&str, &str, i32, &str)] = &[
    (
        "ALTER TABLE quorate.record RENAME TO aside",
        "ALTER TABLE quorate.aside RENAME TO record",
        DAMAGED,
        "the table quorate.record is missing or was changed; restore the database from a backup",
    ),
    (
        "ALTER TABLE quorate.queue RENAME COLUMN value TO content",
        "ALTER TABLE quorate.queue RENAME COLUMN content TO value",
        DAMAGED,
        "the table quorate.queue is missing or was changed",
    ),
    (
        "ALTER TABLE quorate.register DROP CONSTRAINT register_pkey",
        "ALTER TABLE quorate.register ADD PRIMARY KEY (key)",
        DAMAGED,
        "the table quorate.register is missing or was changed",
    ),
    (
        "ALTER TABLE quorate.record SET UNLOGGED",
        "ALTER TABLE quorate.record SET LOGGED",
        DAMAGED,
        "the table quorate.record is missing or was changed",
    ),
    (
        "ALTER TABLE quorate.daemon ALTER last_group TYPE text",
        "ALTER TABLE quorate.daemon ALTER last_group TYPE bigint USING last_group::bigint",
        DAMAGED,
        "the table quorate.daemon is missing or was changed",
    ),
    (
        "UPDATE quorate.meta SET value = int8send(9) WHERE name = 'level'",
        "UPDATE quorate.meta SET value = int8send(2) WHERE name = 'level'",
        DAMAGED,
        "has level 9, which this version of quorated cannot read; update quorated",
    ),
    (
        "ALTER SCHEMA quorate RENAME TO aside",
        "ALTER SCHEMA aside RENAME TO quorate",
        LOST,
        "the database contains no store; check [store] url, or restore the database from a backup",
    ),
    (
        "ALTER TABLE quorate.record OWNER TO quorate",
        "ALTER TABLE quorate.record OWNER TO app",
        UNUSABLE,
        "the database user lacks rights: permission denied for table record",
    ),
    (
        "ALTER TABLE quorate.daemon OWNER TO quorate; GRANT SELECT ON quorate.daemon TO app",
        "ALTER TABLE quorate.daemon OWNER TO app",
        UNUSABLE,
        "the database user lacks rights: permission denied for table daemon",
    ),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_changed_store_and_a_wrong_root_key_have_their_messages() {
    let cluster = Cluster::start();
    cluster.sql("CREATE ROLE app LOGIN; ALTER DATABASE quorate OWNER TO app");
    let (first, second) =
        (installation(&url(&cluster, ROLE, "quorate")), installation(&url(&cluster, ROLE, "quorate")));
    assert_eq!(init(&first).await.code, 0);
    let records = "SELECT md5(string_agg(key::text || value::text, '' ORDER BY key)) FROM quorate.record";
    let before = cluster.sql(records);
    let missing = format!(
        "key file {} not found, and the store in the database needs it",
        second.path("root.key").display()
    );
    assert_run(&second.run("join", &[]).await, NO_KEY, &missing);
    second.write_secret("root.key", &"ab".repeat(32));
    assert_run(
        &second.run("join", &[]).await,
        WRONG_KEY,
        "wrong key: it does not decrypt the store in the database",
    );
    assert!(!second.path("data/quorate.json").exists() && !second.path("data/guard").exists());
    for (change, back, code, words) in AFTER_INIT {
        cluster.sql(change);
        assert_run(&first.run("serve", &[]).await, *code, words);
        cluster.sql(back);
    }
    assert_eq!(cluster.sql(records), before, "a refused start changes nothing");
    fs::copy(first.path("root.key"), second.path("root.key")).expect("copied");
    assert_eq!(second.run("join", &[]).await.code, 0);
    drop((first.serve().await, second.serve().await));
}
