//! `f8`, second part: someone with access to the disk restores a rejected activity, restores a waiting
//! activity with other votes, removes one, or adds a copy. None of this grants an approval, and `quorated
//! verify` names the activity.

use std::path::Path;

use quorate_tests::daemon::Daemon;
use quorate_tests::installation::{Installation, Run};
use quorate_tests::requests;
use serde_json::{Value, json};

use crate::damage::{copy, startup_violation};
use crate::engine::Engine;
use crate::scenario::Scenario;

type Row = (Vec<u8>, Vec<u8>);

/// A change on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    /// Restores the rejected activity as it was while it waited.
    Rejected,
    /// The same, with its index entry of waiting activities.
    RejectedListed,
    /// The same, without its index entry as a rejected one.
    RejectedListedOnly,
    /// Restores earlier votes of a waiting activity.
    FewerVotes,
    /// The same, with the index entry of that time.
    FewerVotesListed,
    /// Adds a vote to a waiting activity, which was cast in a copy of the installation that kept running.
    MoreVotes,
    /// The same, with the index entry of that copy.
    MoreVotesListed,
    /// Removes a waiting activity.
    Removed,
    /// Removes the index entry of a waiting activity.
    Unlisted,
    /// Removes both.
    RemovedUnlisted,
    /// Stores the record of a waiting activity under a second id.
    Copied,
    /// Stores the index entry of a waiting activity under a second id.
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

/// An activity and its id in store keys.
struct Target {
    activity: Value,
    id: Vec<u8>,
}

impl Target {
    fn of(activity: Value) -> Self {
        let id = activity["id"].as_str().expect("an id").replace('-', "");
        Self { id: const_hex::decode(id).expect("an id"), activity }
    }

    /// Returns the key of its record or index entry among these rows.
    fn key(&self, letter: u8, rows: &[Row]) -> Vec<u8> {
        let mut keys = rows.iter().map(|(key, _)| key);
        let key = keys.find(|key| key.first() == Some(&letter) && key.ends_with(&self.id));
        key.expect("a row of the activity").clone()
    }
}

fn value<'r>(rows: &'r [Row], key: &[u8]) -> Option<&'r [u8]> {
    rows.iter().find(|row| row.0 == key).map(|row| row.1.as_slice())
}

/// An installation at two points in time: before and after the last votes.
struct Installations {
    engine: Engine,
    early: Vec<Row>,
    late: Vec<Row>,
    rejected: Target,
    waiting: Target,
}

impl Installations {
    /// Changes the rows of a data folder and returns the affected activity. The folder must be of the early
    /// time if [`Change::is_early`].
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
    /// Returns whether the change applies to the installation before the last votes.
    fn is_early(self) -> bool {
        matches!(self, Self::MoreVotes | Self::MoreVotesListed)
    }

    /// Returns whether records and index entries contradict each other, so that the activity is named by its
    /// id. Otherwise the organization is named.
    fn names_activity(self) -> bool {
        !matches!(self, Self::FewerVotesListed | Self::MoreVotesListed | Self::RemovedUnlisted)
    }
}

/// Returns what was served in spite of the change.
async fn served(engine: Engine, data: &Path, change: Change, target: &Target) -> Vec<String> {
    let daemon = match Daemon::try_start_on(engine.options(3, 3), data).await {
        Err(ended) => return startup_violation(&ended).into_iter().collect(),
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
    // A copied record cannot be decrypted under another key, and blocks nothing but itself.
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

async fn verify(installation: &Path) -> Run {
    let installation = Installation::at(installation, "file = \"data/root.key\"");
    loop {
        let run = installation.run("verify", &[]).await;
        // Threads of sled in this process may hold the lock of the store a little longer.
        if run.code != 6 {
            return run;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f8_consent_put_back() {
    let mut scenario = Scenario::begin("f8 restored activities", 4, CHANGES.len());
    if !scenario.engine().has_files() {
        return;
    }
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
    let stage = Installations { engine, early: early_rows, late: late_rows, rejected, waiting };
    let run = verify(&folder.path().join("late")).await;
    assert_eq!(run.code, 0, "an unchanged installation is complete: {run:?}");
    let mut undetected = Vec::new();
    for round in 0..scenario.rounds() {
        let change = CHANGES[round % CHANGES.len()];
        scenario.step(format!("round {round}: {change:?}"));
        let installation = folder.path().join("changed");
        let data = installation.join("data");
        copy(if change.is_early() { &early } else { &late }, &data);
        // The guard file is that of the later copy.
        let target = stage.change(change, &data);
        let Run { code, output, .. } = verify(&installation).await;
        let name = match (change, target.activity["id"].as_str().expect("an id")) {
            // The store key of the record that cannot be decrypted.
            (Change::Copied | Change::CopiedEntry, id) => id[..24].replace('-', ""),
            (_, id) if change.names_activity() => id.to_owned(),
            _ => first.organization().to_owned(),
        };
        if code == 0 || !output.contains(&name) {
            undetected
                .push(format!("{change:?}: verify exits with {code} and does not name {name}: {output}"));
        }
        for what in served(engine, &data, change, target).await {
            undetected.push(format!("{change:?}: {what}"));
        }
        std::fs::remove_dir_all(&installation).expect("the copy");
    }
    assert!(undetected.is_empty(), "not detected:\n{}", undetected.join("\n"));
    let rounds = scenario.rounds();
    scenario.close(format!("{rounds} changes of activities, all detected and named"));
}
