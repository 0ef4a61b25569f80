//! Simulated power cuts: the file system under the daemon loses everything that is not durable. Skips the
//! test and reports it where this is not possible.
//!
//! The daemon is suspended before the cut, so that no acknowledgement can race with it.

use quorate_tests::caller::submit_path;
use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::disk::Disk;
use quorate_tests::installation::Installation;
use quorate_tests::keys::Key;
use quorate_tests::load::Load;
use quorate_tests::requests::{self, CREATE_WALLET, SIGN};
use serde_json::json;

const CUTS: u32 = 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_changes_survive_twenty_power_cuts() {
    let Some(mut disk) = Disk::or_skip() else { return };
    let mut daemon = Daemon::start_on(Options::quorum(1, 1), &disk.root().join("data")).await;
    let mut load = Load::prepare(&daemon).await;
    for cut in 0..CUTS {
        let mut running = load.start(&daemon);
        running.until_acknowledged(1 + cut * 37 % 61).await;
        let unsynced = format!("unsynced-{cut}");
        disk.write_unsynced(&unsynced);
        daemon.freeze().await;
        disk.cut();
        daemon.kill();
        running.join().await;
        disk = disk.remount();
        disk.assert_lost(&unsynced);
        daemon.restart().await;
        load.examine(&daemon).await;
    }
    eprintln!("{CUTS} power cuts, {} requests acknowledged, none lost", load.acknowledged());
}

#[tokio::test]
async fn a_new_organization_survives_a_power_cut() {
    let Some(disk) = Disk::or_skip() else { return };
    let folder = disk.root().join("installation");
    std::fs::create_dir(&folder).expect("a folder");
    let installation = Installation::at(&folder, "file = \"root.key\"");
    disk.sync();
    let key = Key::named("first root user");
    let organization = installation.create_organization("kept", &key).await;
    disk.cut();
    let disk = disk.remount();
    let served = installation.serve().await;
    served.caller(&organization, key).fetch("whoami", json!({})).await;
    drop(served);
    drop(disk);
}

#[tokio::test]
async fn the_first_activity_survives_a_power_cut() {
    let Some(disk) = Disk::or_skip() else { return };
    let mut daemon = Daemon::start_on(Options::quorum(1, 1), &disk.root().join("data")).await;
    let root = daemon.root(0);
    let body = root.proposal(CREATE_WALLET, &requests::wallet("kept"));
    let created = root.send(&submit_path(CREATE_WALLET), &body).await.activity_in("COMPLETED");
    daemon.freeze().await;
    disk.cut();
    daemon.kill();
    let disk = disk.remount();
    daemon.restart().await;
    let again = daemon.root(0).send(&submit_path(CREATE_WALLET), &body).await.activity_in("COMPLETED");
    assert_eq!(again, created);
    drop(daemon);
    drop(disk);
}

#[tokio::test]
async fn bodies_of_every_size_survive_power_cuts() {
    let Some(mut disk) = Disk::or_skip() else { return };
    let mut daemon = Daemon::start_on(Options::quorum(1, 1), &disk.root().join("data")).await;
    let wallet = daemon.root(0).result(CREATE_WALLET, &requests::wallet("large")).await;
    let address = wallet["addresses"][0].as_str().expect("an address").to_owned();
    // Enough of each size that pages of the store fill up with large records.
    for (length, count) in [(1, 40), (12_000, 24), (60_000, 12), (300_000, 6), (2_000_000, 2)] {
        let mut acknowledged = Vec::new();
        for number in 0..count {
            let root = daemon.root(0);
            let text = format!("{number}{}", "x".repeat(length));
            let body = root.proposal(SIGN, &requests::sign(&address, &text));
            let created = root.send(&submit_path(SIGN), &body).await.activity_in("COMPLETED");
            acknowledged.push((body, created));
        }
        daemon.freeze().await;
        disk.cut();
        daemon.kill();
        disk = disk.remount();
        daemon.restart().await;
        for (body, created) in &acknowledged {
            let again = daemon.root(0).send(&submit_path(SIGN), body).await.activity_in("COMPLETED");
            assert_eq!(&again, created, "{length} bytes");
        }
    }
    drop(daemon);
    drop(disk);
}
