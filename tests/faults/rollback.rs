//! `f8`: an older copy of the store, or single records of one, are put back by someone who has the disk.

use quorate_tests::choices::Choices;
use quorate_tests::daemon::Daemon;
use quorate_tests::requests;

use crate::damage::{Kept, copy, unclear};
use crate::engine::{Engine, Rows};
use crate::scenario::Scenario;

type Row = (Vec<u8>, Vec<u8>);

/// Changes records of an organization as someone would who wants something back, and says what was changed.
fn tamper(
    kind: usize,
    rows: &dyn Rows,
    organization: &[u8],
    before: &[Row],
    choices: &mut Choices,
) -> String {
    let now = rows.all();
    let of = |rows: &[Row], key: &[u8]| rows.iter().find(|row| row.0 == key).map(|row| row.1.clone());
    // What a snapshot holds: the head of the organization, its users, wallets, keys, tags, policies and settings.
    let is_record =
        |row: &&Row| matches!(row.0.first(), Some(b'o' | b'e')) && row.0.get(1..17) == Some(organization);
    let show = |key: &[u8]| const_hex::encode(key);
    match kind {
        0 => {
            let differs = |row: &&Row| of(&now, &row.0).is_some_and(|value| value != row.1);
            let changed: Vec<&Row> = before.iter().filter(is_record).filter(differs).collect();
            let (key, value) = choices.pick(&changed).expect("a record that changed");
            rows.put(key, Some(value));
            format!("the old value of {} put back", show(key))
        }
        1 => {
            let gone: Vec<&Row> =
                before.iter().filter(is_record).filter(|row| of(&now, &row.0).is_none()).collect();
            let (key, value) = choices.pick(&gone).expect("a record that was removed");
            rows.put(key, Some(value));
            format!("the removed {} put back", show(key))
        }
        2 => {
            let records: Vec<&Row> = now.iter().filter(is_record).collect();
            let (key, _) = choices.pick(&records).expect("a record");
            rows.put(key, None);
            format!("{} removed", show(key))
        }
        _ => {
            let records: Vec<&Row> = now.iter().filter(is_record).collect();
            let (first, second) = (records[0], records[1 + choices.below(records.len() - 1)]);
            rows.put(&first.0, Some(&second.1));
            format!("the value of {} put under {}", show(&second.0), show(&first.0))
        }
    }
}

/// Whether the daemon noticed: it refuses to start, or answers nothing in this organization.
async fn is_noticed(engine: Engine, data: &std::path::Path) -> Result<(), String> {
    loop {
        return match Daemon::try_start_on(engine.options(1, 1), data).await {
            // Threads of sled in this process hold the lock of the store a little longer.
            Err(ended) if ended.status.code() == Some(6) => continue,
            Err(ended) => unclear(&ended).map_or(Ok(()), Err),
            Ok(daemon) => {
                let reply = daemon.root(0).query("whoami", serde_json::json!({})).await;
                if reply.status >= 500 { Ok(()) } else { Err(format!("answered with {}", reply.status)) }
            }
        };
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f8_records_put_back() {
    let mut scenario = Scenario::begin("f8 records put back", 4, 200);
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
    let gone = serde_json::json!({ "userTagIds": [tag["userTagId"]] });
    root.result("ACTIVITY_TYPE_DELETE_USER_TAGS", &gone).await;
    Kept::fill(&daemon, 20).await;
    requests::make_wallet(&daemon.root(0), "one more").await;
    daemon.kill();
    let mut missed = Vec::new();
    let mut tampered = 0;
    for round in 0..scenario.rounds() {
        let data = folder.path().join("tampered");
        copy(&original, &data);
        let what = tamper(
            round % 4,
            engine.rows(&data).as_ref(),
            &organization,
            &before,
            &mut scenario.choices(round),
        );
        scenario.step(format!("round {round}: {what}"));
        if let Err(why) = is_noticed(engine, &data).await {
            missed.push(format!("round {round}: {what}: {why}"));
        }
        tampered += 1;
        std::fs::remove_dir_all(&data).expect("the copy");
    }
    scenario.step("the store folder as a whole");
    let data = folder.path().join("older store");
    copy(&original, &data);
    std::fs::remove_dir_all(engine.folder(&data)).expect("a store");
    copy(&engine.folder(&older), &engine.folder(&data));
    if let Err(why) = is_noticed(engine, &data).await {
        missed.push(format!("an older copy of the store: {why}"));
    }
    tampered += 1;
    assert!(missed.is_empty(), "{} of {tampered} not noticed:\n{}", missed.len(), missed.join("\n"));
    scenario.close(format!("{tampered} changes by someone with the disk, all noticed"));
}
