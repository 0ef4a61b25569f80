//! Rotation of the sealing keys: another key seals all records, while requests go on and whatever is interrupted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use quorate_tests::caller::{Caller, submit_path};
use quorate_tests::daemon::POLL_INTERVAL;
use quorate_tests::fleet::Fleet;
use quorate_tests::http::TIMEOUT;
use quorate_tests::installation::{Installation, Run, RunningDaemon};
use quorate_tests::keys::Key;
use quorate_tests::requests::{self, CREATE_WALLET, SIGN};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

const KEY_FILE: &str = "file = \"root.key\"";
/// Number of writers during a rotation.
const WRITERS: usize = 4;

fn parsed(run: &Run) -> Value {
    assert_eq!(run.code, 0, "{run:#?}");
    serde_json::from_str(&run.output).expect("JSON")
}

async fn sealing_key(daemon: &RunningDaemon) -> Value {
    daemon.get("/console/v1/status").await.success()["sealingKey"].clone()
}

/// Waits until the key of this term seals all records.
async fn one_key_seals_all(daemon: &RunningDaemon, term: u64) {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let key = sealing_key(daemon).await;
        if key["oldestTerm"] == term && key["term"] == term {
            return;
        }
        assert!(Instant::now() < deadline, "{key:#}");
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Signs until `stop`. Each request is executed. Returns the activities.
async fn sign(root: Caller, address: String, stop: Arc<AtomicBool>) -> Vec<Value> {
    let mut signed = Vec::new();
    while !stop.load(Ordering::SeqCst) {
        let payload = format!("payload {}", signed.len());
        signed.push(root.completed(SIGN, &requests::sign(&address, &payload)).await);
    }
    signed
}

/// Compares activities with those of the store.
async fn are_stored(root: &Caller, activities: &[Value]) {
    for activity in activities {
        assert_eq!(root.activity(&activity["id"]).await, *activity);
    }
}

async fn wallets(root: &Caller) -> usize {
    root.fetch("list_wallets", json!({})).await["wallets"].as_array().map_or(0, Vec::len)
}

/// Rotates the keys of a new store of an engine twice while requests go on.
async fn rotate_under_load(engine: &str) {
    let installation = Installation::new(KEY_FILE);
    let configuration = std::fs::read_to_string(installation.path("quorated.toml")).expect("a configuration");
    let default = format!("engine = \"{}\"", quorate_tests::daemon::engine());
    installation.configure(&configuration.replace(&default, &format!("engine = \"{engine}\"")));
    let key = Key::named("first root user");
    let organization = installation.create_organization("treasury", &key).await;
    let served = installation.serve().await;
    let status = served.get("/console/v1/status").await.success();
    assert_eq!(status["engine"]["name"], engine, "{status:#}");
    // A new store has a first term.
    assert_eq!((&status["sealingKey"]["term"], &status["sealingKey"]["oldestTerm"]), (&json!(1), &json!(1)));
    let stop = Arc::new(AtomicBool::new(false));
    let mut writers = tokio::task::JoinSet::new();
    let root = served.caller(&organization, key.clone());
    let address = requests::create_wallet(&root, "signs").await;
    for _ in 0..WRITERS {
        writers.spawn(sign(root.clone(), address.clone(), Arc::clone(&stop)));
    }
    for term in [2, 3] {
        let rotated = parsed(&installation.run("rotate", &["--json"]).await);
        assert_eq!(rotated["term"], term, "{rotated:#}");
        one_key_seals_all(&served, term).await;
    }
    stop.store(true, Ordering::SeqCst);
    are_stored(&root, &writers.join_all().await.concat()).await;
    let metrics = String::from_utf8(served.get("/metrics").await.body.to_vec()).expect("UTF-8");
    assert!(metrics.contains("quorate_sealing_terms 1"), "{metrics}");
    drop(served);
    let verified = installation.verify().await;
    assert_eq!(verified.code, 0, "{verified:#?}");
    let none = installation.run("rotate", &[]).await;
    assert!(none.code == 8 && none.stderr.contains("no daemon listens"), "{none:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_are_rotated_under_load_on_sled() {
    rotate_under_load("sled").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_are_rotated_under_load_on_redb() {
    rotate_under_load("redb").await;
}

/// Wherever a rotation is killed, every record can be read, and the next start ends it.
#[tokio::test]
async fn a_rotation_that_is_killed_goes_on() {
    let installation = Installation::new(KEY_FILE);
    let key = Key::named("first root user");
    let organization = installation.create_organization("treasury", &key).await;
    let mut term = 1;
    let mut count = 0;
    for point in [
        "term.begin",
        "term.begun",
        "seal_again.read",
        "1*off->return",
        "seal_again.done",
        "term.forget",
        "term.forgotten",
    ] {
        // The second page of a walk, too.
        let fails = match point {
            "1*off->return" => "seal_again.read=1*off->return".to_owned(),
            point => format!("{point}=return"),
        };
        let mut served = installation.serve_with(&[("FAIL_POINTS", &fails)]).await;
        let root = served.caller(&organization, key.clone());
        root.completed(CREATE_WALLET, &requests::wallet(&format!("before {point}"))).await;
        count += 1;
        // It may be killed before it answers.
        let _ = installation.run("rotate", &[]).await;
        assert_ne!(served.ended().await, 0, "{point}");
        drop(served);
        let verified = installation.verify().await;
        assert_eq!(verified.code, 0, "{point}: {verified:#?}");
        let served = installation.serve().await;
        let newest = sealing_key(&served).await["term"].as_u64().expect("a term");
        // Before it is durable, nothing has begun.
        assert_eq!(newest, if point == "term.begin" { term } else { term + 1 }, "{point}");
        term = newest;
        one_key_seals_all(&served, term).await;
        assert_eq!(wallets(&served.caller(&organization, key.clone())).await, count, "{point}");
    }
}

/// Sends a request until it is executed. A database ends the session of a daemon that was suspended in a transaction, and the
/// daemon then answers that it must be sent again.
async fn executed(root: &Caller, body: &[u8]) -> Value {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let reply = root.send(&submit_path(CREATE_WALLET), body).await;
        if reply.status != 503 || Instant::now() > deadline {
            return reply.activity();
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// A daemon that was suspended while its term ended commits nothing that it sealed before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn daemons_on_one_database_rotate_together() {
    let fleet = Fleet::start(3, (1, 1), "").await;
    let process =
        i32::try_from(fleet.daemon(2).process_id()).ok().and_then(Pid::from_raw).expect("a process");
    let stop = Arc::new(AtomicBool::new(false));
    let mut writers = tokio::task::JoinSet::new();
    let address = requests::create_wallet(&fleet.root(0, 0), "signs").await;
    for daemon in 0..2 {
        writers.spawn(sign(fleet.root(daemon, 0), address.clone(), Arc::clone(&stop)));
    }
    // These requests are decided before the rotation, and committed after it.
    let suspended: Vec<_> = (0..8)
        .map(|number| {
            let root = fleet.root(2, 0);
            let body = root.proposal(CREATE_WALLET, &requests::wallet(&format!("suspended {number}")));
            tokio::spawn(async move { executed(&root, &body).await })
        })
        .collect();
    kill_process(process, Signal::STOP).expect("the daemon runs");
    let rotated = parsed(&fleet.installation(0).run("rotate", &["--json"]).await);
    assert_eq!(rotated["term"], 2, "{rotated:#}");
    one_key_seals_all(fleet.daemon(0), 2).await;
    kill_process(process, Signal::CONT).expect("the daemon exists");
    for request in suspended {
        assert_eq!(request.await.expect("answered")["status"], "ACTIVITY_STATUS_COMPLETED");
    }
    for daemon in 0..3 {
        one_key_seals_all(fleet.daemon(daemon), 2).await;
    }
    stop.store(true, Ordering::SeqCst);
    are_stored(&fleet.root(2, 0), &writers.join_all().await.concat()).await;
    fleet.root(2, 0).completed(CREATE_WALLET, &requests::wallet("after")).await;
    for daemon in 0..3 {
        assert_eq!(wallets(&fleet.root(daemon, 0)).await, 10);
    }
    let old = "SELECT count(*) FROM quorate.record WHERE right(encode(value, 'hex'), 2) IN ('01', '02') \
        OR right(encode(value, 'hex'), 10) IN ('0000000103', '0000000104')";
    assert_eq!(fleet.cluster.sql(old), "0\n");
    fleet.verify().await;
}
