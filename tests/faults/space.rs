//! `f6`: a real small file system fills up and is freed again, under load.

use std::time::{Duration, Instant};

use hyper::Method;
use quorate_tests::caller::Caller;
use quorate_tests::daemon::{Daemon, POLL_INTERVAL};
use quorate_tests::disk::Disk;
use quorate_tests::http::TIMEOUT;
use quorate_tests::load::{Load, Mix, Unavailable};
use quorate_tests::requests;
use serde_json::{Value, json};

use crate::calls::{RECOVERY, is_clean};
use crate::scenario::{Longest, Scenario};

/// Size in bytes of a file system that fills up quickly.
const SMALL: u64 = 96 << 20;
/// Minimum time for which a file system stays full.
const FULL: Duration = Duration::from_millis(500);

/// Returns the file system, or reports why it could not be created here.
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
    // An installation serves only a few rounds, because the file system is small.
    const ROUNDS: usize = 5;
    if !scenario.engine().has_files() {
        return;
    }
    let (mut acknowledged, mut rejected, mut recovered) = (0, 0, Longest::default());
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
            rejected += count_rejections(&daemon, &kept["id"]).await;
            wait_for_store_state(&daemon, &[json!("full"), json!("recovering")]).await;
            disk.free();
            let begun = Instant::now();
            running.until_next_acknowledged(RECOVERY).await;
            recovered.add(begun.elapsed());
            wait_for_store_state(&daemon, &[Value::Null]).await;
            running.stop();
            running.join().await;
            load.examine(&daemon).await;
            // A restart would revert what was never durable.
            daemon.restart().await;
            load.examine(&daemon).await;
            start_on_full_disk(&mut daemon, &mut load, &disk, &kept["id"]).await;
        }
        acknowledged += load.acknowledged();
        drop(daemon);
        std::fs::remove_dir_all(&data).expect("the data of a daemon that is gone");
    }
    let (rounds, recovered) = (scenario.rounds(), recovered.millis());
    scenario.close(format!(
        "{rounds} rounds, {acknowledged} requests acknowledged, 0 lost; {rejected} rejected meanwhile, writes accepted again \
         within {recovered} ms"
    ));
}

/// Kills and restarts the daemon on a full file system: it answers reads, and accepts writes once space is
/// free.
async fn start_on_full_disk(daemon: &mut Daemon, load: &mut Load, disk: &Disk, kept: &Value) {
    let mut running = load.start(daemon);
    running.until_acknowledged(5).await;
    disk.fill();
    count_rejections(daemon, kept).await;
    running.stop();
    running.join().await;
    daemon.kill();
    daemon.restart().await;
    count_rejections(daemon, kept).await;
    wait_for_store_state(daemon, &[json!("full"), json!("recovering")]).await;
    disk.free();
    wait_for_store_state(daemon, &[Value::Null]).await;
    let started = daemon.root(0).result(requests::CREATE_WALLET, &requests::wallet("started")).await;
    let unneeded = json!({ "walletIds": [started["walletId"]], "deleteWithoutExport": true });
    daemon.root(0).completed("ACTIVITY_TYPE_DELETE_WALLETS", &unneeded).await;
    load.examine(daemon).await;
}

/// Waits until the console API reports one of these states of the store.
async fn wait_for_store_state(daemon: &Daemon, expected: &[Value]) {
    let root = daemon.root(0);
    let operator = Caller::new(daemon.socket(), root.organization(), root.key().clone());
    let begun = Instant::now();
    loop {
        let status = operator.call(Method::GET, "/console/v1/status", &[], b"").await.success();
        let state = &status["store"]["state"];
        if expected.contains(state) {
            return;
        }
        assert!(begun.elapsed() < RECOVERY, "the console API reports {state}, not one of {expected:?}");
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Writes and reads while the file system is full, until writes are rejected. Returns the number of
/// rejections.
async fn count_rejections(daemon: &Daemon, kept: &Value) -> usize {
    let root = daemon.root(0);
    let (begun, mut rejected, mut number) = (Instant::now(), 0, 0);
    while rejected == 0 || begun.elapsed() < FULL {
        assert!(begun.elapsed() < TIMEOUT, "a full file system accepts all writes");
        number += 1;
        let write = root.submit(requests::CREATE_WALLET, &requests::wallet(&format!("full {number}"))).await;
        assert!(is_clean(&write), "neither a success nor a clean error{write}");
        if write.status == 200 {
            // Some space was left. The wallet is not needed.
            let unneeded = json!({ "walletIds": [write.result()["walletId"]], "deleteWithoutExport": true });
            rejected +=
                usize::from(root.submit("ACTIVITY_TYPE_DELETE_WALLETS", &unneeded).await.status != 200);
        } else {
            rejected += 1;
        }
        root.fetch("whoami", json!({})).await;
        root.activity(kept).await;
        root.fetch("list_wallets", json!({})).await;
        root.fetch("list_activities", json!({})).await;
        root.fetch("list_private_keys", json!({})).await;
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    rejected
}
