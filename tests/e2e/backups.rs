//! Backups: written while requests go on, checked by anybody, and restored on an empty machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use quorate_tests::caller::{Caller, now_millis, submit_path};
use quorate_tests::daemon::POLL_INTERVAL;
use quorate_tests::fleet::Fleet;
use quorate_tests::installation::{Installation, Run, RunningDaemon};
use quorate_tests::keys::Key;
use quorate_tests::requests::{self, CREATE_WALLET, SIGN};
use serde_json::{Value, json};

const KEY_FILE: &str = "file = \"root.key\"";
const USAGE: i32 = 2;
const WRONG_KEY: i32 = 5;
const DAMAGED: i32 = 7;
/// Number of writers during a backup.
const WRITERS: usize = 4;
/// Number of requests that are executed after a backup.
const LATER: usize = 1_000;
/// Time by which requests may be stamped ahead, in milliseconds.
const AHEAD: u64 = 5 * 60 * 1000;

fn parsed(run: &Run) -> Value {
    assert_eq!(run.code, 0, "{run:#?}");
    serde_json::from_str(&run.output).expect("JSON")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// An installation with an organization, whose daemon runs.
struct Stage {
    installation: Installation,
    served: Option<RunningDaemon>,
    organization: String,
    key: Key,
    address: String,
}

impl Stage {
    async fn new() -> Self {
        let installation = Installation::new(KEY_FILE);
        let key = Key::named("first root user");
        let organization = installation.create_organization("treasury", &key).await;
        let served = installation.serve().await;
        let root = served.caller(&organization, key.clone());
        let address = requests::create_wallet(&root, "signs").await;
        Self { installation, served: Some(served), organization, key, address }
    }

    fn root(&self) -> Caller {
        let served = self.served.as_ref().expect("a daemon");
        served.caller(&self.organization, self.key.clone())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.installation.path(name)
    }

    async fn back_up(&self, name: &str) -> Value {
        parsed(&self.installation.run("backup", &["--json", "--to", text(&self.file(name))]).await)
    }

    /// Loses the data directory. The key file remains.
    fn lose(&mut self) {
        self.served = None;
        fs::remove_dir_all(self.file("data")).expect("the data directory can be removed");
    }

    async fn restore(&self, name: &str) -> Run {
        let configuration = self.file("quorated.toml");
        let file = self.file(name);
        let words = ["restore", text(&file), "--config", text(&configuration)];
        quorate_tests::installation::run(&self.file(""), &words).await
    }

    async fn release(&mut self) {
        let run = self.installation.run("release", &["--confirm", "release"]).await;
        assert_eq!(run.code, 0, "{run:#?}");
    }
}

/// Signs until `stop`. Returns when each request was answered, its body and its activity.
async fn sign(
    root: Caller,
    address: String,
    stop: Arc<AtomicBool>,
    count: Arc<AtomicUsize>,
) -> Vec<(u64, Vec<u8>, Value)> {
    let mut signed = Vec::new();
    while !stop.load(Ordering::SeqCst) {
        let body = root.proposal(SIGN, &requests::sign(&address, &format!("{}", signed.len())));
        let activity = root.send(&submit_path(SIGN), &body).await.activity();
        signed.push((now_millis(), body, activity));
        count.fetch_add(1, Ordering::SeqCst);
    }
    signed
}

/// A request that is stamped as far ahead as it may be, so that a store that was just restored accepts it.
async fn ahead(root: &Caller, kind: &str, parameters: &Value) -> Vec<u8> {
    // The clock of the daemon, which is behind this one for a while if the system clock was set back.
    root.proposal_at(&(root.daemon_millis().await + AHEAD).to_string(), kind, parameters)
}

async fn sends(root: &Caller, kind: &str, body: &[u8]) -> (u16, Value) {
    let reply = root.send(&submit_path(kind), body).await;
    (reply.status, serde_json::from_slice(&reply.body).unwrap_or_default())
}

/// Sends all requests again. Those that were executed after the backup are never executed again, and the others are answered as
/// they were.
async fn send_again(root: &Caller, signed: &[(u64, Vec<u8>, Value)], found: &[bool]) {
    for ((_, body, activity), found) in signed.iter().zip(found) {
        let (status, answer) = sends(root, SIGN, body).await;
        if *found {
            assert_eq!((status, &answer["activity"]["id"]), (200, &activity["id"]));
        } else {
            assert_eq!((status, answer["code"].as_u64()), (400, Some(3)), "{answer:#}");
            assert!(answer["message"].as_str().is_some_and(|text| text.contains("restored")), "{answer:#}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_under_load_is_restored_on_an_empty_machine() {
    let mut stage = Stage::new().await;
    let (stop, count) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let mut writers = tokio::task::JoinSet::new();
    for _ in 0..WRITERS {
        writers.spawn(sign(stage.root(), stage.address.clone(), Arc::clone(&stop), Arc::clone(&count)));
    }
    // Something is there before the backup begins.
    let root = stage.root();
    for number in 0..30 {
        root.completed(CREATE_WALLET, &requests::wallet(&format!("wallet {number}"))).await;
    }
    let made = stage.back_up("first.backup").await;
    assert!(made["changes"].as_u64().is_some_and(|changes| changes > 0), "{made:#}");
    let status = stage.served.as_ref().expect("a daemon").get("/console/v1/status").await.success();
    assert_eq!(status["lastBackup"], made["ended"], "{status:#}");
    let (begun, ended) = (made["begun"].as_u64().expect("a time"), made["ended"].as_u64().expect("a time"));
    // Some requests are executed after the backup.
    let executed = count.load(Ordering::SeqCst);
    while count.load(Ordering::SeqCst) < executed + LATER {
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    stop.store(true, Ordering::SeqCst);
    let signed = writers.join_all().await.concat();
    stage.lose();
    let restored = stage.restore("first.backup").await;
    assert!(restored.code == 0 && restored.output.contains(": API key \""), "{restored:#?}");
    let verified = stage.installation.verify().await;
    assert_eq!(verified.code, 0, "{verified:#?}");
    stage.served = Some(stage.installation.serve().await);
    let root = stage.root();

    // All that was acknowledged before is there, and nothing of what came after; it is one moment for each writer.
    let mut found = Vec::new();
    for (_, _, activity) in &signed {
        let reply = root.query("get_activity", json!({ "activityId": activity["id"] })).await;
        assert!([200, 404].contains(&reply.status), "{reply:?}");
        found.push(reply.status == 200);
    }
    for ((at, _, _), found) in signed.iter().zip(&found) {
        assert!(*found || *at > begun, "an activity from before the backup is missing");
        assert!(!*found || *at <= ended + 2000, "an activity from after the backup is there");
    }
    let lost: Vec<_> = signed.iter().zip(&found).filter(|(_, found)| !**found).collect();
    assert!(!lost.is_empty() && lost.len() < signed.len());

    // Until it is released, it answers queries only.
    let served = stage.served.as_ref().expect("a daemon");
    assert_eq!(served.get("/console/v1/status").await.success()["awaitsRelease"], true);
    let body = ahead(&root, CREATE_WALLET, &requests::wallet("after")).await;
    let (status, answer) = sends(&root, CREATE_WALLET, &body).await;
    assert_eq!(status, 503, "{answer:#}");
    assert!(answer["message"].as_str().is_some_and(|text| text.contains("released")), "{answer:#}");
    let unconfirmed = stage.installation.run("release", &["--confirm", "yes"]).await;
    assert_eq!(unconfirmed.code, 1, "{unconfirmed:#?}");
    stage.release().await;
    let again = stage.installation.run("release", &["--confirm", "release"]).await;
    assert!(again.code == 1 && again.stderr.contains("nothing to release"), "{again:#?}");

    send_again(&root, &signed, &found).await;
    eprintln!(
        "backup: {} acknowledged, {} of them lost and sent again, 0 executed",
        signed.len(),
        lost.len()
    );
    // It was stamped before the release.
    assert_eq!(sends(&root, CREATE_WALLET, &body).await.0, 400);
    let body = ahead(&root, CREATE_WALLET, &requests::wallet("after")).await;
    let (status, answer) = sends(&root, CREATE_WALLET, &body).await;
    assert_eq!(status, 200, "{answer:#}");
    // The restored store continues as any other.
    drop(stage.served.take());
    stage.served = Some(stage.installation.serve().await);
    let body = ahead(&stage.root(), CREATE_WALLET, &requests::wallet("later")).await;
    assert_eq!(sends(&stage.root(), CREATE_WALLET, &body).await.0, 200);
    let again = stage.back_up("second.backup").await;
    assert_eq!(again["publicKey"], made["publicKey"]);
    drop(stage.served.take());
    let verified = stage.installation.verify().await;
    assert_eq!(verified.code, 0, "{verified:#?}");
}

#[tokio::test]
async fn what_should_end_by_itself_has_ended_with_a_restore() {
    let mut stage = Stage::new().await;
    let root = stage.root();
    let user = root.fetch("whoami", json!({})).await["userId"].clone();
    let key = Key::named("expires");
    let parameters = json!({ "userId": user, "apiKeys": [{ "apiKeyName": "expires", "expirationSeconds": "86400",
        "publicKey": key.public_key(), "curveType": "API_KEY_CURVE_P256" }] });
    root.completed("ACTIVITY_TYPE_CREATE_API_KEYS_V2", &parameters).await;
    let expiring = root.with_key(&key);
    expiring.fetch("whoami", json!({})).await;
    let session = root.result("ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION", &json!({})).await;
    assert!(session["session"].is_string(), "{session:#}");
    // Nobody serves the store.
    stage.served = None;
    let made = stage.back_up("offline.backup").await;
    assert_eq!(made["changes"], 0);
    stage.lose();
    assert_eq!(stage.restore("offline.backup").await.code, 0);
    stage.served = Some(stage.installation.serve().await);
    let root = stage.root();
    root.fetch("whoami", json!({})).await;
    assert_eq!(root.with_key(&key).query("whoami", json!({})).await.status, 401);
    let token = session["session"].as_str().expect("a token");
    let body = json!({ "organizationId": stage.organization }).to_string();
    let headers = [("x-session", token)];
    let reply = root.call(hyper::Method::POST, "/public/v1/query/whoami", &headers, body.as_bytes()).await;
    assert_eq!(reply.status, 401, "{reply:?}");
}

#[tokio::test]
async fn bad_backups_and_places_are_rejected_and_change_nothing() {
    let mut stage = Stage::new().await;
    stage.back_up("good.backup").await;
    let file = stage.file("good.backup");
    // A backup never replaces a file.
    let again = stage.installation.run("backup", &["--to", text(&file)]).await;
    assert!(again.code == USAGE && again.stderr.contains("exists"), "{again:#?}");
    let verify = async |file: &Path, more: &[&str]| {
        let words: Vec<&str> = ["verify", text(file)].into_iter().chain(more.iter().copied()).collect();
        quorate_tests::installation::run(&stage.installation.path(""), &words).await
    };
    let configuration = stage.file("quorated.toml");
    let whole = verify(&file, &[]).await;
    assert!(whole.code == 0 && whole.output.contains("was not decrypted"), "{whole:#?}");
    let deep = verify(&file, &["--config", text(&configuration)]).await;
    assert!(deep.code == 0 && deep.output.contains("1 organization are complete"), "{deep:#?}");
    assert!(deep.stderr.contains("who has both can read everything"), "{deep:#?}");
    stage.served = None;
    let occupied = stage.restore("good.backup").await;
    assert!(occupied.code == USAGE && occupied.stderr.contains("already contains a store"), "{occupied:#?}");
    stage.lose();
    let bytes = fs::read(&file).expect("a backup");
    let bad = stage.file("bad.backup");
    let missing = stage.restore("missing.backup").await;
    assert_eq!(missing.code, USAGE, "{missing:#?}");
    let mut changed = bytes.clone();
    let middle = changed.len() / 2;
    changed[middle] ^= 1;
    for (contents, words) in [
        (&b""[..], "it is not a backup"),
        (b"{}\n", "it is not a backup"),
        (b"{\"format\":\"quorate-backup/2\"}\n", "a format that this version"),
        (&bytes[..bytes.len() - 1], "its end is missing"),
        (&bytes[..middle], "its end is missing"),
        (&changed, "its signature is invalid"),
        (&[&bytes[..], b"x"].concat(), "it continues after its end"),
    ] {
        fs::write(&bad, contents).expect("written");
        let run = stage.restore("bad.backup").await;
        assert!(run.code == DAMAGED && run.stderr.contains(words), "{words}: {run:#?}");
        assert!(!stage.file("data").exists(), "{words}");
    }
    // The key of another store opens nothing.
    let key = stage.file("root.key");
    let right = fs::read(&key).expect("a key");
    let other = Installation::new(KEY_FILE);
    other.create_organization("other", &Key::named("other")).await;
    fs::copy(other.path("root.key"), &key).expect("copied");
    let wrong = stage.restore("good.backup").await;
    assert_eq!(wrong.code, WRONG_KEY, "{wrong:#?}");
    assert!(!stage.file("data").exists());
    fs::write(&key, right).expect("written");
    assert_eq!(stage.restore("good.backup").await.code, 0);
    assert_eq!(stage.installation.run("release", &["--confirm", "release"]).await.code, 8);
}

#[tokio::test]
async fn a_backup_or_restore_that_is_killed_leaves_nothing() {
    let mut stage = Stage::new().await;
    stage.served = None;
    let mut served = stage.installation.serve_with(&[("FAIL_POINTS", "backup.page=return")]).await;
    let file = stage.file("cut.backup");
    let run = stage.installation.run("backup", &["--to", text(&file)]).await;
    assert!(run.code == 1 && run.stderr.contains("no backup was written"), "{run:#?}");
    assert!(!file.exists());
    assert_ne!(served.ended().await, 0);
    drop(served);
    stage.back_up("whole.backup").await;
    stage.lose();
    let program = quorate_tests::paths::program("quorated");
    for point in ["restore.rows", "restore.loaded", "file.draft", "file.named", "restore.begin"] {
        let ended = std::process::Command::new(&program)
            .args(["restore", text(&stage.file("whole.backup")), "--config"])
            .arg(stage.file("quorated.toml"))
            .current_dir(stage.file(""))
            .env("FAIL_POINTS", format!("{point}=return"))
            .output()
            .expect("the program can be started");
        assert!(!ended.status.success(), "{point}");
        let serve = stage.installation.run("serve", &[]).await;
        assert!(serve.code == 3 && serve.stderr.contains("was interrupted"), "{point}: {serve:#?}");
    }
    assert_eq!(stage.restore("whole.backup").await.code, 0);
    let verified = stage.installation.verify().await;
    assert_eq!(verified.code, 0, "{verified:#?}");
    stage.served = Some(stage.installation.serve().await);
    stage.root().fetch("whoami", json!({})).await;
}

/// A store moves between engines and from a shared database to one machine.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_of_several_daemons_is_restored_to_a_file() {
    let fleet = Fleet::start(2, (1, 1), "").await;
    for daemon in 0..2 {
        let name = format!("wallet {daemon}");
        fleet.root(daemon, 0).completed(CREATE_WALLET, &requests::wallet(&name)).await;
    }
    let file = fleet.installation(0).path("shared.backup");
    let made = parsed(&fleet.installation(1).run("backup", &["--json", "--to", text(&file)]).await);
    assert!(made["records"].as_u64().is_some_and(|records| records > 10), "{made:#}");
    let target = Installation::new(KEY_FILE);
    target.configure(&format!("[socket]\npath = \"run/socket\"\n\n[store]\npath = \"data\"\nengine = \"redb\"\n\n[key]\n{KEY_FILE}\n"));
    fs::copy(fleet.installation(0).path("root.key"), target.path("root.key")).expect("copied");
    let configuration = target.path("quorated.toml");
    let words = ["restore", text(&file), "--config", text(&configuration)];
    let restored = quorate_tests::installation::run(&target.path(""), &words).await;
    assert_eq!(restored.code, 0, "{restored:#?}");
    let verified = target.verify().await;
    assert_eq!(verified.code, 0, "{verified:#?}");
    let served = target.serve().await;
    let source = fleet.root(0, 0);
    let root = served.caller(source.organization(), source.key().clone());
    let wallets = root.fetch("list_wallets", json!({})).await;
    assert_eq!(wallets["wallets"].as_array().map(Vec::len), Some(2), "{wallets:#}");
    fleet.verify().await;
}

/// Two commands that write the same file never take the place of each other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_that_write_one_file_do_not_disturb_each_other() {
    let mut stage = Stage::new().await;
    stage.served = None;
    let slow = [("FAIL_POINTS", "backup.page=sleep(300)")];
    stage.served = Some(stage.installation.serve_with(&slow).await);
    let file = stage.file("shared.backup");
    let beside = stage.file("shared.backup.new");
    fs::write(&beside, "not of a backup").expect("written");
    let words = ["--json", "--to", text(&file)];
    let run = || stage.installation.run("backup", &words);
    let (one, other) = tokio::join!(run(), run());
    let mut codes = [one.code, other.code];
    codes.sort_unstable();
    assert_eq!(codes, [0, 1], "{one:#?} {other:#?}");
    let refused = if one.code == 1 { &one } else { &other };
    assert!(refused.stderr.contains("another backup is being written"), "{refused:#?}");
    let whole = quorate_tests::installation::run(&stage.file(""), &["verify", text(&file)]).await;
    assert_eq!(whole.code, 0, "{whole:#?}");
    assert_eq!(fs::read(&beside).expect("a file"), b"not of a backup");
    let left = fs::read_dir(stage.file("")).expect("a folder").filter(|entry| {
        entry.as_ref().is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with("shared.backup."))
    });
    assert_eq!(left.count(), 1, "drafts are left");
}

/// Records that are sealed again while a backup is written do not outrun it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_during_a_rotation_of_large_records_is_completed() {
    let mut stage = Stage::new().await;
    let root = stage.root();
    // The body of a request is part of its activity.
    let payload = "x".repeat(100_000);
    let mut writers = tokio::task::JoinSet::new();
    for _ in 0..WRITERS {
        let (root, address, payload) = (root.clone(), stage.address.clone(), payload.clone());
        writers.spawn(async move {
            for _ in 0..25 {
                root.completed(SIGN, &requests::sign(&address, &payload)).await;
            }
        });
    }
    writers.join_all().await;
    for round in 0..2 {
        assert_eq!(stage.installation.run("rotate", &[]).await.code, 0);
        let made = stage.back_up(&format!("{round}.backup")).await;
        assert!(made["records"].as_u64().is_some_and(|records| records > 100), "{made:#}");
    }
    stage.lose();
    assert_eq!(stage.restore("1.backup").await.code, 0);
    let verified = stage.installation.verify().await;
    assert_eq!(verified.code, 0, "{verified:#?}");
}

/// A command that waits ends with a signal, and leaves nothing.
#[tokio::test]
async fn a_backup_ends_with_a_signal() {
    let mut stage = Stage::new().await;
    stage.served = None;
    let child = std::process::Command::new(quorate_tests::paths::program("quorated"))
        .args([
            "backup",
            "--config",
            text(&stage.file("quorated.toml")),
            "--to",
            text(&stage.file("a.backup")),
        ])
        .current_dir(stage.file(""))
        .env("FAIL_POINTS", "backup.page=sleep(60000)")
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the program can be started");
    let drafts = || {
        let entries = fs::read_dir(stage.file("")).expect("a folder");
        let names = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
        names.filter(|name| name.starts_with("a.backup")).count()
    };
    while drafts() == 0 {
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    let process = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    rustix::process::kill_process(process.expect("a process"), rustix::process::Signal::TERM)
        .expect("it runs");
    let ended =
        tokio::task::spawn_blocking(|| child.wait_with_output()).await.expect("waited").expect("it ends");
    let stderr = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.code() == Some(1) && stderr.contains("stopped: no backup was written"), "{stderr}");
    assert_eq!(drafts(), 0);
}

/// A clock that was ahead at the restore blocks nothing once it was corrected, and the release still counts from the right time.
#[tokio::test]
async fn a_clock_that_was_ahead_at_a_restore_is_corrected() {
    let mut stage = Stage::new().await;
    stage.back_up("a.backup").await;
    let body = stage.root().proposal(CREATE_WALLET, &requests::wallet("lost"));
    assert_eq!(sends(&stage.root(), CREATE_WALLET, &body).await.0, 200);
    stage.lose();
    let restored = std::process::Command::new(quorate_tests::paths::program("quorated"))
        .args(["restore", text(&stage.file("a.backup")), "--config", text(&stage.file("quorated.toml"))])
        .current_dir(stage.file(""))
        .env("LD_PRELOAD", quorate_tests::paths::faketime())
        .env("FAKETIME", "+1d")
        .output()
        .expect("the program can be started");
    assert!(restored.status.success(), "{restored:?}");
    let accepted = stage.installation.run("accept-clock", &["--confirm", "back"]).await;
    assert!(accepted.code == 0 && accepted.output.contains("after 'quorated release'"), "{accepted:#?}");
    let again = stage.installation.run("accept-clock", &["--confirm", "back"]).await;
    assert!(again.code == 0 && again.output.contains("nothing to accept"), "{again:#?}");
    stage.served = Some(stage.installation.serve().await);
    let root = stage.root();
    assert_eq!(sends(&root, CREATE_WALLET, &body).await.0, 503);
    stage.release().await;
    assert_eq!(sends(&root, CREATE_WALLET, &body).await.0, 400);
    let fresh = ahead(&root, CREATE_WALLET, &requests::wallet("after")).await;
    assert_eq!(sends(&root, CREATE_WALLET, &fresh).await.0, 200);
}
