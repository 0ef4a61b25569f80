//! `f2`: the daemon dies at each named fail point, at its first start and under load.

use std::time::Instant;

use quorate_tests::cluster::Cluster;
use quorate_tests::daemon::{Daemon, POLL_INTERVAL};
use quorate_tests::http::TIMEOUT;
use quorate_tests::load::{Load, Mix};
use quorate_tests::mailbox::Mailbox;
use quorate_tests::receiver::Receiver;
use quorated::fail_points::NAMES;
use serde_json::json;

use crate::engine::Engine;
use crate::scenario::Scenario;

/// Upper bound of how often a point is passed before the daemon dies there.
const MAX_PASSES: usize = 6;

/// Returns the variables that make the daemon die after it has passed a point this many times.
fn dies_at(name: &str, passed: usize) -> Vec<(String, String)> {
    let actions = if passed > 0 { format!("{passed}*off->return") } else { "return".to_owned() };
    vec![("FAIL_POINTS".to_owned(), format!("{name}={actions}"))]
}

/// Returns whether a daemon passes the point once before it serves.
fn is_startup_point(name: &str) -> bool {
    ["start.", "file."].iter().any(|prefix| name.starts_with(prefix))
}

/// Returns how often a daemon under load certainly passes a point before it dies there.
fn max_passes(name: &str) -> usize {
    match name {
        name if is_startup_point(name) => 1,
        // Both are cached in memory, and there are two organizations.
        "snapshot.read" | "key.load" => 2,
        _ => MAX_PASSES,
    }
}

/// Returns whether only exchanges with an OAuth 2.0 provider, copies of a store, backups, journals or rotations pass the point. They
/// are no part of the load: `tests/e2e/oauth2.rs`, `tests/e2e/store_copy.rs`, `tests/e2e/backups.rs`, `tests/e2e/journal.rs` and
/// `tests/e2e/rotation.rs` kill the process there.
fn is_elsewhere(name: &str) -> bool {
    ["exchange.", "copy.", "backup.", "journal.", "restore.", "term.", "seal_again."]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

/// Returns whether only the first start of an installation passes the point.
fn is_first_start_point(name: &str) -> bool {
    name.starts_with("identity.")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f2_killed_at_each_point_of_the_first_start() {
    let mut scenario = Scenario::begin("f2 first start", 1, 20);
    let mut kills = 0;
    for round in 0..scenario.rounds() {
        for name in NAMES {
            scenario.step(format!("round {round}, {name}"));
            let folder = tempfile::tempdir().expect("a folder");
            let data = folder.path().join("data");
            let database = (scenario.engine() == Engine::Postgres).then(Cluster::start);
            let options = scenario.engine().options(1, 1);
            let options = match &database {
                Some(cluster) => options.on_database(cluster.url()),
                None => options,
            };
            let armed = options.clone().with_variables(dies_at(name, round / 4));
            let started = Daemon::try_start_on(armed, &data).await;
            let must_die = round == 0 && (is_startup_point(name) || is_first_start_point(name));
            assert!(
                started.is_err() || !must_die,
                "the first start does not pass {name}: is the daemon built without fail points?"
            );
            if let Err(ended) = started {
                assert!(ended.log.contains(name), "exited elsewhere: {}", ended.log);
                kills += 1;
                let daemon = Daemon::start_on(options, &data).await;
                daemon.root(0).fetch("whoami", json!({})).await;
            }
        }
    }
    let points = NAMES.len();
    scenario.close(format!("{kills} kills at {points} points, each following start served"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f2_killed_at_each_point_under_load() {
    let mut scenario = Scenario::begin("f2 fail points", 1, 100);
    let (mut kills, mut acknowledged) = (0, 0);
    let mailbox = Mailbox::start(0);
    let receiver = Receiver::start().await;
    for round in 0..scenario.rounds() {
        let mut daemon = Daemon::start(scenario.engine().options(1, 1).with_mail(mailbox.url())).await;
        let hook = json!({ "name": "FEATURE_NAME_WEBHOOK", "value": receiver.url("/") });
        daemon.root(0).result("ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE", &hook).await;
        let mix = Mix { deletions: true, invitations: true, ..Mix::default() };
        let mut load = Load::prepare_mix(&daemon, mix).await;
        for (number, name) in NAMES.into_iter().enumerate() {
            // Only sled and redb apply a group before it is durable.
            let is_missing = name == "store.applied" && scenario.engine() == Engine::Postgres;
            if is_missing || is_first_start_point(name) || is_elsewhere(name) {
                continue;
            }
            scenario.step(format!("round {round}, {name}"));
            let most = if round == 0 { 1 } else { max_passes(name) };
            let passed = scenario.choices(round * NAMES.len() + number).below(most);
            daemon.set_variables(dies_at(name, passed));
            if daemon.try_restart().await.is_ok() {
                let running = load.start(&daemon);
                let deadline = Instant::now() + TIMEOUT;
                while daemon.is_alive() {
                    assert!(Instant::now() < deadline, "the daemon does not pass {name}");
                    tokio::time::sleep(POLL_INTERVAL).await;
                }
                daemon.ended().await;
                running.join().await;
            }
            kills += 1;
            daemon.set_variables(Vec::new());
            daemon.restart().await;
            load.examine(&daemon).await;
        }
        acknowledged += load.acknowledged();
    }
    let points = NAMES.len();
    scenario.close(format!(
        "{kills} kills at {points} points, {acknowledged} requests acknowledged, 0 lost, 0 duplicated, 0 partial"
    ));
}
