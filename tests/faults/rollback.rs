//! `f8`: someone with access to the disk restores an older copy of the store or single records.

use quorate_tests::choices::Choices;
use quorate_tests::daemon::Daemon;
use quorate_tests::requests;

use crate::damage::{ExpectedState, copy, startup_violation};
use crate::engine::{Engine, Rows};
use crate::scenario::Scenario;

type Row = (Vec<u8>, Vec<u8>);

/// A change of the store by someone with access to the disk.
#[derive(Debug, Clone, Copy)]
enum Tampering {
    /// Restores the old value of a record.
    OldValue,
    /// Restores a removed record.
    Removed,
    /// Removes a record.
    Removal,
    /// Stores the value of a record under the key of another one.
    Moved,
    /// Restores all records of an organization.
    Organization,
    /// Removes all records of an organization.
    NoOrganization,
}

const TAMPERINGS: [Tampering; 6] = [
    Tampering::OldValue,
    Tampering::Removed,
    Tampering::Removal,
    Tampering::Moved,
    Tampering::Organization,
    Tampering::NoOrganization,
];

impl Tampering {
    /// Changes the rows and describes the change.
    fn act(self, rows: &dyn Rows, organization: &[u8], before: &[Row], choices: &mut Choices) -> String {
        let now = rows.all();
        let of = |rows: &[Row], key: &[u8]| rows.iter().find(|row| row.0 == key).map(|row| row.1.clone());
        let show = |key: &[u8]| const_hex::encode(key);
        let is_of = |row: &&Row| row.0.windows(organization.len()).any(|part| part == organization);
        match self {
            Self::OldValue => {
                let differs = |row: &&Row| of(&now, &row.0).is_some_and(|value| value != row.1);
                let changed: Vec<&Row> = before.iter().filter(differs).collect();
                let (key, value) = choices.pick(&changed).expect("a record that changed");
                rows.put(key, Some(value));
                format!("the old value of {} restored", show(key))
            }
            Self::Removed => {
                let removed: Vec<&Row> = before.iter().filter(|row| of(&now, &row.0).is_none()).collect();
                let (key, value) = choices.pick(&removed).expect("a record that was removed");
                rows.put(key, Some(value));
                format!("the removed {} restored", show(key))
            }
            Self::Removal => {
                let (key, _) = choices.pick(&now).expect("a record");
                rows.put(key, None);
                format!("{} removed", show(key))
            }
            Self::Moved => {
                let first = choices.below(now.len());
                let second = (first + 1 + choices.below(now.len() - 1)) % now.len();
                rows.put(&now[first].0, Some(&now[second].1));
                format!("the value of {} put under {}", show(&now[second].0), show(&now[first].0))
            }
            Self::Organization | Self::NoOrganization => {
                now.iter().filter(is_of).for_each(|row| rows.put(&row.0, None));
                if matches!(self, Self::Organization) {
                    before.iter().filter(is_of).for_each(|row| rows.put(&row.0, Some(&row.1)));
                }
                format!("{self:?}")
            }
        }
    }
}

/// Checks that the daemon detects the change: it fails to start, or answers nothing in this organization.
async fn check_detected(engine: Engine, data: &std::path::Path) -> Result<(), String> {
    loop {
        return match Daemon::try_start_on(engine.options(1, 1), data).await {
            // Threads of sled in this process may hold the lock of the store a little longer.
            Err(ended) if ended.status.code() == Some(6) => continue,
            Err(ended) => startup_violation(&ended).map_or(Ok(()), Err),
            Ok(daemon) => {
                let reply = daemon.root(0).query("whoami", serde_json::json!({})).await;
                if reply.status >= 500 { Ok(()) } else { Err(format!("answered with {}", reply.status)) }
            }
        };
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f8_records_put_back() {
    let mut scenario = Scenario::begin("f8 restored records", TAMPERINGS.len(), 300);
    if !scenario.engine().has_files() {
        return;
    }
    let engine = scenario.engine();
    let folder = tempfile::tempdir().expect("a folder");
    let original = folder.path().join("original");
    let mut daemon = Daemon::start_on(engine.options(1, 1), &original).await;
    let root = daemon.root(0);
    let organization = const_hex::decode(root.organization().replace('-', "")).expect("an id");
    let tag = serde_json::json!({ "userTagName": "removed later", "userIds": [] });
    let tag = root.result("ACTIVITY_TYPE_CREATE_USER_TAG", &tag).await;
    daemon.kill();
    let before = engine.rows(&original).all();
    let older = folder.path().join("older");
    copy(&original, &older);
    daemon.restart().await;
    let root = daemon.root(0);
    let deleted = serde_json::json!({ "userTagIds": [tag["userTagId"]] });
    root.result("ACTIVITY_TYPE_DELETE_USER_TAGS", &deleted).await;
    ExpectedState::fill(&daemon, 20).await;
    requests::create_wallet(&daemon.root(0), "one more").await;
    daemon.kill();
    let mut undetected = Vec::new();
    let mut tampered = 0;
    for round in 0..scenario.rounds() {
        let data = folder.path().join("tampered");
        copy(&original, &data);
        let tampering = TAMPERINGS[round % TAMPERINGS.len()];
        let choices = &mut scenario.choices(round);
        let what = tampering.act(engine.rows(&data).as_ref(), &organization, &before, choices);
        scenario.step(format!("round {round}: {what}"));
        if let Err(why) = check_detected(engine, &data).await {
            undetected.push(format!("round {round}: {what}: {why}"));
        }
        tampered += 1;
        std::fs::remove_dir_all(&data).expect("the copy");
    }
    scenario.step("the store folder as a whole");
    let data = folder.path().join("older store");
    copy(&original, &data);
    std::fs::remove_dir_all(data.join("store")).expect("a store");
    copy(&older.join("store"), &data.join("store"));
    if let Err(why) = check_detected(engine, &data).await {
        undetected.push(format!("an older copy of the store: {why}"));
    }
    tampered += 1;
    assert!(
        undetected.is_empty(),
        "{} of {tampered} not detected:\n{}",
        undetected.len(),
        undetected.join("\n")
    );
    scenario.close(format!("{tampered} changes by someone with access to the disk, all detected"));
}
