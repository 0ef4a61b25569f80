//! `f20`: the daemon of the previous release is replaced by this one under load, and put back.

use std::path::PathBuf;

use quorate_tests::daemon::Daemon;
use quorate_tests::load::Load;
use rustix::process::Signal;

use crate::engine::Engine;
use crate::scenario::{Scenario, variable};

/// Number of acknowledged requests before each change of the release.
const LOAD: u32 = 50;

/// The daemons of both releases, and how the running one is ended.
struct Releases {
    previous: PathBuf,
    kills: bool,
}

impl Releases {
    /// Runs the load until it is interrupted by the end of the daemon.
    async fn run(&self, daemon: &mut Daemon, load: &mut Load) {
        let mut running = load.start(daemon);
        running.until_acknowledged(LOAD).await;
        if self.kills {
            daemon.kill();
        } else {
            running.stop();
            daemon.stop(Signal::TERM).await;
        }
        running.join().await;
    }

    /// Starts this release on the data of either one.
    async fn upgrade(&self, daemon: &mut Daemon, load: &mut Load) {
        daemon.set_programs(None);
        daemon.restart().await;
        load.examine(daemon).await;
    }

    /// Starts the previous release on the data of this one. Returns whether it serves; otherwise, it must have explained
    /// why not.
    async fn downgrade(&self, daemon: &mut Daemon, load: &mut Load) -> bool {
        daemon.set_programs(Some(self.previous.clone()));
        match daemon.try_restart().await {
            Ok(()) => {
                load.examine(daemon).await;
                self.run(daemon, load).await;
                true
            }
            Err(ended) => {
                assert!(matches!(ended.status.code(), Some(3 | 5 | 6 | 7)), "{ended:?}");
                assert!(!ended.log.contains("panicked"), "{ended:?}");
                assert!(ended.log.to_lowercase().contains("version"), "{ended:?}");
                false
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f20_upgrade_and_downgrade_under_load() {
    let mut scenario = Scenario::begin("f20 upgrades", 2, 20);
    let Some(previous) = variable::<PathBuf>("PREVIOUS") else {
        eprintln!("SKIPPED: PREVIOUS names no folder with the programs of the previous release");
        return;
    };
    if scenario.engine() != Engine::Sled {
        eprintln!("SKIPPED: the previous release has no other engine than sled");
        return;
    }
    let (mut acknowledged, mut refused) = (0, 0);
    for round in 0..scenario.rounds() {
        let releases = Releases { previous: previous.clone(), kills: round % 2 == 1 };
        scenario.step(format!("round {round}, previous release"));
        let mut options = scenario.engine().options(1, 1);
        options.programs = Some(previous.clone());
        let mut daemon = Daemon::start(options).await;
        let mut load = Load::prepare(&daemon).await;
        releases.run(&mut daemon, &mut load).await;
        scenario.step(format!("round {round}, upgrade"));
        releases.upgrade(&mut daemon, &mut load).await;
        releases.run(&mut daemon, &mut load).await;
        scenario.step(format!("round {round}, downgrade"));
        if !releases.downgrade(&mut daemon, &mut load).await {
            refused += 1;
        }
        scenario.step(format!("round {round}, upgrade again"));
        releases.upgrade(&mut daemon, &mut load).await;
        acknowledged += load.acknowledged();
    }
    let rounds = scenario.rounds();
    scenario.close(format!(
        "{rounds} upgrades, {refused} downgrades refused, {acknowledged} requests acknowledged, 0 lost, 0 duplicated"
    ));
}
