//! `f8`, second part: someone who has the disk puts back an activity that was rejected, or one that waits with other
//! votes than it has now, removes one, or adds a copy. No consent comes of it, and `quorated verify` names it.

use std::path::Path;

use quorate_tests::daemon::Daemon;
use quorate_tests::installation::{Installation, Run};
use quorate_tests::requests;
use serde_json::{Value, json};

use crate::damage::{copy, unclear};
use crate::engine::Engine;
use crate::scenario::Scenario;

type Row = (Vec<u8>, Vec<u8>);

/// What is changed on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    /// The rejected activity as it was while it waited.
    Rejected,
    /// The same with the index entry by which it waited.
    RejectedListed,
    /// The same without the index entry of the rejected one.
    RejectedListedOnly,
    /// One that waits, with the votes it had before.
    FewerVotes,
    /// The same with the index entry of that time.
    FewerVotesListed,
    /// One that waits, with a vote that was cast in a copy of the installation that went on.
    MoreVotes,
    /// The same with the index entry of that copy.
    MoreVotesListed,
    /// One that waits is removed.
    Removed,
    /// The index entry of one that waits is removed.
    Unlisted,
    /// Both are removed.
    RemovedUnlisted,
    /// The record of one that waits under a second id.
    Copied,
    /// The index entry of one that waits under a second id.
    CopiedEntry,
}

const CHANGES: [Change; 12] = [
    Change::Rejected,
    Change::RejectedListed,
    Change::FewerVotes,
    Change::Removed,
    Change::RejectedListedOnly,
    Change::FewerVotesListed,
    Change::MoreVotes,
    Change::MoreVotesListed,
    Change::Unlisted,
    Change::RemovedUnlisted,
    Change::Copied,
    Change::CopiedEntry,
];

/// An activity and where it is stored.
struct Target {
    activity: Value,
    id: Vec<u8>,
}

impl Target {
    fn of(activity: Value) -> Self {
        let id = activity["id"].as_str().expect("an id").replace('-', "");
        Self { id: const_hex::decode(id).expect("an id"), activity }
    }

    /// The key of its record, or of its index entries, among these rows.
    fn key(&self, letter: u8, rows: &[Row]) -> Vec<u8> {
        let mut keys = rows.iter().map(|(key, _)| key);
        let found = keys.find(|key| key.first() == Some(&letter) && key.ends_with(&self.id));
        found.expect("a row of the activity").clone()
    }
}

fn value<'r>(rows: &'r [Row], key: &[u8]) -> Option<&'r [u8]> {
    rows.iter().find(|row| row.0 == key).map(|row| row.1.as_slice())
}

/// An installation at two times: as it was, and as it is after votes.
struct Stage {
    engine: Engine,
    early: Vec<Row>,
    late: Vec<Row>,
    rejected: Target,
    waiting: Target,
}

impl Stage {
    /// Changes the rows of a data folder, which is one of the early time for what a copy added. Returns the activity.
    fn change(&self, change: Change, data: &Path) -> &Target {
        let Self { early, late, rejected, waiting, .. } = self;
        let rows = self.engine.rows(data);
        let put = |key: &[u8], from: &[Row]| rows.put(key, value(from, key));
        let (record, entry) = (waiting.key(b'a', early), waiting.key(b't', early));
        let second = |key: &[u8]| {
            let mut other = key.to_vec();
            *other.last_mut().expect("a key") ^= 1;
            rows.put(&other, value(late, key));
        };
        match change {
            Change::Rejected => put(&rejected.key(b'a', early), early),
            Change::RejectedListed | Change::RejectedListedOnly => {
                put(&rejected.key(b'a', early), early);
                put(&rejected.key(b't', early), early);
                if change == Change::RejectedListedOnly {
                    rows.put(&rejected.key(b't', late), None);
                }
            }
            Change::FewerVotes => put(&record, early),
            Change::FewerVotesListed => {
                put(&record, early);
                put(&entry, early);
            }
            Change::MoreVotes => put(&record, late),
            Change::MoreVotesListed => {
                put(&record, late);
                put(&entry, late);
            }
            Change::Removed => rows.put(&record, None),
            Change::Unlisted => rows.put(&entry, None),
            Change::RemovedUnlisted => {
                rows.put(&record, None);
                rows.put(&entry, None);
            }
            Change::Copied => second(&record),
            Change::CopiedEntry => second(&entry),
        }
        match change {
            Change::Rejected | Change::RejectedListed | Change::RejectedListedOnly => rejected,
            _ => waiting,
        }
    }
}

impl Change {
    /// Whether it is made to the installation as it was before the last votes.
    fn is_early(self) -> bool {
        matches!(self, Self::MoreVotes | Self::MoreVotesListed)
    }

    /// Whether records and index entries contradict each other, so that the activity is known by its id. Otherwise the
    /// organization is named.
    fn names_activity(self) -> bool {
        !matches!(self, Self::FewerVotesListed | Self::MoreVotesListed | Self::RemovedUnlisted)
    }
}

/// What was served although the change was made.
async fn served(engine: Engine, data: &Path, change: Change, target: &Target) -> Vec<String> {
    let daemon = match Daemon::try_start_on(engine.options(3, 3), data).await {
        Err(ended) => return unclear(&ended).into_iter().collect(),
        Ok(daemon) => daemon,
    };
    let root = daemon.root(2);
    let mut id = target.activity["id"].clone();
    if change == Change::Copied {
        let mut text = id.as_str().expect("an id").to_owned();
        let last = u8::from_str_radix(&text.split_off(text.len() - 2), 16).expect("hex") ^ 1;
        id = json!(format!("{text}{last:02x}"));
    }
    let mut served = Vec::new();
    if change != Change::Copied {
        let reply = root.approve(&target.activity["fingerprint"]).await;
        if reply.status < 500 {
            served.push(format!("an approval is answered with {}", reply.status));
        }
    }
    let waiting = json!({ "filterByStatus": ["ACTIVITY_STATUS_CONSENSUS_NEEDED"] });
    let mut queries = vec![("get_activity", json!({ "activityId": id }))];
    // A copy opens under no other key, and stops nothing but itself.
    if change != Change::Copied {
        queries.extend([("list_activities", waiting), ("whoami", json!({}))]);
    }
    for (name, members) in queries {
        let reply = root.query(name, members).await;
        if reply.status < 500 {
            served.push(format!("{name} is answered with {}", reply.status));
        }
    }
    served
}

async fn verified(installation: &Path) -> Run {
    let installation = Installation::at(installation, "file = \"data/root.key\"");
    loop {
        let run = installation.run("verify", &[]).await;
        // Threads of sled in this process hold the lock of the store a little longer.
        if run.code != 6 {
            return run;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f8_consent_put_back() {
    let mut scenario = Scenario::begin("f8 consent put back", 4, CHANGES.len());
    let engine = scenario.engine();
    let folder = tempfile::tempdir().expect("a folder");
    let (early, late) = (folder.path().join("early/data"), folder.path().join("late/data"));
    let mut daemon = Daemon::start_on(engine.options(3, 3), &late).await;
    let (first, second) = (daemon.root(0), daemon.root(1));
    let rejected = first.waiting(requests::CREATE_WALLET, &requests::wallet("rejected")).await;
    let waiting = first.waiting(requests::CREATE_WALLET, &requests::wallet("waiting")).await;
    second.approve(&rejected["fingerprint"]).await.activity_in("CONSENSUS_NEEDED");
    daemon.kill();
    copy(&late, &early);
    let early_rows = engine.rows(&late).all();
    daemon.restart().await;
    let (second, third) = (daemon.root(1), daemon.root(2));
    third.reject(&rejected["fingerprint"]).await.activity_in("COMPLETED");
    second.approve(&waiting["fingerprint"]).await.activity_in("CONSENSUS_NEEDED");
    daemon.kill();
    let late_rows = engine.rows(&late).all();
    let (rejected, waiting) = (Target::of(rejected), Target::of(waiting));
    let stage = Stage { engine, early: early_rows, late: late_rows, rejected, waiting };
    let run = verified(&folder.path().join("late")).await;
    assert_eq!(run.code, 0, "an installation as it was left is complete: {run:?}");
    let mut missed = Vec::new();
    for round in 0..scenario.rounds() {
        let change = CHANGES[round % CHANGES.len()];
        scenario.step(format!("round {round}: {change:?}"));
        let place = folder.path().join("changed");
        let data = place.join("data");
        copy(if change.is_early() { &early } else { &late }, &data);
        // The guard knows of the copy that went on.
        let target = stage.change(change, &data);
        let Run { code, output, .. } = verified(&place).await;
        let name = match (change, target.activity["id"].as_str().expect("an id")) {
            // The key of what does not open.
            (Change::Copied | Change::CopiedEntry, id) => id[..24].replace('-', ""),
            (_, id) if change.names_activity() => id.to_owned(),
            _ => first.organization().to_owned(),
        };
        if code == 0 || !output.contains(&name) {
            missed.push(format!("{change:?}: verify ends with {code} and names no {name}: {output}"));
        }
        for what in served(engine, &data, change, target).await {
            missed.push(format!("{change:?}: {what}"));
        }
        std::fs::remove_dir_all(&place).expect("the copy");
    }
    assert!(missed.is_empty(), "not noticed:\n{}", missed.join("\n"));
    let rounds = scenario.rounds();
    scenario.close(format!("{rounds} changes of activities, all noticed and named"));
}
