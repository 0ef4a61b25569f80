//! What operators change on a database while a daemon runs: the daemon reports the reason, and continues by itself.

use std::fs;
use std::time::Instant;

use quorate_tests::cluster::Cluster;
use quorate_tests::daemon::POLL_INTERVAL;
use quorate_tests::fleet::Fleet;
use quorate_tests::http::TIMEOUT;
use quorate_tests::operator::Operator;
use quorate_tests::requests::{self, CREATE_WALLET};
use serde_json::json;

/// What `/readyz` states while the database cannot be used. Details are for operators only.
const NOT_READY: &str = "the database of the store cannot be reached or used";

/// Waits until the daemon is ready, or is not.
async fn until_ready(fleet: &Fleet, is_ready: bool) {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let reply = fleet.daemon(0).get("/readyz").await;
        if (reply.status == 200) == is_ready {
            assert!(is_ready || String::from_utf8_lossy(&reply.body).contains(NOT_READY), "{reply:?}");
            return;
        }
        assert!(Instant::now() < deadline, "{reply:?}: {}", fleet.log(0));
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Waits until the daemon reports this reason to operators, while requests are answered with 503.
async fn until_reported(fleet: &Fleet, words: &str) {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let status = fleet.daemon(0).get("/console/v1/status").await.success();
        let detail = status["store"]["detail"].as_str().unwrap_or_default().to_owned();
        if detail.contains(words) {
            break;
        }
        assert!(Instant::now() < deadline, "{words}: {status:#}: {}", fleet.log(0));
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    let refused = fleet.root(0, 0).submit(CREATE_WALLET, &requests::wallet(words)).await;
    assert_eq!(refused.status, 503, "{refused:?}");
    assert_eq!(fleet.root(0, 0).query("whoami", json!({})).await.status, 503);
    until_ready(fleet, false).await;
}

async fn assert_continues(fleet: &Fleet, name: &str) {
    until_ready(fleet, true).await;
    fleet.root(0, 0).completed(CREATE_WALLET, &requests::wallet(name)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settings_and_tables_that_change_are_noticed() {
    let fleet = Fleet::start(1, (1, 1), "").await;
    let cluster = &fleet.cluster;
    for (setting, words) in [
        ("fsync", "has fsync = off, with which commits may be lost"),
        ("full_page_writes", "has full_page_writes = off"),
    ] {
        // The daemon is idle.
        cluster.reload(&format!("{setting} = off"));
        until_reported(&fleet, words).await;
        cluster.reload(&format!("{setting} = on"));
        assert_continues(&fleet, setting).await;
    }
    cluster.reload("default_transaction_read_only = on");
    until_reported(&fleet, "the database is read-only").await;
    cluster.reload("default_transaction_read_only = off");
    assert_continues(&fleet, "read-only").await;
    // Sessions commit as durably as at their begin.
    cluster.reload("synchronous_commit = off");
    assert_continues(&fleet, "asynchronous").await;
    cluster.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'quorated'");
    until_reported(&fleet, "has synchronous_commit = off").await;
    cluster.reload("synchronous_commit = on");
    assert_continues(&fleet, "synchronous").await;
    for (change, back) in [
        ("ALTER TABLE quorate.record RENAME TO aside", "ALTER TABLE quorate.aside RENAME TO record"),
        (
            "ALTER TABLE quorate.record RENAME COLUMN value TO aside",
            "ALTER TABLE quorate.record RENAME COLUMN aside TO value",
        ),
    ] {
        cluster.sql(change);
        fleet.root(0, 0).submit(CREATE_WALLET, &requests::wallet("not stored")).await;
        until_reported(&fleet, "the table quorate.record is missing or was changed").await;
        cluster.sql(back);
        assert_continues(&fleet, change).await;
    }
    fleet.verify().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_becomes_a_standby_or_loses_the_database_is_an_outage() {
    let mut fleet = Fleet::start(1, (1, 1), "").await;
    fleet.root(0, 0).completed(CREATE_WALLET, &requests::wallet("before")).await;
    fleet.cluster.kill();
    until_reported(&fleet, ".s.PGSQL.5432: ").await;
    // Commands of operators state the reason.
    let operator = Operator::anywhere(&fleet.installation(0).path("run/socket"));
    let status = operator.run(&["status"]).await.with(0);
    assert!(status.output.contains("the database server cannot be reached: "), "{status:?}");
    let findings = operator.run(&["doctor"]).await.with(7);
    assert!(findings.output.contains("Check the database server and the network to it"), "{findings:?}");
    let signal = fleet.cluster.folder().join("data/standby.signal");
    fs::write(signal, "").expect("written");
    fleet.cluster.run();
    until_reported(&fleet, "the database server is a standby").await;
    fleet.cluster.query("postgres", "SELECT pg_promote()");
    assert_continues(&fleet, "promoted").await;
    fleet.cluster.query("postgres", "DROP DATABASE quorate WITH (FORCE)");
    until_reported(&fleet, "the database does not exist").await;
    fleet.cluster.query("postgres", "CREATE DATABASE quorate");
    until_reported(&fleet, "the database contains no store").await;
    assert_eq!(fleet.cluster.sql("SELECT to_regnamespace('quorate') IS NULL"), "t\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hot_standby_is_refused_at_the_start() {
    let fleet = Fleet::start(1, (1, 1), "").await;
    let standby = fleet.cluster.standby();
    let configuration =
        fs::read_to_string(fleet.installation(0).path("quorated.toml")).expect("a configuration");
    let on_standby = configuration.replace(&fleet.cluster.url(), &standby.url());
    let words = "the database server is a standby; [store] url must name the primary";
    for (command, folder) in [("join", "other"), ("serve", "data")] {
        let text = on_standby.replace("path = \"data\"", &format!("path = \"{folder}\""));
        fleet.installation(0).configure(&text);
        let run = fleet.installation(0).run(command, &[]).await;
        // The data folder of the daemon that runs is in use.
        let is_used = command == "serve" && run.code == 6;
        assert!(is_used || (run.code == 3 && run.stderr.contains(words)), "{run:#?}");
    }
    drop::<Cluster>(standby);
    fleet.root(0, 0).completed(CREATE_WALLET, &requests::wallet("on the primary")).await;
}
