//! Repeated SIGKILL under load on the same data: acknowledged changes stay, nothing runs twice, and the store
//! opens without repair.

use std::time::Duration;

use quorate_tests::daemon::{Daemon, Options, engine};
use quorate_tests::installation;
use quorate_tests::load::Load;
use serde_json::json;

const KILLS: u32 = 50;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_changes_survive_fifty_kills() {
    let mut daemon = Daemon::start(Options::quorum(1, 1)).await;
    let mut load = Load::prepare(&daemon).await;
    for kill in 0..KILLS {
        let mut running = load.start(&daemon);
        // Each kill comes after another number of acknowledgements.
        running.until_acknowledged(1 + kill * 37 % 61).await;
        daemon.kill();
        running.join().await;
        daemon.restart().await;
        load.examine(&daemon).await;
    }
    eprintln!("{KILLS} kills, {} requests acknowledged, none lost", load.acknowledged());
}

#[tokio::test]
async fn a_killed_first_start_can_be_repeated() {
    // Covers the time from before the first file is created until after the daemon is ready.
    for millis in 0..50 {
        let folder = tempfile::tempdir().expect("a folder");
        let data = folder.path().join("data");
        let argument = format!("--data-dir={}", data.to_str().expect("UTF-8"));
        let engine = format!("--engine={}", engine());
        let arguments = ["dev", "--listen=127.0.0.1:0", "--users=3", "--threshold=2", &engine, &argument];
        installation::run_for(Duration::from_millis(millis), folder.path(), &arguments).await;
        let daemon = Daemon::start_on(Options::demo(), &data).await;
        let root = daemon.root(0);
        root.fetch("whoami", json!({})).await;
        let wallets = root.fetch("list_wallets", json!({})).await;
        assert_eq!(wallets["wallets"].as_array().map(Vec::len), Some(1), "after {millis} ms: {wallets:#}");
    }
}
