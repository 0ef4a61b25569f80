//! Simulated power cuts: the file system under the daemon loses whatever was not made durable. Says so and
//! passes where such cuts can not be made.
//!
//! The daemon is stopped before the cut, so that no acknowledgement can race with it.

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
async fn cut_twenty_times_under_load() {
    let Some(mut disk) = Disk::or_skip() else { return };
    let mut daemon = Daemon::start_on(Options::quorum(1, 1), &disk.root().join("data")).await;
    let mut load = Load::prepare(&daemon).await;
    for cut in 0..CUTS {
        let mut running = load.start(&daemon);
        running.until_acknowledged(1 + cut * 37 % 61).await;
        let unsynced = format!("unsynced-{cut}");
        disk.leave_unsynced(&unsynced);
        daemon.freeze().await;
        disk.cut();
        daemon.kill();
        running.join().await;
        disk = disk.remount();
        disk.has_lost(&unsynced);
        daemon.restart().await;
        load.examine(&daemon).await;
    }
    eprintln!("{CUTS} power cuts, {} requests acknowledged, all there", load.acknowledged());
}

#[tokio::test]
async fn what_is_founded_is_kept() {
    let Some(disk) = Disk::or_skip() else { return };
    let place = disk.root().join("installation");
    std::fs::create_dir(&place).expect("a folder");
    let installation = Installation::at(&place, "file = \"root.key\"");
    disk.make_durable();
    let key = Key::named("founder");
    let organization = installation.found("kept", &key).await;
    disk.cut();
    let disk = disk.remount();
    let served = installation.serve().await;
    served.caller(&organization, key).ask("whoami", json!({})).await;
    drop(served);
    drop(disk);
}

#[tokio::test]
async fn the_first_activity_is_kept() {
    let Some(disk) = Disk::or_skip() else { return };
    let mut daemon = Daemon::start_on(Options::quorum(1, 1), &disk.root().join("data")).await;
    let root = daemon.root(0);
    let body = root.proposal(CREATE_WALLET, &requests::wallet("kept"));
    let made = root.send(&submit_path(CREATE_WALLET), &body).await.activity_in("COMPLETED");
    daemon.freeze().await;
    disk.cut();
    daemon.kill();
    let disk = disk.remount();
    daemon.restart().await;
    let again = daemon.root(0).send(&submit_path(CREATE_WALLET), &body).await.activity_in("COMPLETED");
    assert_eq!(again, made);
    drop(daemon);
    drop(disk);
}

#[tokio::test]
async fn bodies_of_every_size_are_kept() {
    let Some(mut disk) = Disk::or_skip() else { return };
    let mut daemon = Daemon::start_on(Options::quorum(1, 1), &disk.root().join("data")).await;
    let wallet = daemon.root(0).result(CREATE_WALLET, &requests::wallet("large")).await;
    let address = wallet["addresses"][0].as_str().expect("an address").to_owned();
    // Enough of each that pages of the store fill up with large records.
    for (length, count) in [(1, 40), (12_000, 24), (60_000, 12), (300_000, 6), (2_000_000, 2)] {
        let mut acknowledged = Vec::new();
        for number in 0..count {
            let root = daemon.root(0);
            let text = format!("{number}{}", "x".repeat(length));
            let body = root.proposal(SIGN, &requests::sign(&address, &text));
            let made = root.send(&submit_path(SIGN), &body).await.activity_in("COMPLETED");
            acknowledged.push((body, made));
        }
        daemon.freeze().await;
        disk.cut();
        daemon.kill();
        disk = disk.remount();
        daemon.restart().await;
        for (body, made) in &acknowledged {
            let again = daemon.root(0).send(&submit_path(SIGN), body).await.activity_in("COMPLETED");
            assert_eq!(&again, made, "{length} bytes");
        }
    }
    drop(daemon);
    drop(disk);
}
