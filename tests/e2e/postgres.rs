//! A daemon on PostgreSQL: the server crashes, stalls and loses connections under load. No acknowledged change is lost,
//! nothing runs twice, and the daemon continues by itself.

use quorate_tests::caller::Caller;
use quorate_tests::cluster::Cluster;
use quorate_tests::cutting_proxy::CuttingProxy;
use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::http::TIMEOUT;
use quorate_tests::load::{Load, Mix, Unavailable};
use rustix::process::Signal;

/// Number of kills of the server, and of the daemon.
const KILLS: u32 = 6;
/// Number of connections cut between a commit and its answer, in the short and in the long form.
const CUTS: [u32; 2] = [60, 1000];

fn options(url: String) -> Options {
    Options::quorum(1, 1).on_database(url)
}

fn mix() -> Mix {
    Mix { unavailable: Unavailable::Repeats, deletions: true, ..Mix::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_changes_survive_kills_of_server_and_daemon() {
    let mut cluster = Cluster::start();
    let mut daemon = Daemon::start(options(cluster.url())).await;
    let mut load = Load::prepare_mix(&daemon, mix()).await;
    for kill in 0..KILLS {
        let mut running = load.start(&daemon);
        running.until_acknowledged(5 + kill * 17 % 41).await;
        // The writers repeat their bodies until the daemon has the server back.
        cluster.kill();
        cluster.run();
        running.until_acknowledged(20).await;
        daemon.kill();
        running.join().await;
        daemon.restart().await;
        load.examine(&daemon).await;
    }
    eprintln!("{KILLS} kills of each, {} requests acknowledged, none lost", load.acknowledged());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f25_connections_cut_after_a_commit_lose_and_repeat_nothing() {
    let wanted = CUTS[usize::from(std::env::var("FAULTS").is_ok_and(|form| form == "full"))];
    let cluster = Cluster::start();
    let proxy = CuttingProxy::start(cluster.folder());
    let daemon = Daemon::start(options(proxy.url("quorate"))).await;
    let mut load = Load::prepare_mix(&daemon, mix()).await;
    let mut running = load.start(&daemon);
    let mut cut = 0;
    while proxy.cuts() < wanted {
        cut += 1;
        proxy.cut_next();
        running.until_acknowledged(1 + cut % 7).await;
        // Each writer gets its answer in time, although its commit was answered by nobody.
        running.until_next_acknowledged(std::time::Duration::from_secs(10)).await;
    }
    running.stop();
    running.join().await;
    load.examine(&daemon).await;
    eprintln!("{} connections cut, {} requests acknowledged", proxy.cuts(), load.acknowledged());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_stalls_is_an_outage() {
    let cluster = Cluster::start();
    let daemon = Daemon::start(options(cluster.url())).await;
    let root = daemon.root(0);
    let mut load = Load::prepare_mix(&daemon, mix()).await;
    let mut running = load.start(&daemon);
    running.until_acknowledged(10).await;
    cluster.signal(Signal::STOP);
    until_unavailable(&root).await;
    cluster.signal(Signal::CONT);
    running.until_next_acknowledged(TIMEOUT).await;
    running.stop();
    running.join().await;
    load.examine(&daemon).await;
}

/// Waits until a query is answered with status 503.
async fn until_unavailable(root: &Caller) {
    loop {
        let reply = root.query("list_wallets", serde_json::json!({})).await;
        if reply.status == 503 {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_daemon_needs_the_root_key_of_the_first() {
    let cluster = Cluster::start();
    let daemon = Daemon::start(options(cluster.url())).await;
    let other = tempfile::tempdir().expect("a folder");
    let Err(ended) = Daemon::try_start_on(options(cluster.url()), &other.path().join("data")).await else {
        panic!("a second daemon started");
    };
    assert_eq!(ended.status.code(), Some(4), "{}", ended.log);
    assert!(ended.log.contains("restore it from your copy"), "{}", ended.log);
    daemon.root(0).fetch("whoami", serde_json::json!({})).await;
}
