//! `f2`: the daemon dies at each of its named fail points, at its first start and under load.

use std::time::Instant;

use quorate_tests::daemon::{Daemon, GLANCE};
use quorate_tests::http::PATIENCE;
use quorate_tests::load::{Load, Mix};
use quorate_tests::mailbox::Mailbox;
use quorate_tests::receiver::Receiver;
use quorated::fail_points::NAMES;
use serde_json::json;

use crate::scenario::Scenario;

/// Below this is how often a point may be passed before the daemon dies there.
const PASSED: usize = 6;

/// Makes the daemon die when it has passed a point so many times.
fn dies_at(name: &str, passed: usize) -> Vec<(String, String)> {
    let actions = if passed > 0 { format!("{passed}*off->return") } else { "return".to_owned() };
    vec![("FAIL_POINTS".to_owned(), format!("{name}={actions}"))]
}

/// Points that a daemon passes before it serves, and none of them twice.
fn is_of_the_start(name: &str) -> bool {
    ["start.", "file."].iter().any(|prefix| name.starts_with(prefix))
}

/// How often a daemon under load is sure to pass a point before it dies there.
fn most_passed(name: &str) -> usize {
    match name {
        name if is_of_the_start(name) => 1,
        // Both are kept in memory, and there are two organizations.
        "snapshot.read" | "key.load" => 2,
        _ => PASSED,
    }
}

/// Points that only the first start of an installation passes.
fn is_of_the_first_start(name: &str) -> bool {
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
            let options = scenario.engine().options(1, 1);
            let armed = options.clone().with_variables(dies_at(name, round / 4));
            let started = Daemon::try_start_on(armed, &data).await;
            let must_die = round == 0 && (is_of_the_start(name) || is_of_the_first_start(name));
            assert!(
                started.is_err() || !must_die,
                "the first start does not pass {name}: is the daemon built without fail points?"
            );
            if let Err(ended) = started {
                assert!(ended.complaint.contains(name), "ended elsewhere: {}", ended.complaint);
                kills += 1;
                let daemon = Daemon::start_on(options, &data).await;
                daemon.root(0).ask("whoami", json!({})).await;
            }
        }
    }
    let points = NAMES.len();
    scenario.close(format!("{kills} kills at {points} points, each start after that served"));
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
            if is_of_the_first_start(name) {
                continue;
            }
            scenario.step(format!("round {round}, {name}"));
            let most = if round == 0 { 1 } else { most_passed(name) };
            let passed = scenario.choices(round * NAMES.len() + number).below(most);
            daemon.set_variables(dies_at(name, passed));
            if daemon.try_restart().await.is_ok() {
                let running = load.start(&daemon);
                let deadline = Instant::now() + PATIENCE;
                while daemon.is_alive() {
                    assert!(Instant::now() < deadline, "the daemon does not pass {name}");
                    tokio::time::sleep(GLANCE).await;
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
        "{kills} kills at {points} points, {acknowledged} requests acknowledged, 0 lost, 0 twice, 0 half"
    ));
}
