//! Another client of the database, which locks tables and rows and ends sessions, and a disk of the database that is full:
//! nothing is lost or executed twice, each request is answered in time, and the daemons continue by themselves.

use std::time::{Duration, Instant};

use quorate_tests::cluster::Cluster;
use quorate_tests::daemon::POLL_INTERVAL;
use quorate_tests::disk::Disk;
use quorate_tests::fleet::Fleet;
use quorate_tests::writers::{LIMITS, Writers};
use serde_json::json;

/// Returns whether the long form runs.
fn is_long() -> bool {
    std::env::var("FAULTS").is_ok_and(|form| form == "full")
}

/// Locks that stop commits: the first ones in each form, all in the long form.
const LOCKS: &[&str] = &[
    "BEGIN; LOCK TABLE quorate.record IN ACCESS EXCLUSIVE MODE",
    "BEGIN; SELECT FROM quorate.daemon FOR UPDATE",
    "BEGIN; LOCK TABLE quorate.register IN ACCESS EXCLUSIVE MODE",
    "BEGIN; SELECT FROM quorate.register FOR UPDATE",
    "BEGIN; LOCK TABLE quorate.daemon IN ACCESS EXCLUSIVE MODE",
    "BEGIN; LOCK TABLE quorate.feed IN ACCESS EXCLUSIVE MODE",
];
/// Locks registers in the order that leads to deadlocks with commits.
const DEADLOCKS: &str = "DO $$ BEGIN \
    PERFORM set_config('deadlock_timeout', '10ms', false); COMMIT; FOR number IN 1..30 LOOP BEGIN \
    PERFORM FROM quorate.register WHERE key = (SELECT max(key) FROM quorate.register) FOR UPDATE; \
    PERFORM pg_sleep(0.02); \
    PERFORM FROM quorate.register WHERE key = (SELECT min(key) FROM quorate.register) FOR UPDATE; \
    EXCEPTION WHEN OTHERS THEN NULL; END; COMMIT; END LOOP; END $$";
const TERMINATE: &str =
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'quorated'";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f25_locks_deadlocks_and_ended_sessions_lose_and_repeat_nothing() {
    let fleet = Fleet::start(2, (1, 1), LIMITS).await;
    let mut writers = Writers::start(&fleet);
    writers.progress(20).await;
    for lock in LOCKS.iter().take(if is_long() { LOCKS.len() } else { 2 }) {
        eprintln!("{lock}");
        let session = fleet.cluster.session(lock);
        // All writers wait, and are answered.
        let refused = writers.refused() + 12;
        writers.until(|writers| writers.refused() >= refused).await;
        drop(session);
        writers.progress(20).await;
    }
    fleet.cluster.sql(DEADLOCKS);
    writers.progress(20).await;
    let end = Instant::now() + Duration::from_secs(if is_long() { 20 } else { 3 });
    while Instant::now() < end {
        fleet.cluster.sql(TERMINATE);
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    writers.progress(20).await;
    let (refused, count) = (writers.refused(), writers.examine(&fleet.root(1, 0)).await);
    eprintln!("{count} activities acknowledged, {refused} answers with status 503, none lost");
    fleet.verify().await;
}

async fn until_readiness(fleet: &Fleet, words: &str) {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let reply = fleet.daemon(0).get("/readyz").await;
        if String::from_utf8_lossy(&reply.body).contains(words) {
            return;
        }
        assert!(Instant::now() < deadline, "{words}: {reply:?}");
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f25_a_full_disk_of_the_tables_is_reported_and_left_by_itself() {
    let Ok(disk) = Disk::of_memory(64 << 20) else {
        eprintln!("SKIPPED: a full disk of PostgreSQL needs root");
        return;
    };
    let cluster = Cluster::start();
    cluster.move_database(&disk.root());
    let fleet = Fleet::start_on(cluster, 2, (1, 1), LIMITS).await;
    let mut writers = Writers::start(&fleet);
    for _ in 0..2 {
        writers.progress(20).await;
        disk.fill();
        until_readiness(&fleet, "the file system of the store is full").await;
        let status = fleet.daemon(0).get("/console/v1/status").await.success();
        assert_eq!(status["store"]["state"], "full", "{status:#}");
        let detail = status["store"]["detail"].as_str().expect("a cause");
        assert!(detail.contains("the database server has no space left"), "{detail}");
        // Reads continue.
        fleet.root(0, 0).fetch("whoami", json!({})).await;
        let refused = writers.refused() + 12;
        writers.until(|writers| writers.refused() >= refused).await;
        disk.free();
        writers.progress(50).await;
    }
    writers.examine(&fleet.root(1, 0)).await;
    fleet.verify().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f25_a_full_disk_of_the_log_is_an_outage() {
    let Ok(disk) = Disk::of_memory(64 << 20) else {
        eprintln!("SKIPPED: a full disk of PostgreSQL needs root");
        return;
    };
    let mut fleet = Fleet::start_on(Cluster::start_with_log_in(&disk.root()), 2, (1, 1), LIMITS).await;
    let mut writers = Writers::start(&fleet);
    writers.progress(20).await;
    disk.fill();
    // The server writes until it needs a new file of its log, and ends.
    until_readiness(&fleet, "the database of the store cannot be reached or used").await;
    let refused = writers.refused() + 12;
    writers.until(|writers| writers.refused() >= refused).await;
    disk.free();
    fleet.crash_database();
    writers.progress(50).await;
    writers.examine(&fleet.root(1, 0)).await;
    fleet.verify().await;
}
