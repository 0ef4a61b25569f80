//! `f6`: a real small file system runs full and is freed again, under load.

use std::time::{Duration, Instant};

use hyper::Method;
use quorate_tests::caller::Caller;
use quorate_tests::daemon::{Daemon, GLANCE};
use quorate_tests::disk::Disk;
use quorate_tests::http::PATIENCE;
use quorate_tests::load::{Load, Mix, Unavailable};
use quorate_tests::requests;
use serde_json::{Value, json};

use crate::calls::{RECOVERY, is_clean};
use crate::scenario::{Longest, Scenario};

/// Size of a file system that is soon full.
const SMALL: u64 = 96 << 20;
/// How long a file system stays full at least.
const FULL: Duration = Duration::from_millis(500);

/// Makes a file system, or reports why that cannot be done here.
fn or_skip(disk: Result<Disk, String>) -> Option<Disk> {
    disk.inspect_err(|cause| eprintln!("SKIPPED: full disks need root and loop devices ({cause})")).ok()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f6_ext4_runs_full() {
    let scenario = Scenario::begin("f6 full ext4", 2, 50);
    let Some(disk) = or_skip(Disk::of_size(SMALL)) else { return };
    fill_and_free(scenario, disk).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f6_tmpfs_runs_full() {
    let scenario = Scenario::begin("f6 full tmpfs", 2, 50);
    let Some(disk) = or_skip(Disk::of_memory(SMALL)) else { return };
    fill_and_free(scenario, disk).await;
}

async fn fill_and_free(mut scenario: Scenario, disk: Disk) {
    // One installation for a few rounds, since the file system is small.
    const ROUNDS: usize = 5;
    let (mut acknowledged, mut refused, mut recovered) = (0, 0, Longest::default());
    for first in (0..scenario.rounds()).step_by(ROUNDS) {
        let data = disk.root().join(format!("data-{first}"));
        let mut daemon = Daemon::start_on(scenario.engine().options(1, 1), &data).await;
        let mix = Mix { unavailable: Unavailable::Repeats, deletions: true, ..Mix::default() };
        let mut load = Load::prepare_mix(&daemon, mix).await;
        let kept = daemon.root(0).completed(requests::CREATE_WALLET, &requests::wallet("kept")).await;
        for round in first..scenario.rounds().min(first + ROUNDS) {
            scenario.step(format!("round {round}"));
            let mut running = load.start(&daemon);
            running.until_acknowledged(5).await;
            disk.fill();
            refused += refusals(&daemon, &kept["id"]).await;
            reports(&daemon, &[json!("full"), json!("recovering")]).await;
            disk.free();
            let begun = Instant::now();
            running.acknowledged_anew(RECOVERY).await;
            recovered.take(begun.elapsed());
            reports(&daemon, &[Value::Null]).await;
            running.stop();
            running.join().await;
            load.examine(&daemon).await;
            // What a restart would take back was never durable.
            daemon.restart().await;
            load.examine(&daemon).await;
            started_when_full(&mut daemon, &mut load, &disk, &kept["id"]).await;
        }
        acknowledged += load.acknowledged();
        drop(daemon);
        std::fs::remove_dir_all(&data).expect("the data of a daemon that is gone");
    }
    let (rounds, recovered) = (scenario.rounds(), recovered.millis());
    scenario.close(format!(
        "{rounds} rounds, {acknowledged} requests acknowledged, 0 lost; {refused} refused meanwhile, writes taken again \
         after {recovered} ms or less"
    ));
}

/// Kills the daemon on a full file system and starts it there: it answers reads, and accepts writes once space is free.
async fn started_when_full(daemon: &mut Daemon, load: &mut Load, disk: &Disk, kept: &Value) {
    let mut running = load.start(daemon);
    running.until_acknowledged(5).await;
    disk.fill();
    refusals(daemon, kept).await;
    running.stop();
    running.join().await;
    daemon.kill();
    daemon.restart().await;
    refusals(daemon, kept).await;
    reports(daemon, &[json!("full"), json!("recovering")]).await;
    disk.free();
    reports(daemon, &[Value::Null]).await;
    let started = daemon.root(0).result(requests::CREATE_WALLET, &requests::wallet("started")).await;
    let unneeded = json!({ "walletIds": [started["walletId"]], "deleteWithoutExport": true });
    daemon.root(0).completed("ACTIVITY_TYPE_DELETE_WALLETS", &unneeded).await;
    load.examine(daemon).await;
}

/// Waits until the console is told one of these states of the store.
async fn reports(daemon: &Daemon, states: &[Value]) {
    let root = daemon.root(0);
    let operator = Caller::new(daemon.socket(), root.organization(), root.key().clone());
    let begun = Instant::now();
    loop {
        let told = operator.call(Method::GET, "/console/v1/status", &[], b"").await.success();
        let state = &told["store"]["state"];
        if states.contains(state) {
            return;
        }
        assert!(begun.elapsed() < RECOVERY, "the console is told {state}, not one of {states:?}");
        tokio::time::sleep(GLANCE).await;
    }
}

/// Writes and reads while the file system is full, until writes are refused. Returns how often they were.
async fn refusals(daemon: &Daemon, kept: &Value) -> usize {
    let root = daemon.root(0);
    let (begun, mut refused, mut number) = (Instant::now(), 0, 0);
    while refused == 0 || begun.elapsed() < FULL {
        assert!(begun.elapsed() < PATIENCE, "a full file system takes all writes");
        number += 1;
        let write = root.submit(requests::CREATE_WALLET, &requests::wallet(&format!("full {number}"))).await;
        assert!(is_clean(&write), "neither a success nor a clean error{write}");
        if write.status == 200 {
            // Some room was left. The wallet is not needed.
            let gone = json!({ "walletIds": [write.result()["walletId"]], "deleteWithoutExport": true });
            refused += usize::from(root.submit("ACTIVITY_TYPE_DELETE_WALLETS", &gone).await.status != 200);
        } else {
            refused += 1;
        }
        root.ask("whoami", json!({})).await;
        root.activity(kept).await;
        root.ask("list_wallets", json!({})).await;
        root.ask("list_activities", json!({})).await;
        root.ask("list_private_keys", json!({})).await;
        tokio::time::sleep(GLANCE).await;
    }
    refused
}
