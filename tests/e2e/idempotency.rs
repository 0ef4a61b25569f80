//! A body results in one activity and one execution, however often and whenever it is sent.

use quorate_tests::caller::submit_path;
use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::proof;
use quorate_tests::requests::{self, CREATE_WALLET, SIGN};
use serde_json::{Value, json};
use tokio::task::JoinSet;

const COPIES: usize = 64;

/// Sends 64 copies concurrently on separate connections, alternating between both listeners.
async fn send_copies(daemon: &Daemon, activity_type: &str, parameters: &Value) -> Vec<Value> {
    let root = daemon.root(0);
    let body = root.proposal(activity_type, parameters);
    let path = submit_path(activity_type);
    let mut tasks = JoinSet::new();
    for copy in 0..COPIES {
        let listener = if copy % 2 == 0 { daemon.http() } else { daemon.socket() };
        let caller = quorate_tests::caller::Caller::new(listener, root.organization(), root.key().clone());
        let (path, body) = (path.clone(), body.clone());
        tasks.spawn(async move { caller.send(&path, &body).await.activity() });
    }
    tasks.join_all().await
}

fn all_equal(answers: &[Value]) -> &Value {
    assert_eq!(answers.len(), COPIES);
    for answer in answers {
        assert_eq!(answer, &answers[0], "two answers to one body differ");
    }
    &answers[0]
}

#[tokio::test]
async fn concurrent_copies_create_one_wallet() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let answers = send_copies(&daemon, CREATE_WALLET, &requests::wallet("once")).await;
    let activity = all_equal(&answers);
    assert_eq!(activity["status"], "ACTIVITY_STATUS_COMPLETED");

    let root = daemon.root(0);
    let wallets = root.fetch("list_wallets", json!({})).await;
    assert_eq!(wallets["wallets"].as_array().map(Vec::len), Some(1), "{wallets:#}");
    let same = |other: &Value| other["fingerprint"] == activity["fingerprint"];
    assert_eq!(root.activities().await.into_iter().filter(same).count(), 1);
}

#[tokio::test]
async fn concurrent_copies_sign_once() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let address = requests::create_wallet(&daemon.root(0), "once").await;
    let answers = send_copies(&daemon, SIGN, &requests::sign(&address, "once")).await;
    let activity = all_equal(&answers);
    assert!(proof::is_signed(&address, b"once", &activity["result"]["signRawPayloadResult"]), "{activity:#}");
}

#[tokio::test]
async fn concurrent_copies_of_a_proposal_are_one_vote() {
    let daemon = Daemon::start(Options::quorum(2, 2)).await;
    let answers = send_copies(&daemon, CREATE_WALLET, &requests::wallet("once")).await;
    let activity = all_equal(&answers);
    assert_eq!(activity["status"], "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    assert_eq!(activity["votes"].as_array().map(Vec::len), Some(1), "one user, one vote: {activity:#}");
}

#[tokio::test]
async fn a_known_body_returns_the_same_answer_after_a_restart() {
    let mut daemon = Daemon::start(Options::quorum(1, 1)).await;
    let body = daemon.root(0).proposal(CREATE_WALLET, &requests::wallet("once"));
    let before = daemon.root(0).send(&submit_path(CREATE_WALLET), &body).await.activity();
    daemon.restart().await;
    let after = daemon.root(0).send(&submit_path(CREATE_WALLET), &body).await.activity();
    assert_eq!(before, after);
}
