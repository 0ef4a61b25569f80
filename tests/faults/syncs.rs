//! `f5`: a sync fails once, or takes long. Nothing is shown that is not durable.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use quorate_tests::caller::{Caller, submit_path};
use quorate_tests::daemon::{Daemon, POLL_INTERVAL};
use quorate_tests::feed::Feed;
use quorate_tests::http::TIMEOUT;
use quorate_tests::receiver::Receiver;
use quorate_tests::requests;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::calls::{daemon_under, is_clean, retry_until_accepted, send};
use crate::layer::{Calls, Fault, Layer};
use crate::operations::{KINDS, Stage};
use crate::scenario::Scenario;

/// Duration of a slow sync.
const SLOW: Duration = Duration::from_secs(4);
/// Time for which answers are awaited during a slow sync.
const OBSERVATION: Duration = Duration::from_millis(700);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f5_a_sync_fails_once() {
    let mut scenario = Scenario::begin("f5 failed syncs", KINDS.len(), 200);
    if !scenario.engine().has_files() {
        return;
    }
    let layer = Layer::new();
    let folder = tempfile::tempdir().expect("a folder");
    // Only syncs of the store: the guard file is synced in the background.
    let data = folder.path().join("data");
    let options = scenario.engine().options(1, 1).with_variables(layer.variables(&data.join("store")));
    let mut daemon = Daemon::start_on(options, &data).await;
    let mut stage = Stage::prepare(&daemon).await;
    let (mut failed, mut rejected) = (0, 0);
    for round in 0..scenario.rounds() {
        let kind = KINDS[round % KINDS.len()];
        let rejected_before = rejected;
        for call in 1.. {
            scenario.step(format!("round {round}, sync {call} of {kind} fails"));
            let before = stage.operation(&daemon.root(0), KINDS[0]).await;
            let kept = send(&daemon, &before).await.activity_in("COMPLETED");
            let operation = stage.operation(&daemon.root(0), kind).await;
            // Data written since the last sync is lost, as on systems that drop pages which they could not
            // write.
            layer.lose_on_failed_sync(true);
            layer.fail(Calls::Syncs, call, Fault::Broken, false);
            let reply = send(&daemon, &operation).await;
            let reached = layer.failures() > 0;
            assert!(is_clean(&reply), "neither a success nor a clean error{reply}");
            assert!(call > 1 || reached, "the activity syncs nothing");
            failed += usize::from(reached);
            rejected += usize::from(reply.status != 200);
            // It may still be acknowledged, because the store also syncs for its own purposes.
            let acknowledged = (reply.status == 200).then(|| reply.activity_in("COMPLETED"));
            // The same bytes at once: the answer may be an error, or must rest on durable data.
            let again = send(&daemon, &operation).await;
            let shown = (again.status == 200).then(|| again.activity_in("COMPLETED"));
            let recovered = retry_until_accepted(&daemon, &operation).await;
            layer.heal();
            layer.lose_on_failed_sync(false);
            daemon.restart().await;
            let after = send(&daemon, &operation).await.activity_in("COMPLETED");
            for shown in acknowledged.iter().chain(&shown).chain([&recovered]) {
                let members = |activity: &Value| (activity["id"].clone(), activity["result"].clone());
                assert_eq!(members(shown), members(&after), "shown, then lost");
            }
            assert_eq!(send(&daemon, &before).await.activity_in("COMPLETED")["result"], kept["result"]);
            if !reached {
                break;
            }
        }
        assert!(rejected > rejected_before, "no sync of {kind} matters");
    }
    scenario.close(format!("{failed} failed syncs, {rejected} answered with an error, 0 lost"));
}

/// Number of accounts of a wallet whose deletion makes the store truncate its log.
const ACCOUNTS: u32 = 100;
/// Requests that are sent after the failure.
const AFTERWARDS: usize = 5;

/// Creates wallets with many accounts and deletes them, until a background sync took the error of a commit
/// group.
async fn create_and_delete(root: Caller, layer: Arc<Layer>, name: String) {
    for number in 0.. {
        if layer.failed_in_background() {
            return;
        }
        let accounts: Vec<Value> = (0..ACCOUNTS).map(requests::account).collect();
        let wallet = json!({ "walletName": format!("{name} {number}"), "accounts": accounts });
        let created = root.submit(requests::CREATE_WALLET, &wallet).await;
        if created.status == 200 {
            let unneeded =
                json!({ "walletIds": [created.result()["walletId"]], "deleteWithoutExport": true });
            root.submit("ACTIVITY_TYPE_DELETE_WALLETS", &unneeded).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f5_a_sync_in_the_background_takes_the_error() {
    let mut scenario = Scenario::begin("f5 errors reported to background syncs", 1, 20);
    if !scenario.engine().syncs_in_background() {
        eprintln!("SKIPPED: {} does not sync in the background", scenario.engine().name());
        return;
    }
    let (mut acknowledged, mut rejected) = (0, 0);
    for round in 0..scenario.rounds() {
        scenario.step(format!("round {round}"));
        let layer = Arc::new(Layer::new());
        let folder = tempfile::tempdir().expect("a folder");
        let data = folder.path().join("data");
        let options = scenario.engine().options(1, 1).with_variables(layer.variables(&data.join("store")));
        let mut daemon = Daemon::start_on(options, &data).await;
        let mut stage = Stage::prepare(&daemon).await;
        layer.lose_on_failed_sync(true);
        layer.fail_in_background();
        let mut busy = JoinSet::new();
        for writer in 0..3 {
            busy.spawn(create_and_delete(daemon.root(0), Arc::clone(&layer), format!("wallet {writer}")));
        }
        let (mut kept, mut afterwards) = (Vec::new(), 0);
        let deadline = Instant::now() + 2 * TIMEOUT;
        while afterwards < AFTERWARDS {
            assert!(Instant::now() < deadline, "the store does not truncate its log");
            afterwards += usize::from(layer.failed_in_background());
            let operation = stage.operation(&daemon.root(0), KINDS[0]).await;
            let reply = send(&daemon, &operation).await;
            assert!(is_clean(&reply), "neither a success nor a clean error{reply}");
            if reply.status == 200 {
                kept.push((operation, reply.activity_in("COMPLETED")));
            } else {
                rejected += 1;
                retry_until_accepted(&daemon, &operation).await;
            }
        }
        busy.join_all().await;
        daemon.restart().await;
        for (operation, answer) in &kept {
            let after = send(&daemon, operation).await.activity_in("COMPLETED");
            assert_eq!(
                (&answer["id"], &answer["result"]),
                (&after["id"], &after["result"]),
                "acknowledged, then lost"
            );
        }
        acknowledged += kept.len();
    }
    let rounds = scenario.rounds();
    scenario
        .close(format!("{rounds} rounds, {acknowledged} requests acknowledged, {rejected} rejected, 0 lost"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f5_a_slow_sync_shows_nothing() {
    let mut scenario = Scenario::begin("f5 slow syncs", 1, 10);
    if !scenario.engine().has_files() {
        return;
    }
    for round in 0..scenario.rounds() {
        scenario.step(format!("slow sync {round}"));
        let layer = Layer::new();
        let folder = tempfile::tempdir().expect("a folder");
        let mut daemon = daemon_under(&scenario, &layer, folder.path()).await;
        let receiver = Receiver::start().await;
        let root = daemon.root(0);
        let hook = json!({ "name": "FEATURE_NAME_WEBHOOK", "value": receiver.url("/") });
        root.result("ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE", &hook).await;
        let mut stage = Stage::prepare(&daemon).await;
        receiver.until("the stage", |deliveries| deliveries.len() >= 2).await;
        let operation = stage.operation(&root, [KINDS[1], KINDS[3]][round % 2]).await;
        let body = operation.body.clone();
        let is_it = move |activity: &Value| activity.to_string().contains("operation ");
        let shown: [Arc<AtomicBool>; 4] = std::array::from_fn(|_| Arc::default());
        let path = submit_path(operation.activity_type);
        layer.delay_syncs(SLOW);
        let mut tasks = JoinSet::new();
        let (submitter, path_of_first, first) = (root.clone(), path.clone(), body.clone());
        let answered = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&answered);
        tasks.spawn(async move {
            if submitter.try_send(&path_of_first, &first).await.is_ok() {
                flag.store(true, Ordering::SeqCst);
            }
        });
        let deadline = Instant::now() + TIMEOUT;
        while layer.syncing() == 0 {
            assert!(Instant::now() < deadline, "no sync begins");
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        let (caller, flag) = (root.clone(), Arc::clone(&shown[0]));
        tasks.spawn(async move {
            if caller.try_send(&path, &body).await.is_ok_and(|reply| reply.status == 200) {
                flag.store(true, Ordering::SeqCst);
            }
        });
        let (caller, flag) = (root.clone(), Arc::clone(&shown[1]));
        tasks.spawn(async move {
            let query = json!({ "organizationId": caller.organization() }).to_string();
            let reply = caller.try_send("/public/v1/query/list_activities", query.as_bytes()).await;
            if reply.is_ok_and(|reply| reply.status == 200 && is_it(&reply.json())) {
                flag.store(true, Ordering::SeqCst);
            }
        });
        let (listener, flag) = (daemon.socket(), Arc::clone(&shown[2]));
        tasks.spawn(async move {
            let Ok(mut feed) = Feed::open(&listener, None).await else { return };
            while let Some(event) = feed.next().await {
                if !matches!(event.change, quorate_common::console::Change::Reset) {
                    flag.store(true, Ordering::SeqCst);
                }
            }
        });
        // Nothing can become durable before the sync ends, so anything shown until then is shown too early.
        tokio::time::sleep(OBSERVATION).await;
        let delivered = receiver.deliveries().iter().any(|delivery| is_it(&delivery.body));
        shown[3].store(delivered, Ordering::SeqCst);
        assert!(layer.syncing() > 0, "the sync ended too early for this test");
        assert!(!answered.load(Ordering::SeqCst), "acknowledged before the sync ended");
        daemon.kill();
        tasks.abort_all();
        while tasks.join_next().await.is_some() {}
        let names = ["replay", "query", "feed", "webhook"];
        let early: Vec<&str> = names
            .into_iter()
            .zip(&shown)
            .filter(|(_, shown)| shown.load(Ordering::SeqCst))
            .map(|(name, _)| name)
            .collect();
        assert!(early.is_empty(), "shown before it was durable, by: {early:?}");
        layer.delay_syncs(Duration::ZERO);
        daemon.restart().await;
        send(&daemon, &operation).await.activity_in("COMPLETED");
    }
    let syncs = scenario.rounds();
    scenario.close(format!(
        "{syncs} syncs of {SLOW:?}, no answer before their end; replay, query, feed and webhook checked"
    ));
}
