//! `f4`: the Nth call on a file of the store fails, for N = 1, 2, ... until no call fails any more. This is tested
//! with ten kinds of activities, at the start and under load.

use std::time::{Duration, Instant};

use quorate_tests::caller::submit_path;
use quorate_tests::daemon::{Daemon, POLL_INTERVAL};
use quorate_tests::http::{Reply, TIMEOUT};
use quorate_tests::load::{Load, Mix, Unavailable};
use serde_json::{Value, json};

use crate::layer::{Calls, Fault, Layer};
use crate::operations::{KINDS, Operation, Stage};
use crate::scenario::{Longest, Scenario};

/// Time limit for a daemon to accept writes again once the cause of a failure is gone.
pub(crate) const RECOVERY: Duration = Duration::from_secs(5);
const FAULTS: [Fault; 4] = [Fault::Broken, Fault::Full, Fault::Interrupted, Fault::Short];
/// Upper bound of the calls of an activity.
const MOST_CALLS: usize = 200;

/// Starts a daemon under a layer, with one root user who decides alone.
pub(crate) async fn daemon_under(scenario: &Scenario, layer: &Layer, folder: &std::path::Path) -> Daemon {
    let data = folder.join("data");
    let options = scenario.engine().options(1, 1).with_variables(layer.variables(&data));
    Daemon::start_on(options, &data).await
}

/// Sends a request.
pub(crate) async fn send(daemon: &Daemon, operation: &Operation) -> Reply {
    daemon.root(0).send(&submit_path(operation.activity_type), &operation.body).await
}

/// Sends a request until it is accepted, for at most [`RECOVERY`].
pub(crate) async fn retry_until_accepted(daemon: &Daemon, operation: &Operation) -> Value {
    let deadline = Instant::now() + RECOVERY;
    loop {
        let reply = send(daemon, operation).await;
        if reply.status != 503 {
            return reply.activity_in("COMPLETED");
        }
        assert!(Instant::now() < deadline, "no writes are accepted {RECOVERY:?} after the fault{reply}");
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Returns whether an answer is a success or reports a store that accepts no writes.
pub(crate) fn is_clean(reply: &Reply) -> bool {
    matches!(reply.status, 200 | 503)
}

/// Asserts that two answers to one body are equal, if both were successes.
fn assert_same(first: Option<&Value>, second: &Value) {
    if let Some(first) = first {
        assert_eq!(
            (&first["id"], &first["result"]),
            (&second["id"], &second["result"]),
            "acknowledged, then changed"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f4_each_call_of_an_activity_fails() {
    let mut scenario = Scenario::begin("f4 failing calls", 1, 4);
    let (mut failures, mut rejected) = (0, 0);
    let layer = Layer::new();
    let folder = tempfile::tempdir().expect("a folder");
    let mut daemon = daemon_under(&scenario, &layer, folder.path()).await;
    let mut stage = Stage::prepare(&daemon).await;
    for round in 0..scenario.rounds() {
        for (number, kind) in KINDS.into_iter().enumerate() {
            // In the long form every fault is combined with every kind.
            let fault = FAULTS[(number + round) % FAULTS.len()];
            let persists = matches!(fault, Fault::Broken | Fault::Full)
                && (number / FAULTS.len() + round).is_multiple_of(2);
            for call in 1..MOST_CALLS {
                scenario
                    .step(format!("round {round}, {kind}, {fault:?} at call {call}, persists: {persists}"));
                let operation = stage.operation(&daemon.root(0), kind).await;
                layer.fail(Calls::All, call, fault, persists);
                let reply = send(&daemon, &operation).await;
                let reached = layer.failures() > 0;
                let tried = layer.calls();
                layer.heal();
                assert!(tried > 0, "the activity accessed no file through the C library");
                assert!(is_clean(&reply), "neither a success nor a clean error{reply}");
                let first = (reply.status == 200).then(|| reply.activity_in("COMPLETED"));
                rejected += usize::from(first.is_none());
                assert_same(first.as_ref(), &retry_until_accepted(&daemon, &operation).await);
                if reached {
                    failures += 1;
                    daemon.restart().await;
                }
                assert_same(first.as_ref(), &send(&daemon, &operation).await.activity_in("COMPLETED"));
                if !reached {
                    assert!(call > 1, "no call failed");
                    break;
                }
            }
        }
    }
    let kinds = KINDS.len();
    scenario.close(format!(
        "{failures} failed calls in {kinds} kinds, {rejected} answered with an error, 0 lost, 0 duplicated"
    ));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f4_each_call_of_a_start_fails() {
    let mut scenario = Scenario::begin("f4 failing calls at the start", 1, 4);
    let (mut failures, mut rejected) = (0, 0);
    for round in 0..scenario.rounds() {
        let fault = FAULTS[round % FAULTS.len()];
        let layer = Layer::new();
        let folder = tempfile::tempdir().expect("a folder");
        let mut daemon = daemon_under(&scenario, &layer, folder.path()).await;
        let mut stage = Stage::prepare(&daemon).await;
        let operation = stage.operation(&daemon.root(0), KINDS[0]).await;
        let first = send(&daemon, &operation).await.activity_in("COMPLETED");
        for call in 1..MOST_CALLS {
            scenario.step(format!("{fault:?} at call {call} of a start"));
            daemon.kill();
            layer.fail(Calls::All, call, fault, false);
            let started = daemon.try_restart().await;
            let reached = layer.failures() > 0;
            layer.heal();
            if let Err(ended) = &started {
                rejected += 1;
                assert!(ended.status.code().is_some(), "ended by a signal: {}", ended.log);
                assert!(!ended.log.contains("panicked at"), "{}", ended.log);
            }
            daemon.restart().await;
            daemon.root(0).fetch("whoami", json!({})).await;
            assert_same(Some(&first), &send(&daemon, &operation).await.activity_in("COMPLETED"));
            if !reached {
                break;
            }
            failures += 1;
        }
    }
    scenario.close(format!(
        "{failures} failed calls, {rejected} starts failed, each next start served everything"
    ));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f4_calls_fail_under_load() {
    // Upper bound of the failing call: an activity and the next few.
    const CALLS: usize = 24;
    const ROUNDS: usize = 10;
    let mut scenario = Scenario::begin("f4 failing calls under load", 20, 1000);
    let (mut acknowledged, mut recovered) = (0, Longest::default());
    for first in (0..scenario.rounds()).step_by(ROUNDS) {
        let layer = Layer::new();
        let folder = tempfile::tempdir().expect("a folder");
        let mut daemon = daemon_under(&scenario, &layer, folder.path()).await;
        let mix = Mix { unavailable: Unavailable::Repeats, deletions: true, ..Mix::default() };
        let mut load = Load::prepare_mix(&daemon, mix).await;
        let mut running = load.start(&daemon);
        for round in first..scenario.rounds().min(first + ROUNDS) {
            let mut choices = scenario.choices(round);
            let (call, fault) = (choices.below(CALLS) + 1, FAULTS[choices.below(2)]);
            scenario.step(format!("round {round}, {fault:?} at call {call}"));
            running.until_acknowledged(3).await;
            layer.fail(Calls::All, call, fault, round % 2 == 0);
            let deadline = Instant::now() + TIMEOUT;
            while layer.failures() == 0 {
                assert!(Instant::now() < deadline, "no call fails");
                tokio::time::sleep(POLL_INTERVAL).await;
            }
            layer.heal();
            let begun = Instant::now();
            running.until_next_acknowledged(RECOVERY).await;
            recovered.add(begun.elapsed());
        }
        running.stop();
        running.join().await;
        load.examine(&daemon).await;
        // A restart would revert what was never durable.
        daemon.restart().await;
        load.examine(&daemon).await;
        acknowledged += load.acknowledged();
    }
    let (rounds, longest) = (scenario.rounds(), recovered.millis());
    scenario.close(format!(
        "{rounds} failed calls, {acknowledged} requests acknowledged, 0 lost; writes accepted again within {longest} ms"
    ));
}
