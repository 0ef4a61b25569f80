//! `kill -9` under load, again and again on the same data: what was acknowledged stays, nothing runs twice,
//! and the store opens without repair.

use std::time::Duration;

use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::installation;
use quorate_tests::load::Load;
use serde_json::json;

const KILLS: u32 = 50;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_fifty_times_under_load() {
    let mut daemon = Daemon::start(Options::quorum(1, 1)).await;
    let mut load = Load::prepare(&daemon).await;
    for kill in 0..KILLS {
        let mut running = load.start(&daemon);
        // A different moment each time, from the first acknowledgement on.
        running.until_acknowledged(1 + kill * 37 % 61).await;
        daemon.kill();
        running.join().await;
        daemon.restart().await;
        load.examine(&daemon).await;
    }
    eprintln!("{KILLS} kills, {} requests acknowledged, all there", load.acknowledged());
}

#[tokio::test]
async fn killed_while_it_starts_for_the_first_time() {
    // From before the first file is made until after the daemon is ready.
    for millis in 0..50 {
        let folder = tempfile::tempdir().expect("a folder");
        let data = folder.path().join("data");
        let argument = format!("--data-dir={}", data.to_str().expect("UTF-8"));
        let arguments = ["dev", "--listen=127.0.0.1:0", "--users=3", "--threshold=2", &argument];
        installation::run_for(Duration::from_millis(millis), folder.path(), &arguments).await;
        let daemon = Daemon::start_on(Options::demo(), &data).await;
        let root = daemon.root(0);
        root.ask("whoami", json!({})).await;
        let wallets = root.ask("list_wallets", json!({})).await;
        assert_eq!(wallets["wallets"].as_array().map(Vec::len), Some(1), "after {millis} ms: {wallets:#}");
    }
}
