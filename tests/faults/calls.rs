//! `f4`: the Nth call on a file of the store fails, for N = 1, 2, ... until nothing fails any more, under ten kinds of
//! activities, at the start and under load.

use std::time::{Duration, Instant};

use quorate_tests::caller::submit_path;
use quorate_tests::daemon::{Daemon, GLANCE};
use quorate_tests::http::{PATIENCE, Reply};
use quorate_tests::load::{Load, Mix, Unavailable};
use serde_json::{Value, json};

use crate::deeds::{Deed, KINDS, Stage};
use crate::layer::{Calls, Fault, Layer};
use crate::scenario::{Longest, Scenario};

/// How long a daemon may take to work again when the cause of a failure is gone.
pub(crate) const RECOVERY: Duration = Duration::from_secs(5);
const FAULTS: [Fault; 4] = [Fault::Broken, Fault::Full, Fault::Interrupted, Fault::Short];
/// More calls than any activity makes.
const MOST_CALLS: usize = 200;

/// A daemon under a layer, with one root user who decides alone.
pub(crate) async fn daemon_under(scenario: &Scenario, layer: &Layer, folder: &std::path::Path) -> Daemon {
    let data = folder.join("data");
    let options = scenario.engine().options(1, 1).with_variables(layer.variables(&data));
    Daemon::start_on(options, &data).await
}

/// Sends a request.
pub(crate) async fn send(daemon: &Daemon, deed: &Deed) -> Reply {
    daemon.root(0).send(&submit_path(deed.activity_type), &deed.body).await
}

/// Sends a request until it is taken, which must not take longer than [`RECOVERY`].
pub(crate) async fn taken_again(daemon: &Daemon, deed: &Deed) -> Value {
    let deadline = Instant::now() + RECOVERY;
    loop {
        let reply = send(daemon, deed).await;
        if reply.status != 503 {
            return reply.activity_in("COMPLETED");
        }
        assert!(Instant::now() < deadline, "no writes are taken {RECOVERY:?} after the fault{reply}");
        tokio::time::sleep(GLANCE).await;
    }
}

/// Whether an answer is a success, or reports a store that takes no writes.
pub(crate) fn is_clean(reply: &Reply) -> bool {
    matches!(reply.status, 200 | 503)
}

/// Compares what was answered for one body at two times, if both were successes.
fn same(first: Option<&Value>, second: &Value) {
    if let Some(first) = first {
        assert_eq!(
            (&first["id"], &first["result"]),
            (&second["id"], &second["result"]),
            "acknowledged, then otherwise"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f4_each_call_of_an_activity_fails() {
    let mut scenario = Scenario::begin("f4 failing calls", 1, 4);
    let (mut failures, mut refused) = (0, 0);
    let layer = Layer::new();
    let folder = tempfile::tempdir().expect("a folder");
    let mut daemon = daemon_under(&scenario, &layer, folder.path()).await;
    let mut stage = Stage::prepare(&daemon).await;
    for round in 0..scenario.rounds() {
        for (number, kind) in KINDS.into_iter().enumerate() {
            // In the long form each fault meets each kind.
            let fault = FAULTS[(number + round) % FAULTS.len()];
            let goes_on = matches!(fault, Fault::Broken | Fault::Full)
                && (number / FAULTS.len() + round).is_multiple_of(2);
            for call in 1..MOST_CALLS {
                scenario.step(format!("round {round}, {kind}, {fault:?} at call {call}, goes on: {goes_on}"));
                let deed = stage.deed(&daemon.root(0), kind).await;
                layer.fail(Calls::All, call, fault, goes_on);
                let reply = send(&daemon, &deed).await;
                let reached = layer.failures() > 0;
                let tried = layer.calls();
                layer.heal();
                assert!(tried > 0, "the activity reached no file through the C library");
                assert!(is_clean(&reply), "neither a success nor a clean error{reply}");
                let first = (reply.status == 200).then(|| reply.activity_in("COMPLETED"));
                refused += usize::from(first.is_none());
                same(first.as_ref(), &taken_again(&daemon, &deed).await);
                if reached {
                    failures += 1;
                    daemon.restart().await;
                }
                same(first.as_ref(), &send(&daemon, &deed).await.activity_in("COMPLETED"));
                if !reached {
                    assert!(call > 1, "no call failed");
                    break;
                }
            }
        }
    }
    let kinds = KINDS.len();
    scenario.close(format!(
        "{failures} failed calls in {kinds} kinds, {refused} answered with an error, 0 lost, 0 twice"
    ));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f4_each_call_of_a_start_fails() {
    let mut scenario = Scenario::begin("f4 failing calls at the start", 1, 4);
    let (mut failures, mut refused) = (0, 0);
    for round in 0..scenario.rounds() {
        let fault = FAULTS[round % FAULTS.len()];
        let layer = Layer::new();
        let folder = tempfile::tempdir().expect("a folder");
        let mut daemon = daemon_under(&scenario, &layer, folder.path()).await;
        let mut stage = Stage::prepare(&daemon).await;
        let deed = stage.deed(&daemon.root(0), KINDS[0]).await;
        let first = send(&daemon, &deed).await.activity_in("COMPLETED");
        for call in 1..MOST_CALLS {
            scenario.step(format!("{fault:?} at call {call} of a start"));
            daemon.kill();
            layer.fail(Calls::All, call, fault, false);
            let started = daemon.try_restart().await;
            let reached = layer.failures() > 0;
            layer.heal();
            if let Err(ended) = &started {
                refused += 1;
                assert!(ended.status.code().is_some(), "ended by a signal: {}", ended.complaint);
                assert!(!ended.complaint.contains("panicked at"), "{}", ended.complaint);
            }
            daemon.restart().await;
            daemon.root(0).ask("whoami", json!({})).await;
            same(Some(&first), &send(&daemon, &deed).await.activity_in("COMPLETED"));
            if !reached {
                break;
            }
            failures += 1;
        }
    }
    scenario.close(format!(
        "{failures} failed calls, {refused} starts refused, each next start served everything"
    ));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f4_calls_fail_under_load() {
    // Calls of one activity and the next few.
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
            let deadline = Instant::now() + PATIENCE;
            while layer.failures() == 0 {
                assert!(Instant::now() < deadline, "no call fails");
                tokio::time::sleep(GLANCE).await;
            }
            layer.heal();
            let begun = Instant::now();
            running.acknowledged_anew(RECOVERY).await;
            recovered.take(begun.elapsed());
        }
        running.stop();
        running.join().await;
        load.examine(&daemon).await;
        // What a restart would take back was never durable.
        daemon.restart().await;
        load.examine(&daemon).await;
        acknowledged += load.acknowledged();
    }
    let (rounds, longest) = (scenario.rounds(), recovered.millis());
    scenario.close(format!(
        "{rounds} failed calls, {acknowledged} requests acknowledged, 0 lost; writes taken again after {longest} ms or less"
    ));
}
