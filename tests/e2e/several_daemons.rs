//! Several daemons that share a store: whatever one of them acknowledged holds on all of them, at once.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hyper::Method;
use quorate_tests::caller::{Caller, submit_path};
use quorate_tests::daemon::POLL_INTERVAL;
use quorate_tests::fleet::Fleet;
use quorate_tests::http::{Listener, TIMEOUT};
use quorate_tests::keys::Key;
use quorate_tests::paths;
use quorate_tests::receiver::Receiver;
use quorate_tests::requests::{self, CREATE_WALLET, SIGN};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::{Value, json};
use tokio::task::JoinSet;

/// Number of copies of one body.
const COPIES: usize = 64;
/// Number of requests after each revocation.
const REQUESTS: usize = 20;
/// Number of writers during crashes.
const WRITERS: usize = 6;

/// Returns the number of rounds in the short and in the long form, or the one in `ROUNDS`.
fn rounds(short: usize, long: usize) -> usize {
    let is_long = std::env::var("FAULTS").is_ok_and(|form| form == "full");
    let chosen = std::env::var("ROUNDS").ok().filter(|rounds| !rounds.is_empty());
    chosen.map_or(if is_long { long } else { short }, |rounds| rounds.parse().expect("a number of rounds"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_daemon_acknowledged_is_seen_by_all() {
    let fleet = Fleet::start(3, (1, 1), "").await;
    for number in 0..12 {
        let (writer, reader) = (fleet.root(number % 3, 0), fleet.root((number + 1) % 3, 0));
        let created = writer.completed(CREATE_WALLET, &requests::wallet(&format!("wallet {number}"))).await;
        let wallets = reader.fetch("list_wallets", json!({})).await;
        assert_eq!(wallets["wallets"].as_array().map(Vec::len), Some(number + 1), "{wallets:#}");
        assert_eq!(reader.activity(&created["id"]).await, created);
    }
    fleet.verify().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn copies_of_a_body_to_all_daemons_run_once() {
    let fleet = Fleet::start(3, (1, 1), "").await;
    let root = fleet.root(0, 0);
    for round in 0..3 {
        let body = root.proposal(CREATE_WALLET, &requests::wallet(&format!("once {round}")));
        let mut tasks = JoinSet::new();
        for copy in 0..COPIES {
            let (caller, body) = (fleet.root(copy % 3, 0), body.clone());
            tasks.spawn(async move { caller.send(&submit_path(CREATE_WALLET), &body).await.activity() });
        }
        let answers = tasks.join_all().await;
        assert!(answers.iter().all(|answer| *answer == answers[0]), "two answers to one body differ");
        assert_eq!(answers[0]["status"], "ACTIVITY_STATUS_COMPLETED");
    }
    let wallets = fleet.root(2, 0).fetch("list_wallets", json!({})).await;
    assert_eq!(wallets["wallets"].as_array().map(Vec::len), Some(3), "{wallets:#}");
    fleet.verify().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f9_a_key_that_one_daemon_deleted_is_refused_by_all() {
    let revocations = rounds(20, 5_000);
    let fleet = Fleet::start(3, (1, 1), "").await;
    let address = requests::create_wallet(&fleet.root(0, 0), "signs").await;
    let user = fleet.root(0, 0).fetch("whoami", json!({})).await["userId"].clone();
    for round in 0..revocations {
        let key = Key::named(&format!("revoked {round}"));
        let parameters = json!({ "userId": user, "apiKeys": [{ "apiKeyName": format!("key {round}"),
            "publicKey": key.public_key(), "curveType": "API_KEY_CURVE_P256" }] });
        let created = fleet.root(round % 3, 0).result("ACTIVITY_TYPE_CREATE_API_KEYS_V2", &parameters).await;
        let id = created["apiKeyIds"][0].clone();
        // Each daemon has the key in its cache.
        for daemon in 0..3 {
            let caller = fleet.root(daemon, 0).with_key(&key);
            caller.completed(SIGN, &requests::sign(&address, "before")).await;
        }
        let delete = json!({ "userId": user, "apiKeyIds": [id] });
        fleet.root(round % 3, 0).completed("ACTIVITY_TYPE_DELETE_API_KEYS", &delete).await;
        let mut tasks = JoinSet::new();
        for request in 0..REQUESTS {
            let caller = fleet.root((round + 1 + request % 2) % 3, 0).with_key(&key);
            let address = address.clone();
            tasks.spawn(async move {
                match request % 3 {
                    0 => caller.query("whoami", json!({})).await.status,
                    _ => caller.submit(SIGN, &requests::sign(&address, "after")).await.status,
                }
            });
        }
        let statuses = tasks.join_all().await;
        assert!(statuses.iter().all(|status| *status == 401 || *status == 403), "{statuses:?}");
    }
    eprintln!("f9 revocations: {revocations}, {} requests afterwards, 0 honoured", revocations * REQUESTS);
    fleet.verify().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn votes_at_different_daemons_count_together() {
    let fleet = Fleet::start(3, (2, 3), "").await;
    let pending = fleet.root(0, 0).waiting(CREATE_WALLET, &requests::wallet("by two")).await;
    // Both votes complete it, at two daemons at once; one of them executes it.
    let (second, third) = (fleet.root(1, 1), fleet.root(2, 2));
    let (one, other) =
        tokio::join!(second.approve(&pending["fingerprint"]), third.approve(&pending["fingerprint"]));
    assert!(one.status == 200 || other.status == 200);
    let stored = fleet.root(0, 0).activity(&pending["id"]).await;
    assert_eq!(stored["status"], "ACTIVITY_STATUS_COMPLETED", "{stored:#}");
    let wallets = fleet.root(1, 1).fetch("list_wallets", json!({})).await;
    assert_eq!(wallets["wallets"].as_array().map(Vec::len), Some(1), "{wallets:#}");
    fleet.verify().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn webhooks_are_delivered_once_and_by_another_daemon_after_a_crash() {
    let mut fleet =
        Fleet::start(3, (1, 1), "[webhook]\nallow_networks = [\"127.0.0.0/8\"]\nallow_http = true\n").await;
    let receiver = Receiver::start().await;
    let feature = json!({ "name": "FEATURE_NAME_WEBHOOK", "value": receiver.url("/hook") });
    fleet.root(0, 0).completed("ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE", &feature).await;
    let mut expected: Vec<Value> = Vec::new();
    for number in 0..9 {
        let wallet = requests::wallet(&format!("wallet {number}"));
        expected.push(fleet.root(number % 3, 0).completed(CREATE_WALLET, &wallet).await["id"].clone());
    }
    let has_all = |ids: &[Value]| {
        let ids = ids.to_vec();
        move |deliveries: &[quorate_tests::receiver::Delivery]| {
            ids.iter().all(|id| deliveries.iter().any(|delivery| delivery.body["id"] == *id))
        }
    };
    let deliveries = receiver.until("all updates", has_all(&expected)).await;
    for id in &expected {
        let count = deliveries.iter().filter(|delivery| delivery.body["id"] == *id).count();
        assert_eq!(count, 1, "{id} was delivered {count} times");
    }
    // The daemon that delivers is one of these two.
    for crashed in 0..2 {
        fleet.kill(crashed);
        let wallet = requests::wallet(&format!("after crash {crashed}"));
        expected.push(fleet.root(2, 0).completed(CREATE_WALLET, &wallet).await["id"].clone());
    }
    receiver.until("updates after the crashes", has_all(&expected)).await;
    for daemon in 0..2 {
        fleet.restart(daemon).await;
    }
    fleet.verify().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_daemon_must_join_before_it_serves_and_only_once() {
    let fleet = Fleet::start(2, (1, 1), "").await;
    let again = fleet.installation(1).run("join", &[]).await;
    assert_eq!(again.code, 1, "{again:#?}");
    assert!(again.stderr.contains("shares the store already"), "{again:#?}");
    // The guard file of another daemon does not help.
    std::fs::remove_file(fleet.installation(1).path("data/guard")).expect("removed");
    std::fs::copy(fleet.installation(0).path("data/guard"), fleet.installation(1).path("data/guard"))
        .expect("copied");
    let stolen = fleet.installation(1).run("serve", &[]).await;
    assert_eq!(stolen.code, 6, "{stolen:#?}");
    assert!(stolen.stderr.contains("uses the guard file of this daemon"), "{stolen:#?}");
    // Beside its own daemon, a command names what can be done instead.
    for (command, more, words) in [
        (
            "quorum-key",
            &[][..],
            "first; each daemon needs a data directory of its own; while the daemon runs, `quorate status`",
        ),
        ("accept-loss", &["--confirm", "lost"], "data away and run 'quorated join'"),
    ] {
        let run = fleet.installation(0).run(command, more).await;
        assert_eq!(run.code, 6, "{run:#?}");
        assert!(run.stderr.contains(words), "{run:#?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_daemon_lists_all_of_them() {
    let fleet = Fleet::start(3, (1, 1), "").await;
    let mut own = Vec::new();
    for daemon in 0..3 {
        let status = fleet.daemon(daemon).get("/console/v1/status").await.success();
        let daemons = status["engine"]["daemons"].as_array().expect("daemons").clone();
        assert_eq!(daemons.len(), 3, "{status:#}");
        let queried: Vec<_> = daemons.iter().filter(|listed| listed["isQueried"] == true).collect();
        assert_eq!(queried.len(), 1, "{status:#}");
        assert_eq!(queried[0]["version"], env!("CARGO_PKG_VERSION"), "{status:#}");
        own.push(queried[0]["id"].to_string());
    }
    own.sort();
    own.dedup();
    assert_eq!(own.len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_daemon_states_how_late_it_learns_of_the_commits_of_others() {
    let fleet = Fleet::start(2, (1, 1), "").await;
    let process =
        i32::try_from(fleet.daemon(1).process_id()).ok().and_then(Pid::from_raw).expect("a process");
    kill_process(process, Signal::STOP).expect("the daemon runs");
    fleet.root(0, 0).completed(CREATE_WALLET, &requests::wallet("new")).await;
    fleet.cluster.sql("SELECT pg_sleep(0.3)");
    kill_process(process, Signal::CONT).expect("the daemon exists");
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let status = fleet.daemon(1).get("/console/v1/status").await.success();
        let metrics = String::from_utf8(fleet.daemon(1).get("/metrics").await.body.to_vec()).expect("UTF-8");
        let metric = metrics.lines().find_map(|line| line.strip_prefix("quorate_notice_lag_milliseconds "));
        let metric: u64 = metric.expect("a figure").parse().expect("a number");
        // The notice waited while the daemon was stopped.
        if status["engine"]["noticeLagMillis"].as_u64().is_some_and(|lag| lag >= 300) && metric >= 300 {
            break;
        }
        assert!(Instant::now() < deadline, "{status:#}");
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deleted_organization_is_unknown_to_all() {
    let fleet = Fleet::start(2, (1, 1), "").await;
    let key = Key::named("child");
    let parameters = requests::sub_organization("child", &[requests::root_user("ann", &key)], 1);
    let created = fleet.root(0, 0).result(requests::CREATE_SUB_ORGANIZATION, &parameters).await;
    let id = created["subOrganizationId"].as_str().expect("an id").to_owned();
    let children: Vec<_> = (0..2).map(|daemon| fleet.root(daemon, 0).on(&id).with_key(&key)).collect();
    for child in &children {
        child.fetch("whoami", json!({})).await;
    }
    let delete = json!({ "deleteWithoutExport": true });
    children[0].completed("ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION", &delete).await;
    for child in &children {
        assert_eq!(child.query("whoami", json!({})).await.status, 404);
        assert_eq!(child.submit(CREATE_WALLET, &requests::wallet("late")).await.status, 404);
    }
}

/// Tables of the store.
const TABLES: [&str; 3] = ["record", "queue", "register"];

/// Restores an older state of the database of several daemons, in which only the first `known` ones had joined. Each of the
/// daemons refuses it, and accepts it on request. Does so twice.
async fn roll_back(known: usize, daemons: usize) {
    let mut fleet = Fleet::start(known, (1, 1), "").await;
    for round in 0..2 {
        // Of one moment: the daemons append to the activity log meanwhile.
        let copies =
            TABLES.map(|table| format!("CREATE TABLE public.{table} AS SELECT * FROM quorate.{table};"));
        fleet.cluster.sql(&format!("BEGIN ISOLATION LEVEL REPEATABLE READ; {} COMMIT", copies.concat()));
        // The older state does not know the runs that begin now.
        for daemon in 0..fleet.count() {
            fleet.restart(daemon).await;
        }
        for _ in fleet.count()..daemons {
            fleet.add("").await;
        }
        lose(&mut fleet, round).await;
    }
    fleet.verify().await;
}

/// Changes something at one daemon, which all mark, puts the older state back, and lets each daemon accept it.
async fn lose(fleet: &mut Fleet, round: usize) {
    let daemons = fleet.count();
    // The other daemons change nothing, and mark what they have heard of.
    fleet.root(0, 0).completed(CREATE_WALLET, &requests::wallet(&format!("lost {round}"))).await;
    let marks = "SELECT count(*) FROM quorate.record WHERE substr(key, 1, 2) = 'mg' \
        AND (key, value) NOT IN (SELECT key, value FROM public.record)";
    while fleet.cluster.sql(marks) != format!("{daemons}\n") {
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    for daemon in 0..daemons {
        fleet.kill(daemon);
    }
    for table in TABLES {
        fleet.cluster.sql(&format!(
            "TRUNCATE quorate.{table}; INSERT INTO quorate.{table} SELECT * FROM public.{table}; \
             DROP TABLE public.{table}"
        ));
    }
    for daemon in 0..daemons {
        let ended = fleet.installation(daemon).run("serve", &[]).await;
        assert_eq!(ended.code, 10, "{daemon}: {ended:#?}");
    }
    // Each guard file is a witness of its own.
    for daemon in (0..daemons).rev() {
        let accepted = fleet.installation(daemon).run("accept-loss", &["--confirm", "lost"]).await;
        assert_eq!(accepted.code, 0, "{daemon}: {accepted:#?}");
    }
    for daemon in 0..daemons {
        fleet.restart(daemon).await;
        let name = format!("later {round} {daemon}");
        fleet.root(daemon, 0).completed(CREATE_WALLET, &requests::wallet(&name)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_only_daemon_detects_a_database_that_was_rolled_back() {
    roll_back(1, 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_daemon_detects_a_database_that_was_rolled_back() {
    roll_back(3, 3).await;
}

/// A daemon that the older state does not know stays the daemon that it was.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn daemons_that_joined_later_detect_a_database_that_was_rolled_back() {
    roll_back(1, 3).await;
}

/// A clock that jumps ahead stops its daemon. Nothing remains for which the daemons would have to wait.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_clock_that_jumps_ahead_leaves_nothing_behind() {
    let mut fleet = Fleet::start(2, (1, 1), "").await;
    let clock = fleet.installation(1).path("clock");
    let set = |shift: &str| std::fs::write(&clock, shift).expect("the clock can be set");
    set("+0");
    let (library, file) = (paths::faketime(), clock.display().to_string());
    let variables = [
        ("LD_PRELOAD", library.to_str().expect("a path in UTF-8")),
        ("FAKETIME_TIMESTAMP_FILE", &*file),
        ("FAKETIME_NO_CACHE", "1"),
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
    ];
    fleet.restart_with(1, &variables).await;
    for is_busy in [false, true] {
        fleet.root(1, 0).completed(CREATE_WALLET, &requests::wallet(&format!("before {is_busy}"))).await;
        set("+2h");
        let mut number = 0;
        while fleet.daemon(1).get("/readyz").await.status == 200 {
            if is_busy {
                number += 1;
                fleet.root(1, 0).submit(CREATE_WALLET, &requests::wallet(&format!("ahead {number}"))).await;
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        fleet.installation(1).logs("differs from that of the database server").await;
        set("+0");
        while fleet.daemon(1).get("/readyz").await.status != 200 {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }
    for daemon in 0..2 {
        fleet.root(daemon, 0).completed(CREATE_WALLET, &requests::wallet(&format!("after {daemon}"))).await;
    }
    for daemon in 0..2 {
        fleet.restart(daemon).await;
        fleet.root(daemon, 0).completed(CREATE_WALLET, &requests::wallet(&format!("later {daemon}"))).await;
    }
    fleet.verify().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn altered_records_and_clocks_are_accepted_for_each_daemon() {
    let mut fleet = Fleet::start(3, (1, 1), "").await;
    for daemon in 0..3 {
        fleet.root(daemon, 0).completed(CREATE_WALLET, &requests::wallet(&format!("wallet {daemon}"))).await;
    }
    (0..3).for_each(|daemon| fleet.kill(daemon));
    let accepted = fleet.installation(1).run("accept-clock", &["--confirm", "back"]).await;
    assert_eq!(accepted.code, 0, "{accepted:#?}");
    let body = "SELECT key FROM quorate.record WHERE substr(key, 1, 1) = 'h' LIMIT 1";
    fleet.cluster.sql(&format!("DELETE FROM quorate.record WHERE key = ({body})"));
    let noticed = fleet.installation(0).run("verify", &[]).await;
    assert_eq!(noticed.code, 7, "{noticed:#?}");
    let accepted = fleet.installation(2).run("accept-loss", &["--confirm", "lost"]).await;
    assert_eq!(accepted.code, 0, "{accepted:#?}");
    for daemon in 0..3 {
        fleet.restart(daemon).await;
        fleet.root(daemon, 0).fetch("whoami", json!({})).await;
    }
    fleet.verify().await;
}

/// What the writers have sent and was acknowledged.
#[derive(Default)]
struct Sent {
    /// Ids of the activities, by their payloads.
    acknowledged: BTreeMap<String, Value>,
    /// Longest time until a body was acknowledged.
    longest: Duration,
    /// Daemon that did not answer a request in time.
    silent: Option<usize>,
}

/// Longest time until each request has an answer, whatever fails.
const ANSWER: Duration = Duration::from_secs(10);

/// Signs until `stops`. Each body is sent to one daemon after the other until it is acknowledged.
async fn write(
    writer: usize,
    (callers, address): (Vec<Caller>, String),
    sent: Arc<Mutex<Sent>>,
    stops: Arc<AtomicBool>,
) {
    let mut daemon = writer;
    for number in 0.. {
        let payload = format!("payload {writer} {number}");
        let body = callers[0].proposal(SIGN, &requests::sign(&address, &payload));
        let begun = Instant::now();
        loop {
            if stops.load(Ordering::Relaxed) {
                return;
            }
            daemon += 1;
            let path = submit_path(SIGN);
            let sending = callers[daemon % callers.len()].try_send(&path, &body);
            let Ok(answer) = tokio::time::timeout(ANSWER, sending).await else {
                sent.lock().expect("a lock").silent = Some(daemon % callers.len());
                return;
            };
            match answer {
                Ok(reply) if reply.status == 200 => {
                    let activity = reply.activity();
                    assert_eq!(activity["status"], "ACTIVITY_STATUS_COMPLETED", "{activity:#}");
                    let mut sent = sent.lock().expect("a lock");
                    sent.acknowledged.insert(payload, activity["id"].clone());
                    sent.longest = sent.longest.max(begun.elapsed());
                    break;
                }
                Ok(reply) => assert_eq!(reply.status, 503, "{reply:?}"),
                Err(_) => {}
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f9_crashes_of_daemons_and_of_the_database_lose_and_repeat_nothing() {
    let crashes = rounds(9, 1_000);
    let mut fleet = Fleet::start(3, (1, 1), "").await;
    let address = requests::create_wallet(&fleet.root(0, 0), "signs").await;
    let (sent, stops) = (Arc::<Mutex<Sent>>::default(), Arc::<AtomicBool>::default());
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let callers = (0..3).map(|daemon| fleet.root(daemon, 0)).collect();
        writers.spawn(write(writer, (callers, address.clone()), Arc::clone(&sent), Arc::clone(&stops)));
    }
    let count = || sent.lock().expect("a lock").acknowledged.len();
    let proceeds = async |fleet: &Fleet, wanted: usize| {
        while count() < wanted {
            if let Some(daemon) = sent.lock().expect("a lock").silent {
                let sessions = "SELECT state, wait_event, left(query, 80) FROM pg_stat_activity";
                let (log, sessions) = (fleet.log(daemon), fleet.cluster.sql(sessions));
                panic!("daemon {daemon} does not answer:\n{sessions}\n{log}");
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    };
    for crash in 0..crashes {
        proceeds(&fleet, count() + 10 + crash * 7 % 11).await;
        fleet.kill(crash % 3);
        if crash % 3 == 1 {
            fleet.crash_database();
        }
        // The other daemons continue.
        proceeds(&fleet, count() + 10).await;
        fleet.restart(crash % 3).await;
    }
    stops.store(true, Ordering::Relaxed);
    writers.join_all().await;
    let sent = std::mem::take(&mut *sent.lock().expect("a lock"));
    let mut stored: BTreeMap<String, Value> = BTreeMap::new();
    for activity in fleet.root(1, 0).activities().await.into_iter().filter(|one| one["type"] == SIGN) {
        let payload = activity["intent"]["signRawPayloadIntentV2"]["payload"].to_string();
        let before = stored.insert(payload, activity.clone());
        assert!(before.is_none(), "one body is two activities: {activity:#}");
    }
    for (payload, id) in &sent.acknowledged {
        let activity = &stored[&format!("{payload:?}")];
        assert_eq!((&activity["id"], &activity["status"]), (id, &"ACTIVITY_STATUS_COMPLETED".into()));
    }
    // At most the last body of each writer was executed without an answer.
    let (all, acknowledged) = (stored.len(), sent.acknowledged.len());
    assert!(all <= acknowledged + WRITERS, "{all} of {acknowledged}");
    eprintln!(
        "f9 crashes: {crashes}, {acknowledged} activities acknowledged, 0 lost, 0 twice, each within {} ms",
        sent.longest.as_millis()
    );
    fleet.verify().await;
}

/// Returns a command that runs the script in a folder of `assets/` without a terminal, in a process group of its own. No signal is
/// ignored, as it is for tests that run in the background of a shell.
fn script(folder: &str) -> Command {
    let mut command = Command::new("env");
    command.arg("--default-signal");
    command.arg(format!("{}/../assets/{folder}/start.sh", env!("CARGO_MANIFEST_DIR")));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).process_group(0);
    command
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_script_of_the_readme_starts_three_daemons_and_leaves_nothing() {
    let programs = paths::program("quorated").parent().expect("a folder").to_owned();
    let mut script = script("cluster").arg(programs).spawn().expect("the script runs");
    let mut output = BufReader::new(script.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
    let mut lines = Vec::new();
    while lines.last().is_none_or(|line: &String| !line.starts_with("There is no terminal")) {
        lines.push(output.next().unwrap_or_else(|| panic!("the script ended: {lines:#?}")));
    }
    assert!(lines.iter().any(|line| line.starts_with("daemons   3: this one")), "{lines:#?}");
    let addresses = lines.iter().filter_map(|line| line.split_once("API http://")?.1.split(',').next());
    let listeners: Vec<_> =
        addresses.map(|address| Listener::Tcp(address.parse().expect("an address"))).collect();
    assert_eq!(listeners.len(), 3, "{lines:#?}");
    for listener in &listeners {
        let mut connection = listener.connect().await.expect("a daemon");
        let reply = connection.call(Method::GET, "/readyz", &[], b"").await.expect("an answer");
        assert_eq!(reply.status, 200, "{reply:?}");
    }
    kill_process(Pid::from_child(&script), Signal::TERM).expect("the script can be ended");
    script.wait().expect("the script ends");
    let folder = Path::new(lines[0].rsplit(' ').next().expect("a folder"));
    assert!(folder.is_absolute() && !folder.exists(), "{} is left", folder.display());
    for listener in &listeners {
        assert!(listener.connect().await.is_err(), "a daemon is left");
    }
}

#[test]
fn the_script_of_the_readme_leaves_nothing_after_a_signal_of_the_terminal() {
    let programs = paths::program("quorated").parent().expect("a folder").to_owned();
    // A closed terminal, and Ctrl-C three times.
    for (signal, count) in [(Signal::HUP, 1), (Signal::INT, 3)] {
        let mut script = script("cluster").arg(&programs).spawn().expect("the script runs");
        let mut output = BufReader::new(script.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
        let mut read_until = |end: &str| {
            let mut lines: Vec<String> = Vec::new();
            while lines.last().is_none_or(|line| !line.starts_with(end)) {
                lines.push(output.next().unwrap_or_else(|| panic!("the script ended: {lines:#?}")));
            }
            lines
        };
        let lines = read_until("There is no terminal");
        let group = Pid::from_child(&script);
        kill_process_group(group, signal).expect("the script can be ended");
        read_until("stopping ");
        for _ in 1..count {
            // It may have ended meanwhile.
            let _ = kill_process_group(group, signal);
        }
        script.wait().expect("the script ends");
        let folder = Path::new(lines[0].rsplit(' ').next().expect("a folder"));
        assert!(folder.is_absolute() && !folder.exists(), "{} is left", folder.display());
        for line in &lines {
            let address = line.split_once("API http://").and_then(|(_, rest)| rest.split(',').next());
            assert!(
                address.is_none_or(|address| TcpStream::connect(address).is_err()),
                "a daemon is left: {line}"
            );
        }
    }
}

#[test]
fn the_scripts_with_three_daemons_check_their_arguments_before_anything_starts() {
    for folder in ["cluster", "ha"] {
        let run = |argument: &str| {
            let output = script(folder).arg(argument).output().expect("the script runs");
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            (output.status.code(), text(&output.stdout), text(&output.stderr))
        };
        let (code, stdout, stderr) = run("--help");
        assert!(
            code == Some(0) && stdout.contains("Usage: start.sh ") && stderr.is_empty(),
            "{stdout}{stderr}"
        );
        let wrong = [
            ("--unknown", 2, "start.sh: unknown "),
            ("/nowhere", 1, "start.sh: there is no program quorated in /nowhere: "),
        ];
        for (argument, expected, reason) in wrong {
            let (code, stdout, stderr) = run(argument);
            assert_eq!((code, &*stdout), (Some(expected), ""), "{stderr}");
            assert!(stderr.starts_with(reason) && stderr.lines().count() == 1, "{stderr}");
        }
    }
}
