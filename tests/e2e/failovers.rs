//! Failovers of the database under load: daemons follow the primary, and nothing that was acknowledged is lost or executed twice.
//!
//! Without a synchronous standby, the same writes are lost, and the guard files show it. The form with `FAULTS=full` uses three servers
//! with Patroni and etcd, the short one a primary and a standby.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use quorate_tests::caller::{Caller, submit_path};
use quorate_tests::cluster::Cluster;
use quorate_tests::daemon::POLL_INTERVAL;
use quorate_tests::fleet::Fleet;
use quorate_tests::patroni::{NODES, Patroni};
use quorate_tests::requests::{self, CREATE_WALLET};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::task::JoinSet;

/// Number of daemons and of writers.
const DAEMONS: usize = 3;
const WRITERS: usize = 6;
/// Time between two writes of a writer, so that the organization does not grow much during an outage of minutes.
const PACE: Duration = Duration::from_millis(200);
/// Number of acknowledgements that show that the daemons work again.
const PROGRESS: usize = 30;
/// Time after which the test fails if the daemons do not work again, or a server does not.
const LONGEST: Duration = Duration::from_mins(4);
const LIMITS: &str = "[limits]\nwallets = 10000\n";

/// What was acknowledged.
#[derive(Default)]
struct Progress {
    /// The names of wallets, with the ids of their activities.
    acknowledged: BTreeMap<String, Value>,
    last: Option<Instant>,
    /// Longest time without an acknowledgement.
    gap: Duration,
}

/// The load on all daemons.
struct Load {
    progress: Arc<Mutex<Progress>>,
    stops: Arc<AtomicBool>,
    writers: JoinSet<()>,
}

/// What happens to the primary.
#[derive(Debug, Clone, Copy)]
enum Event {
    /// Patroni and the server are killed.
    Kill,
    /// An operator makes another server the primary.
    Switchover,
    /// Patroni is suspended, and its server continues to run as a primary that was replaced.
    Replaced,
    /// Patroni and the server are suspended.
    Suspended,
    /// The server of the synchronous standby is killed.
    Standby,
}

impl Load {
    fn begin<D>(fleet: &Fleet<D>) -> Self {
        let (progress, stops) = (Arc::default(), Arc::<AtomicBool>::default());
        let mut writers = JoinSet::new();
        for writer in 0..WRITERS {
            let callers = (0..DAEMONS).map(|daemon| fleet.root(daemon, 0)).collect();
            writers.spawn(write(writer, callers, Arc::clone(&progress), Arc::clone(&stops)));
        }
        Self { progress, stops, writers }
    }

    fn count(&self) -> usize {
        self.progress.lock().expect("a lock").acknowledged.len()
    }

    /// Waits until more was acknowledged.
    async fn proceeds(&self) {
        let wanted = self.count() + PROGRESS;
        while self.count() < wanted {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Returns the longest time without an acknowledgement since the last call.
    fn gap(&self) -> Duration {
        std::mem::take(&mut self.progress.lock().expect("a lock").gap)
    }

    async fn end(self) -> BTreeMap<String, Value> {
        self.stops.store(true, Ordering::Relaxed);
        self.writers.join_all().await;
        std::mem::take(&mut self.progress.lock().expect("a lock").acknowledged)
    }
}

/// Creates wallets until `stops`. Each body is sent to one daemon after the other until it is acknowledged. Another daemon must then know
/// the activity.
async fn write(writer: usize, callers: Vec<Caller>, progress: Arc<Mutex<Progress>>, stops: Arc<AtomicBool>) {
    let mut daemon = writer;
    for number in 0.. {
        let name = format!("wallet {writer} {number}");
        let body = callers[0].proposal(CREATE_WALLET, &requests::wallet(&name));
        let id = loop {
            if stops.load(Ordering::Relaxed) {
                return;
            }
            daemon += 1;
            match callers[daemon % DAEMONS].try_send(&submit_path(CREATE_WALLET), &body).await {
                Ok(reply) if reply.status == 200 => {
                    let activity = reply.activity();
                    assert_eq!(activity["status"], "ACTIVITY_STATUS_COMPLETED", "{activity:#}");
                    break activity["id"].clone();
                }
                Ok(reply) => assert_eq!(reply.status, 503, "{reply:?}"),
                Err(_) => {}
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        };
        {
            let progress = &mut *progress.lock().expect("a lock");
            progress.acknowledged.insert(name, id.clone());
            let gap = progress.last.replace(Instant::now()).map(|last| last.elapsed());
            progress.gap = progress.gap.max(gap.unwrap_or_default());
        }
        let other = &callers[(daemon + 1 + number % 2) % DAEMONS];
        let query = json!({ "organizationId": other.organization(), "activityId": id }).to_string();
        if let Ok(reply) = other.try_send("/public/v1/query/get_activity", query.as_bytes()).await {
            assert!(
                [200, 503].contains(&reply.status),
                "an answer is older than the acknowledgement: {reply:?}"
            );
        }
        tokio::time::sleep(PACE).await;
    }
}

/// Lets something happen to the primary, waits until the daemons work again, and then until all servers do.
async fn meet(fleet: &Fleet<Patroni>, load: &Load, event: Event) {
    let met = tokio::time::timeout(LONGEST, meet_within(&fleet.cluster, load, event)).await;
    assert!(met.is_ok(), "{event:?}: {:?}\n{}", fleet.cluster.nodes(), fleet.log(0));
}

async fn meet_within(patroni: &Patroni, load: &Load, event: Event) {
    load.proceeds().await;
    load.gap();
    let primary = patroni.primary(&[]).await;
    let standby = patroni.nodes().into_iter().find(|node| node.role == "Sync Standby");
    let standby = standby.map_or((primary + 1) % NODES, |node| node.number);
    match event {
        Event::Kill => {
            patroni.signal_patroni(primary, Signal::KILL);
            patroni.signal_server(primary, Signal::KILL);
        }
        Event::Switchover => patroni.switch_over(),
        Event::Replaced => patroni.signal_patroni(primary, Signal::STOP),
        Event::Suspended => {
            patroni.signal_patroni(primary, Signal::STOP);
            patroni.signal_server(primary, Signal::STOP);
        }
        Event::Standby => {
            patroni.signal_patroni(standby, Signal::KILL);
            patroni.signal_server(standby, Signal::KILL);
        }
    }
    if !matches!(event, Event::Standby) {
        patroni.primary(&[primary]).await;
    }
    load.proceeds().await;
    match event {
        Event::Kill => patroni.restart(primary),
        Event::Standby => patroni.restart(standby),
        Event::Switchover => {}
        Event::Replaced => patroni.signal_patroni(primary, Signal::CONT),
        Event::Suspended => {
            patroni.signal_server(primary, Signal::CONT);
            patroni.signal_patroni(primary, Signal::CONT);
        }
    }
    patroni.whole(true).await;
    load.proceeds().await;
    eprintln!(
        "{event:?}: {:.1} s without an answer, {} acknowledged",
        load.gap().as_secs_f32(),
        load.count()
    );
}

/// Returns how many of the acknowledged wallets exist. None may exist twice.
async fn kept(root: &Caller, acknowledged: &BTreeMap<String, Value>) -> usize {
    let listed = root.fetch("list_wallets", json!({})).await;
    let mut found = BTreeMap::<&str, usize>::new();
    for wallet in listed["wallets"].as_array().expect("wallets") {
        *found.entry(wallet["walletName"].as_str().expect("a name")).or_default() += 1;
    }
    assert!(found.values().all(|count| *count == 1), "something was executed twice");
    // At most the last body of each writer was executed without an answer.
    assert!(found.len() <= acknowledged.len() + WRITERS, "{} of {}", found.len(), acknowledged.len());
    acknowledged.keys().filter(|name| found.contains_key(name.as_str())).count()
}

fn is_long() -> bool {
    std::env::var("FAULTS").is_ok_and(|form| form == "full")
}

/// Ends the load, and checks that all daemons have everything that was acknowledged.
async fn nothing_is_lost<D>(fleet: Fleet<D>, load: Load) {
    let acknowledged = load.end().await;
    for daemon in 0..DAEMONS {
        assert_eq!(kept(&fleet.root(daemon, 0), &acknowledged).await, acknowledged.len());
    }
    eprintln!("{} activities acknowledged, none lost", acknowledged.len());
    fleet.verify().await;
}

/// Ends the load. Then lets each daemon acknowledge something that only the primary has.
async fn all_acknowledge<D>(fleet: &Fleet<D>, load: Load) -> BTreeMap<String, Value> {
    let acknowledged = load.end().await;
    for daemon in 0..DAEMONS {
        fleet.root(daemon, 0).completed(CREATE_WALLET, &requests::wallet(&format!("lost {daemon}"))).await;
    }
    acknowledged
}

/// Checks that each daemon notices that something was lost, and continues only on request.
async fn noticed<D>(mut fleet: Fleet<D>, acknowledged: &BTreeMap<String, Value>) {
    for daemon in 0..DAEMONS {
        // A daemon that runs does not continue.
        fleet.installation(daemon).logs("the store cannot be reopened yet").await;
        assert_eq!(fleet.daemon(daemon).get("/readyz").await.status, 503);
        fleet.kill(daemon);
    }
    for daemon in 0..DAEMONS {
        let ended = fleet.installation(daemon).run("serve", &[]).await;
        assert_eq!(ended.code, 10, "{daemon}: {ended:#?}");
    }
    for daemon in 0..DAEMONS {
        let accepted = fleet.installation(daemon).run("accept-loss", &["--confirm", "lost"]).await;
        assert_eq!(accepted.code, 0, "{daemon}: {accepted:#?}");
    }
    fleet.restart(0).await;
    let kept = kept(&fleet.root(0, 0), acknowledged).await;
    assert!(kept < acknowledged.len(), "nothing was lost");
    eprintln!(
        "{} activities acknowledged, {} lost and noticed",
        acknowledged.len(),
        acknowledged.len() - kept
    );
    fleet.verify().await;
}

/// Starts daemons on a primary and a standby without Patroni.
async fn on_pair(is_synchronous: bool) -> Fleet<(Cluster, Cluster)> {
    let mut primary = Cluster::start();
    let standby = primary.standby();
    if is_synchronous {
        primary.set("synchronous_standby_names = '*'");
    }
    let url = primary.url_with(&standby);
    Fleet::on((primary, standby), url, DAEMONS, (1, 1), LIMITS).await
}

/// The short form: the primary is killed, and its synchronous standby becomes the primary.
async fn promoted() {
    let mut fleet = on_pair(true).await;
    let load = Load::begin(&fleet);
    load.proceeds().await;
    fleet.cluster.0.kill();
    fleet.cluster.1.sql("SELECT pg_promote()");
    load.proceeds().await;
    nothing_is_lost(fleet, load).await;
}

/// The short form: a standby that lacks something becomes the primary.
async fn promoted_too_early() {
    let mut fleet = on_pair(false).await;
    let load = Load::begin(&fleet);
    load.proceeds().await;
    fleet.cluster.1.stop();
    load.proceeds().await;
    let acknowledged = all_acknowledge(&fleet, load).await;
    fleet.cluster.0.kill();
    fleet.cluster.1.run();
    fleet.cluster.1.sql("SELECT pg_promote()");
    noticed(fleet, &acknowledged).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f26_failovers_lose_and_repeat_nothing() {
    if !is_long() {
        return promoted().await;
    }
    let rounds = std::env::var("ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(2);
    let all = [Event::Kill, Event::Switchover, Event::Replaced, Event::Standby, Event::Suspended];
    for _ in 0..rounds {
        let (patroni, begun) = (Patroni::start(true), Instant::now());
        let url = patroni.url();
        let fleet = Fleet::on(patroni, url, DAEMONS, (1, 1), LIMITS).await;
        let load = Load::begin(&fleet);
        for event in all {
            meet(&fleet, &load, event).await;
        }
        nothing_is_lost(fleet, load).await;
        eprintln!("{} s", begun.elapsed().as_secs());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f26_without_a_synchronous_standby_a_failover_loses_and_is_noticed() {
    if !is_long() {
        return promoted_too_early().await;
    }
    let patroni = Patroni::start(false);
    let url = patroni.url();
    let fleet = Fleet::on(patroni, url, DAEMONS, (1, 1), LIMITS).await;
    let status = fleet.daemon(0).get("/console/v1/status").await.success();
    assert!(status["engine"]["warning"].is_string(), "{status:#}");
    let load = Load::begin(&fleet);
    load.proceeds().await;
    let primary = fleet.cluster.primary(&[]).await;
    let standbys: Vec<usize> = (0..NODES).filter(|node| *node != primary).collect();
    let signal_receivers = |signal| {
        for node in &standbys {
            fleet.cluster.signal_receiver(*node, signal);
        }
    };
    signal_receivers(Signal::STOP);
    load.proceeds().await;
    let acknowledged = all_acknowledge(&fleet, load).await;
    fleet.cluster.signal_patroni(primary, Signal::KILL);
    fleet.cluster.signal_server(primary, Signal::KILL);
    signal_receivers(Signal::KILL);
    fleet.cluster.primary(&[primary]).await;
    noticed(fleet, &acknowledged).await;
}
