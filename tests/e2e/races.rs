//! Concurrent requests on one organization: each request is decided on the state that it then changes.

use quorate_tests::caller::Caller;
use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::http::Reply;
use quorate_tests::installation::Installation;
use quorate_tests::keys::Key;
use quorate_tests::requests::{self, CREATE_USERS, CREATE_WALLET, UPDATE_ROOT_QUORUM};
use serde_json::{Value, json};
use tokio::task::JoinSet;

const CREATE_ACCOUNTS: &str = "ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS";
const MANY: u32 = 24;

/// Submits all requests concurrently, each on a separate connection.
async fn submit_concurrently(
    caller: &Caller,
    activity_type: &'static str,
    all: impl IntoIterator<Item = Value>,
) -> Vec<Reply> {
    let mut tasks = JoinSet::new();
    for parameters in all {
        let caller = caller.clone();
        tasks.spawn(async move { caller.submit(activity_type, &parameters).await });
    }
    tasks.join_all().await
}

fn completed(replies: &[Reply]) -> usize {
    replies.iter().filter(|reply| reply.status == 200).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_requests_all_succeed() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    let wallets = (0..MANY).map(|number| requests::wallet(&format!("race {number}")));
    for reply in submit_concurrently(&root, CREATE_WALLET, wallets).await {
        reply.activity_in("COMPLETED");
    }
    let wallets = root.fetch("list_wallets", json!({})).await;
    assert_eq!(wallets["wallets"].as_array().map(Vec::len), Some(MANY as usize));
}

/// A large request takes longer to decide than a small one. It must not lose against every small one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_requests_succeed_beside_small_ones() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    let created = root.result(CREATE_WALLET, &requests::wallet("race")).await;
    let mut small = JoinSet::new();
    for writer in 0..4 {
        let (root, wallet) = (root.clone(), created["walletId"].clone());
        small.spawn(async move {
            for number in 0.. {
                let mut account = requests::account(number);
                account["path"] = json!(format!("m/44'/60'/{writer}'/1/{number}"));
                root.result(CREATE_ACCOUNTS, &json!({ "walletId": wallet, "accounts": [account] })).await;
            }
        });
    }
    for number in 0..3 {
        let payloads = [number.to_string().repeat(400_000), "a".repeat(400_000)];
        let large = json!({
            "signWith": created["addresses"][0],
            "payloads": payloads,
            "encoding": "PAYLOAD_ENCODING_TEXT_UTF8",
            "hashFunction": "HASH_FUNCTION_SHA256",
        });
        root.submit("ACTIVITY_TYPE_SIGN_RAW_PAYLOADS", &large).await.activity_in("COMPLETED");
    }
    assert!(small.try_join_next().is_none(), "a small request was rejected");
    small.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_activities_are_readable_while_votes_race() {
    const VOTERS: u32 = 6;
    let daemon = Daemon::start(Options::quorum(VOTERS, VOTERS)).await;
    let root = daemon.root(0);
    let mut waiting = Vec::new();
    for number in 0..12 {
        waiting.push(root.waiting(CREATE_WALLET, &requests::wallet(&format!("race {number}"))).await);
    }
    let mut votes = JoinSet::new();
    for user in 1..VOTERS as usize {
        let (caller, waiting) = (daemon.root(user), waiting.clone());
        votes.spawn(async move {
            for activity in waiting {
                caller.approve(&activity["fingerprint"]).await.success();
            }
        });
    }
    let votes = tokio::spawn(votes.join_all());
    let filter = json!({ "filterByStatus": ["ACTIVITY_STATUS_CONSENSUS_NEEDED"] });
    let mut answers = 0;
    while !votes.is_finished() {
        root.fetch("list_activities", filter.clone()).await;
        root.activity(&waiting[answers % waiting.len()]["id"]).await;
        answers += 1;
    }
    votes.await.expect("every vote counts");
    for activity in waiting {
        assert_eq!(root.activity(&activity["id"]).await["status"], "ACTIVITY_STATUS_COMPLETED");
    }
    assert!(!daemon.log().contains("changed outside"), "a concurrent change is not reported as tampering");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_requests_create_one_account_per_path() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    let wallet = root.result(CREATE_WALLET, &requests::wallet("race")).await["walletId"].clone();
    let same = (0..MANY).map(|_| json!({ "walletId": wallet, "accounts": [requests::account(1)] }));
    let replies = submit_concurrently(&root, CREATE_ACCOUNTS, same).await;
    assert_eq!(completed(&replies), 1);
    for reply in replies.iter().filter(|reply| reply.status != 200) {
        reply.expect_error(409, 6, "");
    }
    let accounts = root.fetch("list_wallet_accounts", json!({ "walletId": wallet })).await;
    assert_eq!(accounts["accounts"].as_array().map(Vec::len), Some(2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_requests_create_one_user_per_key() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    let key = Key::named("contested");
    let same = (0..MANY).map(|number| requests::user(&format!("race {number}"), &key));
    assert_eq!(completed(&submit_concurrently(&root, CREATE_USERS, same).await), 1);
    let users = root.fetch("list_users", json!({})).await;
    assert_eq!(users["users"].as_array().map(Vec::len), Some(2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_changes_keep_the_quorum_satisfiable() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    for round in 0..8 {
        let key = Key::named(&format!("contested {round}"));
        let user = requests::create_user(&root, "contested", &key).await;
        let joined = json!({ "threshold": 1, "userIds": [daemon.root_id(0), user] });
        let deleted = json!({ "userIds": [user] });
        let other = root.clone();
        let (joined, deleted) = tokio::join!(
            root.submit(UPDATE_ROOT_QUORUM, &joined),
            other.submit("ACTIVITY_TYPE_DELETE_USERS", &deleted),
        );
        assert_ne!(joined.status == 200, deleted.status == 200, "one of them wins: {joined}{deleted}");
        let configs = root.fetch("get_organization_configs", json!({})).await;
        let members = configs["configs"]["quorum"]["userIds"].as_array().expect("members").clone();
        let users = root.fetch("list_users", json!({})).await;
        let users: Vec<&Value> =
            users["users"].as_array().expect("users").iter().map(|user| &user["userId"]).collect();
        assert!(members.iter().all(|member| users.contains(&member)), "members exist: {configs:#}");
        let alone = json!({ "threshold": 1, "userIds": [daemon.root_id(0)] });
        root.completed(UPDATE_ROOT_QUORUM, &alone).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_proposals_respect_the_limit_of_waiting_activities() {
    let installation = Installation::new("file = \"root.key\"");
    let path = installation.path("quorated.toml");
    let configuration = std::fs::read_to_string(path).expect("the configuration can be read");
    installation.configure(&format!("{configuration}\n[limits]\nwaiting_activities = 20\n"));
    let key = Key::named("first");
    let organization = installation.create_organization("race", &key).await;
    let served = installation.serve().await;
    let root = served.caller(&organization, key);
    let first = root.fetch("whoami", json!({})).await["userId"].clone();
    let second = requests::create_user(&root, "second", &Key::named("second")).await;
    let both = json!({ "threshold": 2, "userIds": [first, second] });
    root.completed(UPDATE_ROOT_QUORUM, &both).await;
    let wallets = (0..30).map(|number| requests::wallet(&format!("race {number}")));
    let replies = submit_concurrently(&root, CREATE_WALLET, wallets).await;
    let (waiting, refused): (Vec<_>, Vec<_>) = replies.into_iter().partition(|reply| reply.status == 200);
    for reply in &waiting {
        reply.activity_in("CONSENSUS_NEEDED");
    }
    assert_eq!(waiting.len(), 20, "exactly as many wait as the limit permits");
    for reply in refused {
        assert!(reply.expect_error(429, 8, "").contains("`waiting_activities`"), "{reply}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_votes_count_once_each() {
    let daemon = Daemon::start(Options::quorum(5, 9)).await;
    let pending = daemon.root(0).waiting(CREATE_WALLET, &requests::wallet("raced")).await;
    let mut tasks = JoinSet::new();
    for voter in 1..9 {
        let (caller, fingerprint) = (daemon.root(voter), pending["fingerprint"].clone());
        tasks.spawn(async move { caller.approve(&fingerprint).await.activity() });
    }
    let answers = tasks.join_all().await;
    let done = |answer: &&Value| answer["status"] == "ACTIVITY_STATUS_COMPLETED";
    assert_eq!(answers.iter().filter(done).count(), 5, "from the fifth vote on");
    let stored = daemon.root(0).activity(&pending["id"]).await;
    assert_eq!(stored["votes"].as_array().map(Vec::len), Some(5), "no vote after the last that was needed");
    let wallets = daemon.root(0).fetch("list_wallets", json!({})).await;
    assert_eq!(wallets["wallets"].as_array().map(Vec::len), Some(1));
}
