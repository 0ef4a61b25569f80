//! An acknowledged deletion is final: no later request with the key succeeds, and none in flight is committed
//! afterwards.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use quorate_common::activity::Status;
use quorate_common::console::Change;
use quorate_tests::caller::Caller;
use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::feed::Feed;
use quorate_tests::keys::Key;
use quorate_tests::requests::{self, CREATE_API_KEYS, SIGN};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

const ROUNDS: usize = 12;
const SIGNERS: usize = 8;

/// Signs with the key until it is rejected, and returns the ids of the signing activities.
async fn sign_until_rejected(
    caller: Caller,
    address: String,
    deleted: Arc<AtomicBool>,
    signed: Arc<Semaphore>,
) -> Vec<String> {
    let mut ids = Vec::new();
    loop {
        let was_deleted = deleted.load(Ordering::SeqCst);
        let reply = caller.submit(SIGN, &requests::sign(&address, "signer")).await;
        if reply.status != 200 {
            reply.expect_error(401, 16, "PUBLIC_KEY_NOT_FOUND");
            return ids;
        }
        assert!(!was_deleted, "sent after the deletion was acknowledged, and signed: {reply}");
        ids.push(reply.activity_in("COMPLETED")["id"].as_str().expect("an id").to_owned());
        signed.add_permits(1);
    }
}

/// Returns the ids of all stored signing activities.
async fn stored(root: &Caller) -> HashSet<String> {
    let activities = root.activities().await;
    let signed = activities.into_iter().filter(|activity| activity["type"] == SIGN);
    signed.map(|activity| activity["id"].as_str().expect("an id").to_owned()).collect()
}

/// Reads the feed, which is in commit order, as fast as it arrives, and forwards the ids of completed
/// activities.
async fn completed(mut feed: Feed, ids: UnboundedSender<String>) {
    while let Some(event) = feed.next().await {
        if let Change::Activity { activity_id, status: Status::Completed, .. } = event.change
            && ids.send(activity_id.to_string()).is_err()
        {
            return;
        }
    }
}

/// Returns the ids that were completed before this one.
async fn completed_before(ids: &mut UnboundedReceiver<String>, last: &Value) -> HashSet<String> {
    let mut before = HashSet::new();
    loop {
        let id = ids.recv().await.expect("the feed continues");
        if *last == id {
            return before;
        }
        before.insert(id);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_acknowledged_deletion_is_final() {
    let daemon = Daemon::start(Options::quorum(1, 2)).await;
    let root = daemon.root(0);
    let address = requests::create_wallet(&root, "revocation").await;
    let feed = Feed::open(&daemon.socket(), None).await.expect("the feed opens");
    let (sender, mut ids) = unbounded_channel();
    tokio::spawn(completed(feed, sender));
    let mut before = HashSet::new();
    for round in 0..ROUNDS {
        let key = Key::named(&format!("revoked {round}"));
        let keys = requests::api_keys(daemon.root_id(1), &[requests::api_key("revoked", &key)]);
        let created = root.result(CREATE_API_KEYS, &keys).await;

        let (deleted, signed) = (Arc::new(AtomicBool::new(false)), Arc::new(Semaphore::new(0)));
        let mut signers = JoinSet::new();
        for _ in 0..SIGNERS {
            let caller = root.with_key(&key);
            signers.spawn(sign_until_rejected(
                caller,
                address.clone(),
                Arc::clone(&deleted),
                Arc::clone(&signed),
            ));
        }
        signed.acquire_many(20).await.expect("the semaphore stays open").forget();
        let deletion = json!({ "userId": daemon.root_id(1), "apiKeyIds": created["apiKeyIds"] });
        let deletion = root.completed("ACTIVITY_TYPE_DELETE_API_KEYS", &deletion).await;
        deleted.store(true, Ordering::SeqCst);
        let stored_at_deletion = stored(&root).await;
        let acknowledged: HashSet<String> = signers.join_all().await.into_iter().flatten().collect();

        assert_eq!(
            stored(&root).await,
            stored_at_deletion,
            "nothing was committed after the acknowledgement"
        );
        before.extend(completed_before(&mut ids, &deletion["id"]).await);
        assert!(acknowledged.is_subset(&before), "signed activities were committed before the deletion");
        assert!(
            stored_at_deletion.is_subset(&before),
            "stored activities were committed before the deletion"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deleted_users_cannot_authenticate() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    let key = Key::named("short-lived");
    let user = requests::create_user(&root, "short-lived", &key).await;
    let outsider = root.with_key(&key);
    outsider.fetch("whoami", json!({})).await;
    root.completed("ACTIVITY_TYPE_DELETE_USERS", &json!({ "userIds": [user] })).await;
    outsider.query("whoami", json!({})).await.expect_error(401, 16, "PUBLIC_KEY_NOT_FOUND");
}

#[tokio::test]
async fn a_deleted_key_stays_deleted_after_a_crash() {
    let mut daemon = Daemon::start(Options::quorum(1, 2)).await;
    let key = Key::named("deleted before the crash");
    let keys = requests::api_keys(daemon.root_id(1), &[requests::api_key("deleted", &key)]);
    let created = daemon.root(0).result(CREATE_API_KEYS, &keys).await;
    let deletion = json!({ "userId": daemon.root_id(1), "apiKeyIds": created["apiKeyIds"] });
    daemon.root(0).completed("ACTIVITY_TYPE_DELETE_API_KEYS", &deletion).await;
    daemon.kill();
    daemon.restart().await;
    daemon.root(0).with_key(&key).query("whoami", json!({})).await.expect_error(
        401,
        16,
        "PUBLIC_KEY_NOT_FOUND",
    );
}
