//! `f1`: `kill -9` under load, at any moment.

use std::time::{Duration, Instant};

use quorate_tests::daemon::Daemon;
use quorate_tests::load::{Load, Mix, Unavailable};

use crate::scenario::{Longest, Scenario};

/// Number of kills of one installation. Then a new one is used, because each examination checks all data.
const KILLS: usize = 10;
/// Upper bound of a daemon's lifetime after its first acknowledgement, in milliseconds.
const LIFE: usize = 750;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f1_kills_under_load() {
    let mut scenario = Scenario::begin("f1 kills", 6, 1000);
    let (mut acknowledged, mut reopened) = (0, Longest::default());
    for first in (0..scenario.rounds()).step_by(KILLS) {
        let bodies = vec![12_000, 60_000, 300_000, 1_000, 4_000_000];
        // A large body may lose against many concurrent changes of its organization, and must then be sent
        // again.
        let mix = Mix { bodies, deletions: true, unavailable: Unavailable::Repeats, ..Mix::default() };
        let mut daemon = Daemon::start(scenario.engine().options(1, 1)).await;
        let mut load = Load::prepare_mix(&daemon, mix).await;
        for kill in first..scenario.rounds().min(first + KILLS) {
            scenario.step(format!("kill {kill}"));
            let mut running = load.start(&daemon);
            running.until_acknowledged(1).await;
            // A random point in time, not a wait for a condition.
            let life = scenario.choices(kill).below(LIFE);
            tokio::time::sleep(Duration::from_millis(u64::try_from(life).expect("a small number"))).await;
            daemon.kill();
            running.join().await;
            let begun = Instant::now();
            daemon.restart().await;
            reopened.add(begun.elapsed());
            load.examine(&daemon).await;
        }
        acknowledged += load.acknowledged();
    }
    let (kills, reopened) = (scenario.rounds(), reopened.millis());
    scenario.close(format!(
        "{kills} kills, {acknowledged} requests acknowledged, 0 lost, 0 duplicated, 0 partial; reopened within {reopened} ms"
    ));
}
