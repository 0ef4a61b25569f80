//! `f7`: bytes of every file of the data folder are flipped, cut off, zeroed or swapped. The daemon serves everything
//! that was acknowledged, or refuses to start with its exit code and one message.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use quorate_tests::caller::{Caller, submit_path};
use quorate_tests::choices::Choices;
use quorate_tests::daemon::{Daemon, Ended};
use quorate_tests::keys::Key;
use quorate_tests::requests;
use serde_json::{Value, json};

use crate::deeds::{Deed, KINDS, Stage};
use crate::scenario::Scenario;

/// Exit codes of a daemon that does not start: see README.
const REFUSALS: std::ops::RangeInclusive<i32> = 3..=9;
/// Length of the blocks that are swapped.
const BLOCK: usize = 512;

/// What is known of an installation: requests with their answers, and a key that is deleted.
pub(crate) struct Kept {
    requests: Vec<(Deed, Value)>,
    deleted: Key,
}

impl Kept {
    /// Fills an installation. The last acknowledged request deletes an API key.
    pub(crate) async fn fill(daemon: &Daemon, requests: usize) -> Self {
        let root = daemon.root(0);
        let mut stage = Stage::prepare(daemon).await;
        let mut done = Vec::new();
        let deleted = Key::named("deleted");
        let api_keys = [requests::api_key("deleted", &deleted)];
        let made =
            root.result(requests::CREATE_API_KEYS, &requests::api_keys(daemon.root_id(0), &api_keys)).await;
        for number in 0..requests {
            let deed = stage.deed(&root, KINDS[number % KINDS.len()]).await;
            let answer =
                root.send(&submit_path(deed.activity_type), &deed.body).await.activity_in("COMPLETED");
            done.push((deed, answer));
        }
        let gone = json!({ "userId": daemon.root_id(0), "apiKeyIds": [made["apiKeyIds"][0]] });
        let deletion = "ACTIVITY_TYPE_DELETE_API_KEYS";
        let deed = Deed { activity_type: deletion, body: root.proposal(deletion, &gone) };
        let answer = root.send(&submit_path(deletion), &deed.body).await.activity_in("COMPLETED");
        done.push((deed, answer));
        Self { requests: done, deleted }
    }

    /// What an installation serves that it should not, or does not serve. An error with status 5xx is a clear refusal.
    pub(crate) async fn silent_losses(&self, daemon: &Daemon) -> Vec<String> {
        let mut lost = Vec::new();
        let root = daemon.root(0);
        let deleted = Caller::new(daemon.http(), root.organization(), self.deleted.clone());
        // Queries first: what is sent again runs again where it was lost.
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
        for (deed, answer) in &self.requests {
            let reply = root.send(&submit_path(deed.activity_type), &deed.body).await;
            let same = reply.status == 200 && reply.activity()["id"] == answer["id"];
            if !same && reply.status < 500 {
                lost.push(format!("{} runs again", answer["type"]));
            }
        }
        lost
    }
}

/// Why a refusal to start is not a clear one.
pub(crate) fn unclear(ended: &Ended) -> Option<String> {
    let code = ended.status.code();
    let lines: Vec<&str> = ended.complaint.lines().filter(|line| line.contains("quorated: ")).collect();
    if code.is_none_or(|code| !REFUSALS.contains(&code)) {
        Some(format!("ended with {}", ended.status))
    } else if lines.len() != 1 {
        Some(format!("{} messages", lines.len()))
    } else if ended.complaint.contains("panicked at") {
        Some("prints a panic".to_owned())
    } else {
        None
    }
}

/// All files below a folder, as relative paths, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(inner) = open.pop() {
        for entry in fs::read_dir(&inner).expect("a folder") {
            let entry = entry.expect("an entry");
            let kind = entry.file_type().expect("a type");
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() {
                found.push(entry.path().strip_prefix(folder).expect("a path below").to_owned());
            }
        }
    }
    found.sort();
    found
}

/// Copies a folder with its files.
pub(crate) fn copy(from: &Path, to: &Path) {
    for file in files(from) {
        let target = to.join(&file);
        fs::create_dir_all(target.parent().expect("a folder")).expect("a folder");
        fs::copy(from.join(&file), target).expect("a copy");
    }
}

/// Damages bytes, and says how. Nothing if the bytes are as before.
fn damage(bytes: &mut Vec<u8>, choices: &mut Choices) -> Option<String> {
    let before = bytes.clone();
    let length = bytes.len();
    assert!(!before.is_empty(), "an empty file cannot be damaged");
    // Zeroes at the end of a file that grows in steps say nothing; most damages are in what was written.
    let used = bytes.iter().rposition(|byte| *byte != 0).map_or(length, |last| last + 1);
    let at = choices.below(used);
    let what = match choices.below(6) {
        0 | 1 => {
            bytes[at] ^= 1 << choices.below(8);
            format!("bit flipped in byte {at}")
        }
        2 => {
            bytes.truncate(at);
            format!("cut to {at} bytes")
        }
        3 => {
            let end = (at + 1 + choices.below(2 * BLOCK)).min(length);
            bytes[at..end].fill(0);
            format!("zeroed from {at} to {end}")
        }
        4 => {
            let tail = used - choices.below(used.min(4096));
            bytes[tail.saturating_sub(1)..used].fill(0);
            format!("zeroed from {tail} to the end at {used}")
        }
        _ => {
            let (first, second) = (at / BLOCK * BLOCK, choices.below(used) / BLOCK * BLOCK);
            for offset in 0..BLOCK {
                if first + offset < length && second + offset < length {
                    bytes.swap(first + offset, second + offset);
                }
            }
            format!("blocks at {first} and {second} swapped")
        }
    };
    (*bytes != before).then(|| format!("{what} of {length}"))
}

/// The file for a damage: each has its turn, and the files of the store half of all.
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
    let folder = tempfile::tempdir().expect("a folder");
    let original = folder.path().join("original");
    let options = scenario.engine().options(1, 1);
    let mut daemon = Daemon::start_on(options.clone(), &original).await;
    let kept = Kept::fill(&daemon, 35).await;
    daemon.kill();
    // The memory of dev mode is no part of what is promised.
    let is_data = |file: &PathBuf| {
        let length = fs::metadata(original.join(file)).map_or(0, |metadata| metadata.len());
        length > 0 && !file.ends_with("dev.json")
    };
    let all: Vec<PathBuf> = files(&original).into_iter().filter(is_data).collect();
    assert!(!all.is_empty(), "no file to damage");
    let (mut refused, mut served, mut silent) = (0, 0, Vec::new());
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
            Err(ended) => match unclear(&ended) {
                None => refused += 1,
                Some(why) => silent.push(format!("{what}: {why}\n{}", ended.complaint)),
            },
            Ok(daemon) => {
                let lost = kept.silent_losses(&daemon).await;
                if lost.is_empty() {
                    served += 1;
                } else {
                    eprintln!("{what}: {} losses: {}", lost.len(), lost[0]);
                    silent.push(format!("{what}: {} losses: {}", lost.len(), lost[0]));
                }
            }
        }
        fs::remove_dir_all(&data).expect("the copy");
    }
    let count = silent.len();
    let list = silent.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
    assert!(
        silent.is_empty(),
        "{refused} refused, {served} served whole, {count} silent or unclear:\n{list}"
    );
    let each = begun.elapsed().as_millis() / u128::try_from(scenario.rounds().max(1)).expect("a number");
    scenario.close(format!("{refused} refused clearly, {served} served whole, 0 silent; {each} ms each"));
}
