//! `f7`: bytes of every file of the data folder are flipped, cut off, zeroed or swapped. The daemon serves
//! everything that was acknowledged, or fails to start with its exit code and one message.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use quorate_tests::caller::{Caller, submit_path};
use quorate_tests::choices::Choices;
use quorate_tests::daemon::{Daemon, Ended};
use quorate_tests::installation::Installation;
use quorate_tests::keys::Key;
use quorate_tests::requests;
use serde_json::{Value, json};

use crate::operations::{KINDS, Operation, Stage};
use crate::scenario::Scenario;

/// Exit codes of a daemon that fails to start: see README.
const STARTUP_EXIT_CODES: std::ops::RangeInclusive<i32> = 3..=10;
/// Length of the swapped blocks in bytes.
const BLOCK: usize = 512;

/// Expected state of an installation: requests with their answers, and a deleted key.
pub(crate) struct ExpectedState {
    requests: Vec<(Operation, Value)>,
    deleted: Key,
}

impl ExpectedState {
    /// Fills an installation. The last acknowledged request deletes an API key.
    pub(crate) async fn fill(daemon: &Daemon, requests: usize) -> Self {
        let root = daemon.root(0);
        let mut stage = Stage::prepare(daemon).await;
        let mut done = Vec::new();
        let deleted = Key::named("deleted");
        let api_keys = [requests::api_key("deleted", &deleted)];
        let created =
            root.result(requests::CREATE_API_KEYS, &requests::api_keys(daemon.root_id(0), &api_keys)).await;
        for number in 0..requests {
            let operation = stage.operation(&root, KINDS[number % KINDS.len()]).await;
            let answer = root
                .send(&submit_path(operation.activity_type), &operation.body)
                .await
                .activity_in("COMPLETED");
            done.push((operation, answer));
        }
        let parameters = json!({ "userId": daemon.root_id(0), "apiKeyIds": [created["apiKeyIds"][0]] });
        let deletion = "ACTIVITY_TYPE_DELETE_API_KEYS";
        let operation = Operation { activity_type: deletion, body: root.proposal(deletion, &parameters) };
        let answer = root.send(&submit_path(deletion), &operation.body).await.activity_in("COMPLETED");
        done.push((operation, answer));
        Self { requests: done, deleted }
    }

    /// Returns what an installation serves wrongly or does not serve. An error with status 5xx is reported
    /// and does not count.
    pub(crate) async fn unreported_losses(&self, daemon: &Daemon) -> Vec<String> {
        let mut lost = Vec::new();
        let root = daemon.root(0);
        let deleted = Caller::new(daemon.http(), root.organization(), self.deleted.clone());
        // Queries come first, because a lost request runs again when it is sent again.
        let reply = deleted.query("whoami", json!({})).await;
        if reply.status < 400 {
            lost.push("a deleted API key is accepted".to_owned());
        }
        for (_, answer) in &self.requests {
            let reply = root.query("get_activity", json!({ "activityId": answer["id"] })).await;
            let same = reply.status == 200 && {
                let now = reply.activity();
                (&now["status"], &now["result"]) == (&answer["status"], &answer["result"])
            };
            if !same && reply.status < 500 {
                lost.push(format!("{} {} is answered with {}", answer["type"], answer["id"], reply.status));
            }
        }
        for (operation, answer) in &self.requests {
            let reply = root.send(&submit_path(operation.activity_type), &operation.body).await;
            let same = reply.status == 200 && reply.activity()["id"] == answer["id"];
            if !same && reply.status < 500 {
                lost.push(format!("{} runs again", answer["type"]));
            }
        }
        lost
    }
}

/// Returns why a failed start does not follow the rules, if so.
pub(crate) fn startup_violation(ended: &Ended) -> Option<String> {
    let code = ended.status.code();
    let lines: Vec<&str> = ended.log.lines().filter(|line| line.contains("quorated: ")).collect();
    if code.is_none_or(|code| !STARTUP_EXIT_CODES.contains(&code)) {
        Some(format!("exited with {}", ended.status))
    } else if lines.len() != 1 {
        Some(format!("{} messages", lines.len()))
    } else if ended.log.contains("panicked at") {
        Some("prints a panic".to_owned())
    } else {
        None
    }
}

/// Returns all files below a folder as sorted relative paths.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(inner) = open.pop() {
        for entry in fs::read_dir(&inner).expect("a folder") {
            let entry = entry.expect("an entry");
            let kind = entry.file_type().expect("a type");
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() {
                paths.push(entry.path().strip_prefix(folder).expect("a path below").to_owned());
            }
        }
    }
    paths.sort();
    paths
}

/// Copies a folder with its files.
pub(crate) fn copy(from: &Path, to: &Path) {
    for file in files(from) {
        let target = to.join(&file);
        fs::create_dir_all(target.parent().expect("a folder")).expect("a folder");
        fs::copy(from.join(&file), target).expect("a copy");
    }
}

/// Damages bytes and describes the damage. Returns `None` if the bytes are unchanged.
fn damage(bytes: &mut Vec<u8>, choices: &mut Choices) -> Option<String> {
    let before = bytes.clone();
    let length = bytes.len();
    assert!(!before.is_empty(), "an empty file cannot be damaged");
    // Preallocated zeroes at the end of a file carry no data, so most damage hits written bytes.
    let used = bytes.iter().rposition(|byte| *byte != 0).map_or(length, |last| last + 1);
    let offset = choices.below(used);
    let what = match choices.below(6) {
        0 | 1 => {
            bytes[offset] ^= 1 << choices.below(8);
            format!("bit flipped in byte {offset}")
        }
        2 => {
            bytes.truncate(offset);
            format!("cut to {offset} bytes")
        }
        3 => {
            let end = (offset + 1 + choices.below(2 * BLOCK)).min(length);
            bytes[offset..end].fill(0);
            format!("zeroed from {offset} to {end}")
        }
        4 => {
            let tail = used - choices.below(used.min(4096));
            bytes[tail.saturating_sub(1)..used].fill(0);
            format!("zeroed from {tail} to the end at {used}")
        }
        _ => {
            let (first, second) = (offset / BLOCK * BLOCK, choices.below(used) / BLOCK * BLOCK);
            for byte in 0..BLOCK {
                if first + byte < length && second + byte < length {
                    bytes.swap(first + byte, second + byte);
                }
            }
            format!("blocks at {first} and {second} swapped")
        }
    };
    (*bytes != before).then(|| format!("{what} of {length}"))
}

/// Chooses the file to damage: half of the rounds take a file of the store, the others take all files in
/// turn.
fn choose<'a>(all: &'a [PathBuf], round: usize, choices: &mut Choices) -> &'a PathBuf {
    let of_store: Vec<&PathBuf> = all.iter().filter(|file| file.starts_with("store")).collect();
    if round.is_multiple_of(2) && !of_store.is_empty() {
        of_store[choices.below(of_store.len())]
    } else {
        &all[round / 2 % all.len()]
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f7_damaged_files() {
    let mut scenario = Scenario::begin("f7 damages", 16, 10_000);
    if !scenario.engine().has_files() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let original = folder.path().join("original");
    let options = scenario.engine().options(1, 1);
    let mut daemon = Daemon::start_on(options.clone(), &original).await;
    let expected = ExpectedState::fill(&daemon, 35).await;
    daemon.kill();
    // The state file of dev mode is not covered by the guarantee.
    let is_data = |file: &PathBuf| {
        let length = fs::metadata(original.join(file)).map_or(0, |metadata| metadata.len());
        length > 0 && !file.ends_with("dev.json")
    };
    let all: Vec<PathBuf> = files(&original).into_iter().filter(is_data).collect();
    assert!(!all.is_empty(), "no file to damage");
    let (mut failed_starts, mut served, mut violations) = (0, 0, Vec::new());
    let begun = Instant::now();
    for round in 0..scenario.rounds() {
        let mut choices = scenario.choices(round);
        let file = choose(&all, round, &mut choices);
        let data = folder.path().join("damaged");
        copy(&original, &data);
        let mut bytes = fs::read(data.join(file)).expect("a file");
        let what = std::iter::repeat_with(|| damage(&mut bytes, &mut choices)).find_map(|what| what);
        let what = what.expect("a damage");
        let what = format!("damage {round}: {}: {what}", file.display());
        scenario.step(&what);
        fs::write(data.join(file), bytes).expect("a file");
        match Daemon::try_start_on(options.clone(), &data).await {
            Err(ended) => match startup_violation(&ended) {
                None => failed_starts += 1,
                Some(why) => violations.push(format!("{what}: {why}\n{}", ended.log)),
            },
            Ok(daemon) => {
                let lost = expected.unreported_losses(&daemon).await;
                if lost.is_empty() {
                    served += 1;
                } else {
                    eprintln!("{what}: {} losses: {}", lost.len(), lost[0]);
                    violations.push(format!("{what}: {} losses: {}", lost.len(), lost[0]));
                }
            }
        }
        fs::remove_dir_all(&data).expect("the copy");
    }
    let count = violations.len();
    let list = violations.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
    assert!(
        violations.is_empty(),
        "{failed_starts} failed starts, {served} served completely, {count} violations:\n{list}"
    );
    let each = begun.elapsed().as_millis() / u128::try_from(scenario.rounds().max(1)).expect("a number");
    scenario.close(format!("{failed_starts} failed starts with a clear error, {served} served completely, 0 unreported losses; {each} ms each"));
}

#[tokio::test]
async fn a_store_without_a_readable_organization_is_not_accepted() {
    let engine = Scenario::begin("unreadable organizations", 1, 1).engine();
    if !engine.has_files() {
        return;
    }
    let installation = Installation::new("file = \"root.key\"");
    let (first, second) = (Key::named("first owner"), Key::named("second owner"));
    installation.create_organization("first", &first).await;
    installation.create_organization("second", &second).await;
    fs::remove_file(installation.path("data/guard")).expect("removed");
    let data = installation.path("data");
    let heads = || engine.rows(&data).all().into_iter().filter(|(key, _)| key.first() == Some(&b'o'));
    let damage = |row: Option<(Vec<u8>, Vec<u8>)>| {
        let (key, mut value) = row.expect("the head of an organization");
        value[0] ^= 1;
        engine.rows(&data).put(&key, Some(&value));
    };
    let accept = async || installation.run("accept-loss", &["--confirm", "lost"]).await;

    damage(heads().next());
    damage(heads().nth(1));
    let run = accept().await;
    assert_eq!(run.code, 7, "{run:#?}");
    assert!(run.stderr.contains("organizations in the store: 2, of which none can be read"), "{run:#?}");
    assert!(!installation.path("data/guard").exists(), "the store was accepted");

    damage(heads().next());
    let run = installation.run("accept-loss", &["--confirm", "no"]).await;
    assert_eq!(run.code, 1, "{run:#?}");
    let run = accept().await;
    assert_eq!(run.code, 0, "{run:#?}");
}
