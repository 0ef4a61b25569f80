//! Keys outside of this program approve activities that the daemon accepts, and sources that lie or fail never get a
//! vote sent.

use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::operator::Operator;
use quorate_tests::requests::{self, CREATE_API_KEYS, CREATE_WALLET};
use serde_json::{Value, json};

use crate::console::{digits, review, shows_fingerprint, type_like_a_person};
use crate::screen::Screen;

mod hostile_agents;
mod key_files;
mod memory;
mod security_key;
mod sizes;
mod soft_security_key;
mod ssh_agent;
mod token;

/// Starts a daemon with a quorum of two out of three.
async fn daemon() -> Daemon {
    Daemon::start(Options::quorum(2, 3)).await
}

/// Proposes a wallet with this name.
async fn propose(daemon: &Daemon, name: &str) -> Value {
    daemon.root(0).waiting(CREATE_WALLET, &requests::wallet(name)).await
}

/// Registers a listed key for the second root user.
async fn register(daemon: &Daemon, listed: &Value) {
    let curve = listed["curve"].as_str().expect("a curve").to_uppercase();
    let name = listed["name"].as_str().expect("a selector").chars().filter(char::is_ascii_alphanumeric);
    let key = json!({"apiKeyName": name.take(32).collect::<String>(), "publicKey": listed["publicKey"],
        "curveType": format!("API_KEY_CURVE_{curve}")});
    let keys = requests::api_keys(daemon.root_id(1), &[key]);
    daemon.root(1).completed(CREATE_API_KEYS, &keys).await;
}

/// Returns the row of `quorate key ls` with this comment, or of a key on this token.
async fn listed(operator: &Operator, name: &str) -> Value {
    let rows = operator.run_raw(&["--json", "key", "ls"], "").await.with(0).lines();
    let token = format!("pkcs11:{name}/");
    let is_wanted = |row: &&Value| {
        row["comment"] == name || row["name"].as_str().is_some_and(|selector| selector.starts_with(&token))
    };
    rows.iter().find(is_wanted).unwrap_or_else(|| panic!("no key {name} in {rows:#?}")).clone()
}

/// Approves a waiting activity by command, with this standard input.
async fn approve(operator: &Operator, activity: &Value, input: &str) -> quorate_tests::operator::Ended {
    let fingerprint = activity["fingerprint"].as_str().expect("a fingerprint");
    let mut words = operator.identity();
    words.extend(["--json", "approve", fingerprint, "--expect-sha256", fingerprint].map(str::to_owned));
    operator.run_raw(&words, input).await
}

/// Asserts that an activity was executed with a vote under this key.
async fn assert_executed(daemon: &Daemon, activity: &Value, public_key: &Value) {
    let stored = daemon.root(0).activity(&activity["id"]).await;
    assert_eq!(stored["status"], "ACTIVITY_STATUS_COMPLETED", "{stored:#}");
    assert_eq!(&stored["votes"][1]["publicKey"], public_key, "{stored:#}");
}

/// Asserts that an activity has no vote but that of its proposer.
async fn assert_unvoted(daemon: &Daemon, activity: &Value) {
    let stored = daemon.root(0).activity(&activity["id"]).await;
    assert_eq!(stored["votes"].as_array().map(Vec::len), Some(1), "{stored:#}");
}

/// Opens the review of a proposal in the console and answers its challenge, up to the key.
async fn answer_challenge(screen: &mut Screen, activity: &Value, text: &str) {
    let digits = digits(activity);
    review(screen, text).await;
    screen.press("G");
    screen.until("the fingerprint", |text| shows_fingerprint(text, &digits)).await;
    screen.press("a");
    let shown = screen.until("the challenge", |text| text.contains("Enter works")).await;
    if shown.contains("LAST FOUR") {
        type_like_a_person(screen, &digits[60..]).await;
    } else {
        type_like_a_person(screen, "y\t").await;
    }
    type_like_a_person(screen, "\r").await;
}

/// Closes the receipt of a decision, and the review.
async fn leave_review(screen: &mut Screen) {
    type_like_a_person(screen, "\u{1b}").await;
    screen.until("the closed receipt", |text| !text.contains("Esc closes")).await;
    type_like_a_person(screen, "\u{1b}").await;
    screen.shows("Nothing waits").await;
}
