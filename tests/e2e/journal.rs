//! The journal: what was changed after a backup comes back with it, and nothing else does.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use quorate_tests::caller::{Caller, submit_path};
use quorate_tests::fleet::Fleet;
use quorate_tests::installation::{Installation, Run, RunningDaemon};
use quorate_tests::keys::Key;
use quorate_tests::operator::Operator;
use quorate_tests::requests::{self, CREATE_WALLET, SIGN};
use serde_json::{Value, json};

const KEY_FILE: &str = "file = \"root.key\"";
const JOURNAL: &str = "\n[journal]\npath = \"changes.journal\"\n";
const MISSING: i32 = 3;
const DAMAGED: i32 = 7;
const NOT_MATCHING: i32 = 10;
/// Time by which requests may be stamped ahead, in milliseconds.
const AHEAD: u64 = 5 * 60 * 1000;
const CREATE_POLICY: &str = "ACTIVITY_TYPE_CREATE_POLICY_V3";
const DELETE_KEYS: &str = "ACTIVITY_TYPE_DELETE_API_KEYS";
const CREATE_KEYS: &str = "ACTIVITY_TYPE_CREATE_API_KEYS_V2";

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

fn parsed(run: &Run) -> Value {
    assert_eq!(run.code, 0, "{run:#?}");
    serde_json::from_str(&run.output).expect("JSON")
}

/// An installation with an organization and a journal.
struct Stage {
    installation: Installation,
    organization: String,
    key: Key,
}

impl Stage {
    async fn on(engine: &str) -> Self {
        let installation = Installation::new(KEY_FILE);
        let store = format!("path = \"data\"\nengine = \"{engine}\"");
        installation.configure(&format!(
            "[socket]\npath = \"run/socket\"\n\n[store]\n{store}\n\n[key]\n{KEY_FILE}\n{JOURNAL}"
        ));
        let key = Key::named("first root user");
        let organization = installation.create_organization("treasury", &key).await;
        Self { installation, organization, key }
    }

    fn root(&self, served: &RunningDaemon) -> Caller {
        served.caller(&self.organization, self.key.clone())
    }

    fn file(&self, name: &str) -> PathBuf {
        self.installation.path(name)
    }

    async fn back_up(&self, name: &str) {
        parsed(&self.installation.run("backup", &["--json", "--to", text(&self.file(name))]).await);
    }

    fn lose(&self) {
        fs::remove_dir_all(self.file("data")).expect("the data directory can be removed");
    }

    async fn restore(&self, name: &str, more: &[&str]) -> Run {
        let (configuration, file) = (self.file("quorated.toml"), self.file(name));
        let words = ["restore", text(&file), "--config", text(&configuration), "--json"];
        quorate_tests::installation::run(&self.file(""), &[&words, more].concat()).await
    }

    /// Checks that the daemon serves this state of the organization, and that `quorated verify` finds nothing wrong.
    async fn has(&self, expected: &Value, context: &str) {
        let served = self.installation.serve().await;
        assert_eq!(state(&self.root(&served)).await, *expected, "{context}");
        drop(served);
        verifies(&self.installation, context).await;
    }

    async fn release(&self) {
        let run = self.installation.run("release", &["--confirm", "release"]).await;
        assert_eq!(run.code, 0, "{run:#?}");
    }
}

/// Checks that `quorated verify` finds nothing wrong.
async fn verifies(installation: &Installation, context: &str) {
    let verified = installation.verify().await;
    assert_eq!(verified.code, 0, "{context}: {verified:#?}");
}

/// Everything that an organization consists of, as clients see it, without what no change of it moves.
async fn state(root: &Caller) -> Value {
    let mut organization = root.fetch("get_organization", json!({})).await;
    strip(&mut organization);
    let wallets = root.fetch("list_wallets", json!({})).await;
    let policies = root.fetch("list_policies", json!({})).await;
    let waiting = root
        .fetch("list_activities", json!({ "filterByStatus": ["ACTIVITY_STATUS_CONSENSUS_NEEDED"] }))
        .await;
    json!([organization, wallets, policies, waiting])
}

/// Removes when credentials were last used.
fn strip(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.remove("lastUsedAt");
            members.remove("lastUsedUnixMs");
            members.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

async fn status_of(root: &Caller, kind: &str, parameters: &Value) -> (u16, Value) {
    let body = root.proposal_at(&(root.daemon_millis().await + AHEAD).to_string(), kind, parameters);
    let reply = root.send(&submit_path(kind), &body).await;
    (reply.status, serde_json::from_slice(&reply.body).unwrap_or_default())
}

/// Waits until an activity of the journal is in the activity log.
async fn is_logged(stage: &Stage, activity: &str) {
    let operator = Operator::reading(&stage.file("run/socket"), &stage.organization);
    let deadline = std::time::Instant::now() + quorate_tests::http::TIMEOUT;
    loop {
        let run = operator.run(&["log", "verify", activity]).await;
        if run.code == 0 {
            return;
        }
        assert!(std::time::Instant::now() < deadline, "{run:#?}");
    }
}

/// What was revoked after the backup stays revoked, and what was created since is there, with its keys.
async fn comes_back(engine: &str) {
    let stage = Stage::on(engine).await;
    let served = stage.installation.serve().await;
    let root = stage.root(&served);
    let user = root.fetch("whoami", json!({})).await["userId"].as_str().expect("an id").to_owned();
    let leaked = Key::named("leaked");
    let added =
        root.result(CREATE_KEYS, &requests::api_keys(&user, &[requests::api_key("leaked", &leaked)])).await;
    let before = requests::create_wallet(&root, "before").await;
    stage.back_up("a.backup").await;

    root.completed(DELETE_KEYS, &json!({ "userId": user, "apiKeyIds": added["apiKeyIds"] })).await;
    let after = requests::create_wallet(&root, "after").await;
    for length in [1, 4096] {
        let policy = json!({ "policyName": format!("of {length}"), "effect": "EFFECT_DENY", "condition": "false",
            "consensus": "false", "notes": "n".repeat(length) });
        root.completed(CREATE_POLICY, &policy).await;
    }
    let second = Key::named("second");
    let member = requests::create_user(&root, "jo", &second).await;
    root.completed("ACTIVITY_TYPE_UPDATE_ROOT_QUORUM", &json!({ "threshold": 2, "userIds": [user, member] }))
        .await;
    let waiting = root.waiting(CREATE_WALLET, &requests::wallet("waits")).await;
    // Records of this size are stored in parts, which each vote replaces.
    for length in [12_000, 200_000] {
        let payload = requests::sign(&before, &"x".repeat(length));
        let long = root.waiting(SIGN, &payload).await;
        if length < 100_000 {
            root.with_key(&second).approved(&long["fingerprint"]).await;
        }
    }
    for number in 0..5 {
        let _ = root.submit(SIGN, &requests::sign(&before, &format!("{number}"))).await;
    }
    let expected = state(&root).await;
    drop(served);
    stage.lose();

    let restored = parsed(&stage.restore("a.backup", &[]).await);
    let journal = &restored["journal"];
    assert!(journal["applied"].as_u64().is_some_and(|applied| applied >= 7), "{journal:#}");
    assert!(journal["present"].as_u64().is_some_and(|present| present >= 2), "{journal:#}");
    assert_eq!((&journal["missing"], &journal["gaps"]), (&json!(0), &json!([])), "{journal:#}");
    verifies(&stage.installation, "").await;
    let served = stage.installation.serve().await;
    let root = stage.root(&served);
    assert_eq!(state(&root).await, expected);
    assert_eq!(root.with_key(&leaked).query("whoami", json!({})).await.status, 401);
    stage.release().await;
    // The quorum of two, which was set after the backup, decides; a vote from before the restore counts.
    let other = root.with_key(&second);
    let approval = json!({ "fingerprint": waiting["fingerprint"] });
    let (status, answer) = status_of(&other, "ACTIVITY_TYPE_APPROVE_ACTIVITY", &approval).await;
    assert_eq!(
        (status, &answer["activity"]["status"]),
        (200, &json!("ACTIVITY_STATUS_COMPLETED")),
        "{answer:#}"
    );
    let (status, answer) = status_of(&root, SIGN, &requests::sign(&after, "signed")).await;
    assert_eq!(status, 200, "{answer:#}");
    is_logged(&stage, waiting["id"].as_str().expect("an id")).await;
    // The journal of the new epoch is another file, and the earlier one is kept.
    let kept: Vec<_> = fs::read_dir(stage.file(""))
        .expect("a folder")
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("changes.journal"))
        .collect();
    assert_eq!(kept.len(), 2, "{kept:?}");
    drop(served);
    verifies(&stage.installation, "").await;
    drop(stage.installation.serve().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_after_a_backup_come_back_on_sled() {
    comes_back("sled").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_after_a_backup_come_back_on_redb() {
    comes_back("redb").await;
}

/// Without the journal, the revoked key is back, and the store accepts nothing until an operator has released it.
#[tokio::test]
async fn without_its_journal_a_restored_store_waits_with_what_was_revoked() {
    let stage = Stage::on("redb").await;
    let served = stage.installation.serve().await;
    let root = stage.root(&served);
    let user = root.fetch("whoami", json!({})).await["userId"].as_str().expect("an id").to_owned();
    let leaked = Key::named("leaked");
    let added =
        root.result(CREATE_KEYS, &requests::api_keys(&user, &[requests::api_key("leaked", &leaked)])).await;
    stage.back_up("a.backup").await;
    root.completed(DELETE_KEYS, &json!({ "userId": user, "apiKeyIds": added["apiKeyIds"] })).await;
    drop(served);
    stage.lose();
    let (path, away) = (stage.file("changes.journal"), stage.file("away"));
    fs::rename(&path, &away).expect("moved");
    let run = stage.restore("a.backup", &[]).await;
    assert!(run.code == MISSING && run.stderr.contains("--without-journal"), "{run:#?}");
    assert!(!stage.file("data").exists());
    fs::rename(&away, &path).expect("moved back");
    let restored = parsed(&stage.restore("a.backup", &["--without-journal"]).await);
    assert_eq!((&restored["journal"]["absent"], &restored["journal"]["applied"]), (&json!([""]), &json!(0)));
    let served = stage.installation.serve().await;
    let thief = stage.root(&served).with_key(&leaked);
    assert_eq!(thief.query("whoami", json!({})).await.status, 200);
    let (status, answer) = status_of(&thief, CREATE_WALLET, &requests::wallet("stolen")).await;
    assert_eq!(status, 503, "{answer:#}");
    // The changes of the abandoned history are never applied to the new one.
    stage.release().await;
    stage.back_up("b.backup").await;
    drop(served);
    stage.lose();
    let aside = fs::read_dir(stage.file(""))
        .expect("a folder")
        .flatten()
        .map(|entry| entry.path())
        .find(|path| text(path).contains("changes.journal."))
        .expect("the earlier journal");
    let restored = parsed(&stage.restore("b.backup", &["--journal", text(&aside)]).await);
    assert_eq!(restored["journal"]["unused"], json!([aside]), "{restored:#}");
    assert_eq!(restored["journal"]["applied"], 0);
}

/// Whatever ends the daemon, the journal has exactly the changes that the store has.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_daemon_leaves_a_journal_of_what_was_committed() {
    let points = [
        "journal.append",
        "journal.appended",
        "store.check",
        "store.apply",
        "store.synced",
        "guard.write",
        "guard.written",
        "commit.publish",
        "commit.answer",
    ];
    for point in points {
        let stage = Stage::on("redb").await;
        drop(stage.installation.serve().await);
        stage.back_up("a.backup").await;
        for round in 0..3 {
            let variables = [("FAIL_POINTS", format!("{point}={}*off->return", 3 + round))];
            let variables: Vec<(&str, &str)> =
                variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let mut served = stage.installation.serve_with(&variables).await;
            let root = stage.root(&served);
            for number in 0..40 {
                let body = root.proposal(CREATE_WALLET, &requests::wallet(&format!("{round} {number}")));
                if root.try_send(&submit_path(CREATE_WALLET), &body).await.is_err() {
                    break;
                }
            }
            assert_ne!(served.ended().await, 0, "{point}");
        }
        let served = stage.installation.serve().await;
        let root = stage.root(&served);
        requests::create_wallet(&root, "the last one").await;
        let expected = state(&root).await;
        drop(served);
        stage.lose();
        let restored = parsed(&stage.restore("a.backup", &[]).await);
        assert_eq!(restored["journal"]["missing"], 0, "{point}: {restored:#}");
        stage.has(&expected, point).await;
    }
}

/// While the journal cannot be written, organizations cannot be changed, and nothing else is affected.
#[tokio::test]
async fn without_its_journal_a_daemon_signs_and_changes_nothing() {
    let stage = Stage::on("sled").await;
    let served = stage.installation.serve().await;
    let root = stage.root(&served);
    let address = requests::create_wallet(&root, "first").await;
    let status = served.get("/console/v1/status").await.success();
    assert!(status["journal"]["newest"].is_u64() && status["journal"]["failure"].is_null(), "{status:#}");
    let (path, away) = (stage.file("changes.journal"), stage.file("away"));
    fs::rename(&path, &away).expect("moved");
    let refused = root.submit(CREATE_WALLET, &requests::wallet("refused")).await;
    assert_eq!(refused.status, 503, "{refused:?}");
    let refused = root.submit(CREATE_WALLET, &requests::wallet("refused")).await;
    assert!(
        refused.status == 503 && String::from_utf8_lossy(&refused.body).contains("journal"),
        "{refused:?}"
    );
    for number in 0..5 {
        root.completed(SIGN, &requests::sign(&address, &format!("{number}"))).await;
    }
    let status = served.get("/console/v1/status").await.success();
    assert!(status["journal"]["failure"].is_string() && status["store"].is_null(), "{status:#}");
    fs::rename(&away, &path).expect("moved back");
    // The status looks again as well, and notices a file that is gone before the next change does.
    let shown = async |is_failed: bool| {
        let deadline = std::time::Instant::now() + quorate_tests::http::TIMEOUT;
        while served.get("/console/v1/status").await.success()["journal"]["failure"].is_string() != is_failed
        {
            assert!(std::time::Instant::now() < deadline, "{is_failed}");
        }
    };
    shown(false).await;
    fs::rename(&path, &away).expect("moved");
    shown(true).await;
    fs::rename(&away, &path).expect("moved back");
    // It looks again after a second.
    let deadline = std::time::Instant::now() + quorate_tests::http::TIMEOUT;
    while root.submit(CREATE_WALLET, &requests::wallet("accepted")).await.status != 200 {
        assert!(std::time::Instant::now() < deadline, "the journal is not written again");
    }
    stage.installation.logs("the journal is written again").await;
    drop(served);
    fs::rename(&path, &away).expect("moved");
    let run = stage.installation.run("serve", &[]).await;
    assert!(run.code == MISSING && run.stderr.contains("create an empty file"), "{run:#?}");
    fs::write(&path, "").expect("written");
    let served = stage.installation.serve().await;
    requests::create_wallet(&stage.root(&served), "in the new journal").await;
    drop(served);
    fs::rename(&away, &path).expect("moved back");
    // The older file lacks what the new one has.
    let served = stage.installation.serve().await;
    stage.installation.logs("missing at the end of the journal").await;
    drop(served);
}

/// Without the section, nothing is recorded, and the next journal shows that.
#[tokio::test]
async fn a_gap_in_a_journal_is_reported() {
    let stage = Stage::on("redb").await;
    let configuration = fs::read_to_string(stage.file("quorated.toml")).expect("a file");
    let served = stage.installation.serve().await;
    requests::create_wallet(&stage.root(&served), "recorded").await;
    stage.back_up("a.backup").await;
    drop(served);
    stage.installation.configure(&configuration.replace(JOURNAL, ""));
    let served = stage.installation.serve().await;
    requests::create_wallet(&stage.root(&served), "not recorded").await;
    drop(served);
    stage.installation.configure(&configuration);
    let served = stage.installation.serve().await;
    stage.installation.logs("missing at the end of the journal").await;
    requests::create_wallet(&stage.root(&served), "recorded again").await;
    drop(served);
    stage.lose();
    let restored = parsed(&stage.restore("a.backup", &[]).await);
    let journal = &restored["journal"];
    assert_eq!(
        (&journal["missing"], journal["gaps"].as_array().map(Vec::len)),
        (&json!(1), Some(1)),
        "{journal:#}"
    );
    verifies(&stage.installation, "").await;
}

/// A store that is older than its journal is noticed, even if its guard file is as old.
#[tokio::test]
async fn a_journal_is_a_witness_of_the_store() {
    let stage = Stage::on("redb").await;
    let served = stage.installation.serve().await;
    let root = stage.root(&served);
    requests::create_wallet(&root, "first").await;
    stage.back_up("a.backup").await;
    drop(served);
    let copied = Command::new("cp").arg("-a").args([stage.file("data"), stage.file("older")]).status();
    assert!(copied.is_ok_and(|copied| copied.success()));
    let served = stage.installation.serve().await;
    for name in ["second", "third"] {
        requests::create_wallet(&stage.root(&served), name).await;
    }
    drop(served);
    stage.lose();
    fs::rename(stage.file("older"), stage.file("data")).expect("put back");
    for command in ["serve", "verify"] {
        let run = stage.installation.run(command, &[]).await;
        let text = format!("{}{}", run.output, run.stderr);
        assert!(run.code == NOT_MATCHING && text.contains("changes that the store lost"), "{run:#?}");
    }
    let accepted = stage.installation.run("accept-loss", &["--confirm", "lost"]).await;
    assert_eq!(accepted.code, 0, "{accepted:#?}");
    let served = stage.installation.serve().await;
    requests::create_wallet(&stage.root(&served), "instead of the second").await;
    let expected = state(&stage.root(&served)).await;
    drop(served);
    stage.lose();
    let restored = parsed(&stage.restore("a.backup", &[]).await);
    assert_eq!(restored["journal"]["applied"], 1, "{restored:#}");
    let served = stage.installation.serve().await;
    assert_eq!(state(&stage.root(&served)).await, expected);
}

/// Files that are no journal, damaged, or of another store are never applied.
#[tokio::test]
async fn bad_journals_are_rejected_and_change_nothing() {
    let stage = Stage::on("redb").await;
    let served = stage.installation.serve().await;
    stage.back_up("a.backup").await;
    for number in 0..4 {
        requests::create_wallet(&stage.root(&served), &format!("{number}")).await;
    }
    drop(served);
    stage.lose();
    let path = stage.file("changes.journal");
    let bytes = fs::read(&path).expect("a journal");
    let head = bytes.iter().position(|byte| *byte == b'\n').expect("a head") + 1;
    let mut frames = vec![head];
    while let Some(word) = bytes.get(frames[frames.len() - 1]..).and_then(|rest| rest.first_chunk::<4>()) {
        frames.push(frames[frames.len() - 1] + 8 + u32::from_be_bytes(*word) as usize);
    }
    assert_eq!(frames.pop(), Some(bytes.len()), "a whole journal");
    let (first, second, third) = (frames[0], frames[1], frames[2]);
    let swapped = [&bytes[..first], &bytes[second..third], &bytes[first..second], &bytes[third..]].concat();
    let removed = [&bytes[..first], &bytes[second..]].concat();
    let flipped = |at: usize| {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        changed
    };
    let later = [&br#"{"format":"quorate-journal/2"}"#[..], b"\n"].concat();
    for (contents, code, words) in [
        (b"{}\n".to_vec(), DAMAGED, "not a journal"),
        (later, DAMAGED, "format"),
        (flipped(first + 30), DAMAGED, "cannot be decrypted"),
        (flipped(second + 30), DAMAGED, "cannot be decrypted"),
        (flipped(third), DAMAGED, "length of a frame"),
        (flipped(third + 3), DAMAGED, "length of a frame"),
        (swapped, DAMAGED, "length of a frame"),
        (removed, DAMAGED, "length of a frame"),
        (flipped(head - 3), DAMAGED, ""),
    ] {
        fs::write(&path, contents).expect("written");
        let run = stage.restore("a.backup", &[]).await;
        assert!(run.code == code && run.stderr.contains(words), "{words}: {run:#?}");
        assert!(!stage.file("data").exists(), "{words}");
    }
    let other = Stage::on("redb").await;
    drop(other.installation.serve().await);
    fs::copy(other.file("changes.journal"), &path).expect("copied");
    let run = stage.restore("a.backup", &[]).await;
    assert!(run.code == NOT_MATCHING && run.stderr.contains("another store"), "{run:#?}");
    // A frame that was not written completely is dropped, and that is reported. The last one only confirms a change.
    let change = frames[frames.len() - 2];
    fs::write(&path, &bytes[..change + 90]).expect("written");
    let restored = parsed(&stage.restore("a.backup", &[]).await);
    let journal = &restored["journal"];
    assert_eq!((&journal["applied"], &journal["cut"]), (&json!(3), &json!([path])), "{restored:#}");
}

/// A change that was made durable in the journal and not in the store is never applied beside what came instead of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_journal_after_a_kill_continues_what_was_committed() {
    for has_new_journal in [true, false] {
        let stage = Stage::on("redb").await;
        let configuration = fs::read_to_string(stage.file("quorated.toml")).expect("a file");
        let served = stage.installation.serve().await;
        requests::create_wallet(&stage.root(&served), "first").await;
        stage.back_up("a.backup").await;
        requests::create_wallet(&stage.root(&served), "in the former journal").await;
        drop(served);
        let fails = [("FAIL_POINTS", "journal.appended=return")];
        let mut served = stage.installation.serve_with(&fails).await;
        let root = stage.root(&served);
        let body = root.proposal(CREATE_WALLET, &requests::wallet("lost"));
        assert!(root.try_send(&submit_path(CREATE_WALLET), &body).await.is_err());
        assert_ne!(served.ended().await, 0);
        if has_new_journal {
            fs::rename(stage.file("changes.journal"), stage.file("former.journal")).expect("moved");
            fs::write(stage.file("changes.journal"), "").expect("written");
        } else {
            // One change is made without a journal.
            stage.installation.configure(&configuration.replace(JOURNAL, ""));
            let served = stage.installation.serve().await;
            requests::create_wallet(&stage.root(&served), "not recorded").await;
            drop(served);
            stage.installation.configure(&configuration);
        }
        let served = stage.installation.serve().await;
        for name in ["second", "third"] {
            requests::create_wallet(&stage.root(&served), name).await;
        }
        let expected = state(&stage.root(&served)).await;
        drop(served);
        stage.lose();
        let former = stage.file("former.journal");
        let more = ["--journal", text(&former)];
        if has_new_journal {
            // One that was begun later than the backup does not have everything.
            let restored = parsed(&stage.restore("a.backup", &[]).await);
            assert_eq!(restored["journal"]["gaps"].as_array().map(Vec::len), Some(1), "{restored:#}");
            stage.lose();
        }
        let restored = parsed(&stage.restore("a.backup", if has_new_journal { &more } else { &[] }).await);
        verifies(&stage.installation, &restored.to_string()).await;
        let served = stage.installation.serve().await;
        if has_new_journal {
            assert_eq!(restored["journal"]["missing"], 0, "{restored:#}");
            assert_eq!(state(&stage.root(&served)).await, expected);
        } else {
            assert_eq!(restored["journal"]["gaps"].as_array().map(Vec::len), Some(1), "{restored:#}");
        }
    }
}

/// Several clients change one organization at once, so that groups contain changes that lose against others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_changes_of_one_organization_are_exact() {
    for engine in ["sled", "redb"] {
        let stage = Stage::on(engine).await;
        let served = stage.installation.serve_with(&[("FAIL_POINTS", "store.apply=sleep(10)")]).await;
        stage.back_up("a.backup").await;
        let mut clients = tokio::task::JoinSet::new();
        for client in 0..16 {
            let root = stage.root(&served);
            clients.spawn(async move {
                for number in 0..4 {
                    let name = format!("{client} {number}");
                    while root.submit(CREATE_WALLET, &requests::wallet(&name)).await.status != 200 {}
                }
            });
        }
        clients.join_all().await;
        let expected = state(&stage.root(&served)).await;
        drop(served);
        stage.lose();
        let copy = stage.file("copy.journal");
        fs::copy(stage.file("changes.journal"), &copy).expect("copied");
        let bytes = fs::read(&copy).expect("a journal");
        // An older copy beside it changes nothing.
        fs::write(&copy, &bytes[..bytes.len() / 2]).expect("written");
        let restored = parsed(&stage.restore("a.backup", &["--journal", text(&copy)]).await);
        let journal = &restored["journal"];
        assert!(journal["applied"].as_u64().is_some_and(|applied| applied >= 64), "{engine}: {journal:#}");
        assert_eq!(
            (&journal["missing"], &journal["gaps"], &journal["absent"]),
            (&json!(0), &json!([]), &json!([])),
            "{engine}"
        );
        stage.has(&expected, engine).await;
    }
}

/// A store that is put back to a state before its present journal was begun is noticed.
#[tokio::test]
async fn a_journal_that_was_begun_later_is_a_witness_as_well() {
    let stage = Stage::on("redb").await;
    let served = stage.installation.serve().await;
    requests::create_wallet(&stage.root(&served), "first").await;
    drop(served);
    let copied = Command::new("cp").arg("-a").args([stage.file("data"), stage.file("older")]).status();
    assert!(copied.is_ok_and(|copied| copied.success()));
    fs::rename(stage.file("changes.journal"), stage.file("former.journal")).expect("moved");
    fs::write(stage.file("changes.journal"), "").expect("written");
    let served = stage.installation.serve().await;
    requests::create_wallet(&stage.root(&served), "second").await;
    drop(served);
    stage.lose();
    fs::rename(stage.file("older"), stage.file("data")).expect("put back");
    for command in ["serve", "verify"] {
        let run = stage.installation.run(command, &[]).await;
        assert_eq!(run.code, NOT_MATCHING, "{run:#?}");
    }
}

/// What a pipe at the path of the journal does to a daemon: changes are rejected, and signing continues.
#[tokio::test]
async fn a_pipe_as_journal_is_refused() {
    let stage = Stage::on("sled").await;
    let served = stage.installation.serve().await;
    let root = stage.root(&served);
    let address = requests::create_wallet(&root, "first").await;
    let (path, away) = (stage.file("changes.journal"), stage.file("away"));
    fs::rename(&path, &away).expect("moved");
    assert!(Command::new("mkfifo").arg(&path).status().is_ok_and(|made| made.success()));
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(2);
    while std::time::Instant::now() < deadline {
        assert_eq!(root.submit(CREATE_WALLET, &requests::wallet("refused")).await.status, 503);
        root.completed(SIGN, &requests::sign(&address, &format!("{:?}", std::time::Instant::now()))).await;
    }
    drop(served);
    let run = stage.installation.run("serve", &[]).await;
    assert!(run.code == MISSING && run.stderr.contains("not a regular file"), "{run:#?}");
    let fresh = Installation::new(KEY_FILE);
    let configuration = fs::read_to_string(fresh.path("quorated.toml")).expect("a file");
    fresh.configure(&format!("{configuration}\n[journal]\npath = \"missing/changes.journal\"\n"));
    let run =
        fresh.run("init", &["--name", "x", "--root-user", &format!("a={}", stage.key.public_key())]).await;
    assert_eq!(run.code, MISSING, "{run:#?}");
    assert!(!fresh.path("data").exists(), "nothing is created");
}

/// Restores the store of a fleet to one machine, with the journals of some of its daemons.
async fn restore_fleet(fleet: &mut Fleet, file: &Path, given: &[usize]) -> (Installation, Value) {
    for daemon in 0..fleet.count() {
        fleet.kill(daemon);
    }
    let target = Installation::new(KEY_FILE);
    let store = "path = \"data\"\nengine = \"redb\"";
    target.configure(&format!(
        "[socket]\npath = \"run/socket\"\n\n[store]\n{store}\n\n[key]\n{KEY_FILE}\n{JOURNAL}"
    ));
    fs::copy(fleet.installation(0).path("root.key"), target.path("root.key")).expect("copied");
    let configuration = target.path("quorated.toml");
    let mut words =
        vec!["restore", text(file), "--config", text(&configuration), "--json", "--without-journal"];
    let journals: Vec<_> =
        given.iter().map(|daemon| fleet.installation(*daemon).path("changes.journal")).collect();
    words.extend(journals.iter().flat_map(|journal| ["--journal", text(journal)]));
    let restored = parsed(&quorate_tests::installation::run(&target.path(""), &words).await);
    verifies(&target, "").await;
    (target, restored)
}

/// All sub-organizations and what they consist of.
async fn family(root: &Caller) -> Value {
    let listed = root.fetch("list_suborgs", json!({ "filterType": "NAME", "filterValue": "" })).await;
    let mut all = vec![state(root).await];
    for id in listed["organizationIds"].as_array().expect("a list") {
        all.push(state(&root.on(id.as_str().expect("an id"))).await);
    }
    json!(all)
}

/// Daemons whose clocks differ, whose changes depend on each other, and which get the same request at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn journals_of_daemons_with_other_clocks_are_exact() {
    let mut fleet = Fleet::start(2, (1, 1), JOURNAL).await;
    let library = quorate_tests::paths::faketime();
    let late =
        [("LD_PRELOAD", text(&library)), ("FAKETIME", "-1s"), ("FAIL_POINTS", "store.apply=sleep(20)")];
    fleet.restart_with(1, &late).await;
    let file = fleet.installation(0).path("shared.backup");
    parsed(&fleet.installation(0).run("backup", &["--json", "--to", text(&file)]).await);
    let key = Key::named("child root");
    let users = [requests::root_user("child root", &key)];
    for number in 0..6 {
        let (one, other) = (fleet.root(0, 0), fleet.root(1, 0));
        let child = requests::sub_organization(&format!("child {number}"), &users, 1);
        let body = one.proposal("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7", &child);
        let path = submit_path("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7");
        // Both get it; the parent is changed by the other one right after it.
        let (first, second) = tokio::join!(one.send(&path, &body), other.send(&path, &body));
        assert_eq!((first.status, second.status), (200, 200), "{first:?} {second:?}");
        other.completed(CREATE_WALLET, &requests::wallet(&format!("wallet {number}"))).await;
        one.completed(CREATE_WALLET, &requests::wallet(&format!("other wallet {number}"))).await;
    }
    let expected = family(&fleet.root(0, 0)).await;
    let (target, restored) = restore_fleet(&mut fleet, &file, &[0, 1]).await;
    assert_eq!(
        (&restored["journal"]["missing"], &restored["journal"]["gaps"]),
        (&json!(0), &json!([])),
        "{restored:#}"
    );
    let served = target.serve().await;
    fleet.restart(0).await;
    let source = fleet.root(0, 0);
    let root = served.caller(source.organization(), source.key().clone());
    assert_eq!(family(&root).await, expected);
}

/// Each daemon of a shared store has a journal of its own, and a restore needs all of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn journals_of_several_daemons_are_applied_together() {
    let mut fleet = Fleet::start(2, (1, 1), JOURNAL).await;
    let file = fleet.installation(0).path("shared.backup");
    parsed(&fleet.installation(1).run("backup", &["--json", "--to", text(&file)]).await);
    // Each change needs the one of the other daemon before it.
    for number in 0..12 {
        let root = fleet.root(number % 2, 0);
        root.completed(CREATE_WALLET, &requests::wallet(&format!("wallet {number}"))).await;
    }
    let expected = state(&fleet.root(0, 0)).await;
    let (_, restored) = restore_fleet(&mut fleet, &file, &[0]).await;
    assert_eq!(restored["journal"]["absent"].as_array().map(Vec::len), Some(1), "{restored:#}");
    let (target, restored) = restore_fleet(&mut fleet, &file, &[0, 1]).await;
    assert_eq!(
        (&restored["journal"]["applied"], &restored["journal"]["missing"]),
        (&json!(12), &json!(0)),
        "{restored:#}"
    );
    let served = target.serve().await;
    fleet.restart(0).await;
    let source = fleet.root(0, 0);
    let root = served.caller(source.organization(), source.key().clone());
    assert_eq!(state(&root).await, expected);
    drop(served);
    verifies(&target, "").await;
}
