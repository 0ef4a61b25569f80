//! The activity log: every state of an activity is in it once, and a store that is put back to an earlier state is noticed.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use base64ct::{Base64, Encoding};
use quorate_common::activity_log::{Checkpoint, VerifierKey};
use quorate_common::fingerprint::Fingerprint;
use quorate_tests::caller::{Caller, submit_path};
use quorate_tests::daemon::{Daemon, Options, POLL_INTERVAL};
use quorate_tests::fleet::Fleet;
use quorate_tests::http::{Listener, TIMEOUT};
use quorate_tests::installation::{Installation, RunningDaemon};
use quorate_tests::keys::Key;
use quorate_tests::operator::Operator;
use quorate_tests::receiver::Receiver;
use quorate_tests::requests::{self, CREATE_WALLET, SIGN};
use serde_json::{Value, json};

use crate::third_party;

const KEY_FILE: &str = "file = \"root.key\"";
const NOT_FOUND: i32 = 3;
const FAILED_CHECK: i32 = 7;
const OLDER: i32 = 11;

/// Returns the newest checkpoint, with the proof that the log begins with this number of entries.
async fn checkpoint(listener: &Listener, from: u64) -> Value {
    let mut connection = listener.connect().await.expect("the daemon accepts connections");
    let path = format!("/public/v1/discovery/checkpoint?from={from}");
    connection.call(hyper::Method::GET, &path, &[], b"").await.expect("an answer").success()
}

/// Returns the number of entries of a checkpoint.
fn entries(checkpoint: &Value) -> u64 {
    let text = checkpoint["checkpoint"].as_str().expect("a note");
    text.lines().nth(1).and_then(|line| line.parse().ok()).expect("a number of entries")
}

/// Waits until the log has this number of entries.
async fn has_entries(listener: &Listener, count: u64) -> Value {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let found = checkpoint(listener, 0).await;
        match entries(&found) {
            size if size == count => return found,
            size => assert!(size < count && Instant::now() < deadline, "{size} entries instead of {count}"),
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").args([from, to]).status().expect("cp runs");
    assert!(copied.success());
}

/// Wallets and votes, each with its number of entries in the log.
async fn work(root: &Caller, count: u64) -> u64 {
    for number in 0..count {
        root.completed(CREATE_WALLET, &requests::wallet(&format!("wallet {number} of {count}"))).await;
    }
    count
}

/// A console that saw the newer state refuses the older one, whatever it reads, until its user accepts it. One that never saw the
/// daemon cannot notice anything.
async fn notices(operator: &Operator, newcomer: &Operator, listener: &Listener) {
    for command in [["log", "verify"], ["org", "get"], ["approvals", "ls"]] {
        let run = operator.run(&command).await.with(OLDER);
        let text = format!("{}{}", run.output, run.stderr);
        assert!(text.contains("put back to an earlier state"), "{run:#?}");
    }
    let _ = newcomer.run(&["log", "verify"]).await.with(0);
    let stated = checkpoint(listener, 0).await;
    let root = stated["checkpoint"].as_str().and_then(|note| note.lines().nth(2)).expect("a root");
    let key = stated["verifierKey"].as_str().expect("a key");
    for (key, root) in [(key, "AAAA"), ("quorate/5f+00000000+AQ==", root)] {
        let run = operator.run(&["log", "accept", "--verifier-key", key, "--root", root]).await;
        assert!(run.code == FAILED_CHECK && run.stderr.contains("nothing was accepted"), "{run:#?}");
    }
    let doctor = operator.run(&["doctor"]).await.with(FAILED_CHECK);
    assert!(doctor.output.contains("\"activity-log\""), "{doctor:#?}");
    // Both logs are shown, so that an operator can read out the one that is stated.
    let shown = operator.run(&["log", "verify"]).await.with(OLDER).json();
    assert_eq!((&shown["stated"]["root"], &shown["stated"]["verifierKey"]), (&json!(root), &json!(key)));
    assert!(shown["known"]["entries"].as_u64() > shown["stated"]["entries"].as_u64(), "{shown:#}");
    let lost = shown["known"]["entries"].clone();
    let accept = ["log", "accept", "--verifier-key", key, "--root", root];
    let _ = operator.run(&accept).await.with(0);
    assert_ne!(operator.run(&accept).await.code, 0, "nothing is left to accept");
    let after = operator.run(&["log", "verify"]).await.with(0).json();
    assert_eq!(after["entriesBeforeRestore"], lost, "{after:#}");
    let run = operator.run(&["log", "verify", "--json"]).await.with(0).json();
    assert_eq!((&run["entries"], &run["root"]), (&json!(entries(&stated)), &json!(root)), "{run:#}");
}

/// A stage with a store in a directory.
async fn put_back(engine: &str) {
    let installation = Installation::new(KEY_FILE);
    installation.configure(&format!(
        "[socket]\npath = \"run/socket\"\n\n[store]\npath = \"data\"\nengine = \"{engine}\"\n\n[key]\n{KEY_FILE}\n"
    ));
    let key = Key::named("first root user");
    let organization = installation.create_organization("treasury", &key).await;
    let served = installation.serve().await;
    let operator = Operator::reading(&installation.path("run/socket"), &organization);
    let newcomer = Operator::reading(&installation.path("run/socket"), &organization);
    let root = |served: &RunningDaemon| served.caller(&organization, key.clone());
    let mut count = work(&root(&served), 5).await;
    let first = has_entries(served.listener(), count).await;
    let run = operator.run(&["log", "verify", "--json"]).await.with(0).json();
    assert_eq!((&run["entries"], &run["knownEntries"]), (&json!(count), &Value::Null), "{run:#}");
    drop(served);
    copy(&installation.path("data"), &installation.path("older"));
    let served = installation.serve().await;
    count += work(&root(&served), 3).await;
    has_entries(served.listener(), count).await;
    let run = operator.run(&["log", "verify", "--json"]).await.with(0).json();
    assert_eq!((&run["entries"], &run["knownEntries"]), (&json!(count), &json!(5)), "{run:#}");
    drop(served);
    std::fs::remove_dir_all(installation.path("data")).expect("removed");
    copy(&installation.path("older"), &installation.path("data"));
    // Everything is older, the guard file too, so the daemon itself cannot notice it.
    let served = installation.serve().await;
    assert_eq!(checkpoint(served.listener(), 0).await, first);
    notices(&operator, &newcomer, served.listener()).await;
    // A log that has grown again is another one.
    let other = Operator::reading(&installation.path("run/socket"), &organization);
    let _ = other.run(&["log", "verify"]).await.with(0);
    work(&root(&served), 4).await;
    has_entries(served.listener(), 9).await;
    let _ = other.run(&["log", "verify"]).await.with(0);
    drop(served);
    let verified = installation.verify().await;
    assert_eq!(verified.code, 0, "{verified:#?}");
}

#[tokio::test]
async fn a_console_notices_an_older_store_on_sled() {
    put_back("sled").await;
}

#[tokio::test]
async fn a_console_notices_an_older_store_on_redb() {
    put_back("redb").await;
}

/// A database that was put back, and a daemon whose own files were put back with it.
#[tokio::test]
async fn a_console_notices_an_older_store_on_postgres() {
    let mut fleet = Fleet::start(1, (1, 1), "").await;
    let root = fleet.root(0, 0);
    let (organization, listener) = (root.organization().to_owned(), root.listener().clone());
    let Listener::Socket(socket) = &listener else { panic!("a socket") };
    let (operator, newcomer) =
        (Operator::reading(socket, &organization), Operator::reading(socket, &organization));
    let mut count = work(&root, 5).await;
    has_entries(&listener, count).await;
    fleet.kill(0);
    let data = fleet.installation(0).path("data");
    let older = fleet.installation(0).path("older");
    copy(&data, &older);
    fleet.cluster.copy_database("older");
    fleet.restart(0).await;
    count += work(&fleet.root(0, 0), 3).await;
    has_entries(&listener, count).await;
    let run = operator.run(&["log", "verify", "--json"]).await.with(0).json();
    assert_eq!(run["entries"], json!(count), "{run:#}");
    fleet.kill(0);
    fleet.cluster.put_back_database("older");
    std::fs::remove_dir_all(&data).expect("removed");
    copy(&older, &data);
    fleet.restart(0).await;
    has_entries(&listener, 5).await;
    notices(&operator, &newcomer, &listener).await;
}

/// A restore begins another epoch: consoles continue with fewer entries, and refuse the store of before.
#[tokio::test]
async fn a_restore_is_no_rollback_and_the_store_of_before_is_one() {
    let installation = Installation::new(KEY_FILE);
    let key = Key::named("first root user");
    let organization = installation.create_organization("treasury", &key).await;
    let served = installation.serve().await;
    let operator = Operator::reading(&installation.path("run/socket"), &organization);
    let root = served.caller(&organization, key.clone());
    let count = work(&root, 5).await;
    let stated = has_entries(served.listener(), count).await;
    let backup = installation.path("good.backup");
    let backup = backup.to_str().expect("UTF-8");
    assert_eq!(installation.run("backup", &["--to", backup]).await.code, 0);
    let head = std::fs::read(backup).expect("a backup");
    let head: Value =
        serde_json::from_slice(head.split(|byte| *byte == b'\n').next().expect("a line")).expect("JSON");
    assert_eq!(head["log"], stated);
    work(&root, 3).await;
    has_entries(served.listener(), count + 3).await;
    let _ = operator.run(&["log", "verify"]).await.with(0);
    drop(served);
    std::fs::rename(installation.path("data"), installation.path("before")).expect("renamed");
    let configuration = installation.path("quorated.toml");
    let configuration = configuration.to_str().expect("UTF-8");
    let restored = quorate_tests::installation::run(
        &installation.path(""),
        &["restore", backup, "--config", configuration],
    )
    .await;
    assert_eq!(restored.code, 0, "{restored:#?}");
    let served = installation.serve().await;
    let run = operator.run(&["log", "verify"]).await.with(0).json();
    assert_eq!([&run["entries"], &run["knownEntries"]], [&json!(5), &json!(8)], "{run:#}");
    assert!(run["restoredAt"].is_string(), "{run:#}");
    // The console keeps what it knew before.
    for _ in 0..2 {
        let run = operator.run(&["log", "verify"]).await.with(0).json();
        assert_eq!(run["entriesBeforeRestore"], json!(8), "{run:#}");
    }
    assert_eq!(entries(&checkpoint(served.listener(), 0).await), count);
    drop(served);
    std::fs::remove_dir_all(installation.path("data")).expect("removed");
    std::fs::rename(installation.path("before"), installation.path("data")).expect("renamed");
    let served = installation.serve().await;
    let run = operator.run(&["log", "verify"]).await.with(OLDER);
    assert!(run.output.contains("of 8 entries, but 5 entries after the restore of 2"), "{run:#?}");
    drop(served);
}

/// Receivers of webhooks get the checkpoint that is served.
#[tokio::test]
async fn webhooks_have_the_newest_checkpoint() {
    let receiver = Receiver::start().await;
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    let feature = json!({ "name": "FEATURE_NAME_WEBHOOK", "value": receiver.url("/hook") });
    root.completed("ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE", &feature).await;
    let stated = has_entries(root.listener(), 1).await;
    let key: VerifierKey = stated["verifierKey"].as_str().expect("a key").parse().expect("a key");
    let deadline = Instant::now() + TIMEOUT;
    // A checkpoint is read once in a second.
    for number in 1.. {
        root.completed(CREATE_WALLET, &requests::wallet(&format!("reported {number}"))).await;
        let deliveries = receiver.until("each activity", |deliveries| deliveries.len() > number).await;
        let header = &deliveries[deliveries.len() - 1].headers["x-quorate-checkpoint"];
        let note = Base64::decode_vec(header.to_str().expect("ASCII")).expect("base64");
        let sent = Checkpoint::open(std::str::from_utf8(&note).expect("UTF-8"), &key).expect("signed");
        if sent.size > 0 {
            return;
        }
        assert!(Instant::now() < deadline, "{sent:?}");
    }
}

/// Reviews, bundles and a program that was written from the documentation alone verify the same entries.
#[tokio::test]
async fn every_state_is_proven() {
    let daemon = Daemon::start(Options::quorum(2, 3)).await;
    let listener = daemon.root(0).listener().clone();
    let operator = Operator::root(&daemon, 1);
    let pending = daemon.root(0).waiting(CREATE_WALLET, &requests::wallet("proven")).await;
    let id = pending["id"].as_str().expect("an id");
    // The demo organization of the daemon has entries, too.
    let run = proven(&operator, id).await;
    let first = run["entry"].as_u64().expect("an index");
    let earlier = checkpoint(&listener, 0).await;
    daemon.root(1).approve(&pending["fingerprint"]).await.success();
    let run = proven(&operator, id).await;
    assert_eq!(run["entry"], json!(first + 1), "{run:#}");
    let review = operator.run(&["review", id, "--json"]).await.with(0).json();
    let is_logged = |check: &Value| check["id"] == "K12" && check["mark"] == "[v]";
    assert!(review["checks"].as_array().is_some_and(|checks| checks.iter().any(is_logged)), "{review:#}");
    let file = operator.home().join("bundle.json");
    let path = file.to_str().expect("UTF-8");
    let _ = operator.run(&["proof", "export", id, "--output", path]).await.with(0);
    let _ = operator.run(&["proof", "verify", path]).await.with(0);
    let later = checkpoint(&listener, entries(&earlier)).await;
    let files = [("earlier.json", &earlier), ("later.json", &later)].map(|(name, value)| {
        let path = operator.home().join(name);
        std::fs::write(&path, value.to_string()).expect("a file");
        path
    });
    let [earlier_file, later_file] = files;
    let program = [".venv/bin/python", "log_check.py"];
    let seen = third_party::observe("pypi", &program, &[&earlier_file, &later_file, &file]);
    assert_eq!(seen["sizes"], json!([entries(&earlier), entries(&later)]), "{seen:#}");
    assert_eq!(seen["index"], json!(first + 1), "{seen:#}");
    // A bundle whose state was changed has another entry.
    let text = std::fs::read_to_string(&file).expect("a file");
    let mut bundle: Value = serde_json::from_str(&text).expect("JSON");
    bundle["content"]["stated"]["log"]["index"] = json!(first);
    let content = bundle["content"].to_string();
    bundle["contentSha256"] = json!(Fingerprint::of(content.as_bytes()).hex());
    std::fs::write(&file, bundle.to_string()).expect("a file");
    let run = operator.run(&["proof", "verify", path]).await.with(FAILED_CHECK);
    assert!(run.output.contains("the activity log does not have this state"), "{run:#?}");
    let unknown = operator.run(&["log", "verify", "0194f4c8-5a10-7000-8000-000000000001"]).await;
    assert_eq!(unknown.code, NOT_FOUND, "{unknown:#?}");
}

/// Returns the output of `quorate log verify` once the log has the activity.
async fn proven(operator: &Operator, id: &str) -> Value {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let run = operator.run(&["log", "verify", id, "--json"]).await;
        if run.code == 0 {
            return run.json();
        }
        assert!(run.code == FAILED_CHECK && Instant::now() < deadline, "{run:#?}");
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Wherever a daemon is killed, each state is in the log exactly once.
#[tokio::test]
async fn no_entry_is_lost_or_repeated_by_a_kill() {
    let installation = Installation::new(KEY_FILE);
    let key = Key::named("first root user");
    let organization = installation.create_organization("treasury", &key).await;
    let mut count = 0;
    for point in ["log.append", "log.appended", "commit.publish"] {
        let mut served = installation.serve_with(&[("FAIL_POINTS", &format!("{point}=return"))]).await;
        let root = served.caller(&organization, key.clone());
        let body = root.proposal(CREATE_WALLET, &requests::wallet(&format!("before {point}")));
        // It may be killed before it answers.
        let _ = root.try_send(&submit_path(CREATE_WALLET), &body).await;
        assert_ne!(served.ended().await, 0, "{point}");
        drop(served);
        let served = installation.serve().await;
        let root = served.caller(&organization, key.clone());
        root.send(&submit_path(CREATE_WALLET), &body).await.success();
        count += 1;
        has_entries(served.listener(), count).await;
        drop(served);
        let verified = installation.verify().await;
        assert_eq!(verified.code, 0, "{point}: {verified:#?}");
    }
}

/// A daemon whose reads are slow does not append what another one has appended.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_daemon_appends_nothing_twice() {
    const WALLETS: u64 = 12;
    let mut fleet = Fleet::start(2, (1, 1), "").await;
    fleet.restart_with(1, &[("FAIL_POINTS", "log.page=sleep(900)")]).await;
    let mut writers = tokio::task::JoinSet::new();
    for daemon in 0..2 {
        let root = fleet.root(daemon, 0);
        writers.spawn(async move {
            for number in 0..WALLETS {
                let name = format!("wallet {number} of {daemon}");
                root.completed(CREATE_WALLET, &requests::wallet(&name)).await;
                // Both append several times.
                tokio::time::sleep(POLL_INTERVAL).await;
            }
        });
    }
    writers.join_all().await;
    let listener = fleet.root(0, 0).listener().clone();
    has_entries(&listener, 2 * WALLETS).await;
    fleet.kill(0);
    fleet.restart(1).await;
    assert_eq!(entries(&checkpoint(fleet.root(1, 0).listener(), 0).await), 2 * WALLETS);
    fleet.verify().await;
}

/// Daemons that share a database append to one log, which has every state once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn daemons_on_one_database_have_one_log() {
    const SIGNATURES: u64 = 60;
    let mut fleet = Fleet::start(3, (1, 1), "").await;
    let address = requests::create_wallet(&fleet.root(0, 0), "signs").await;
    let mut writers = tokio::task::JoinSet::new();
    for daemon in 0..3 {
        let (root, address) = (fleet.root(daemon, 0), address.clone());
        writers.spawn(async move {
            for number in 0..SIGNATURES {
                root.completed(SIGN, &requests::sign(&address, &format!("{daemon} {number}"))).await;
            }
        });
    }
    writers.join_all().await;
    // Another daemon appends what a killed one committed.
    fleet.root(2, 0).completed(CREATE_WALLET, &requests::wallet("last")).await;
    fleet.kill(2);
    let count = 3 * SIGNATURES + 2;
    let listener = |daemon: usize| fleet.root(daemon, 0).listener().clone();
    let one = has_entries(&listener(0), count).await;
    assert_eq!(has_entries(&listener(1), count).await, one);
    let root = fleet.root(0, 0);
    let mut indexes = BTreeSet::new();
    for activity in root.activities().await {
        let id = activity["id"].as_str().expect("an id");
        let path = format!("/console/v1/organizations/{}/activities/{id}", root.organization());
        let record = fleet.daemon(0).get(&path).await.success();
        assert_eq!(record["log"]["state"], "included", "{record:#}");
        indexes.insert(record["log"]["index"].as_u64().expect("an index"));
    }
    assert_eq!(indexes, (0..count).collect());
    fleet.verify().await;
}
