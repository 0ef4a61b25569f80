//! The real console in a pseudo-terminal: waiting requests are shown, verified, and approved by fingerprint
//! or rejected. A tampering daemon is detected, and nothing happens by accident.

use std::time::Duration;

use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::operator::Operator;
use quorate_tests::proof;
use quorate_tests::requests::{self, CREATE_WALLET, SIGN};
use quorate_tests::tampering_proxy::{TamperingProxy, harmless_payloads};
use serde_json::Value;

use crate::screen::Screen;

/// Delay between keys of a person. The console takes faster keys for a paste or a held key.
const PACE: Duration = Duration::from_millis(120);

/// Starts a daemon with a quorum of two out of three, and returns an address to sign with.
async fn daemon() -> (Daemon, String) {
    let daemon = Daemon::start(Options::quorum(2, 3)).await;
    let wallet = daemon.root(0).waiting(CREATE_WALLET, &requests::wallet("console")).await;
    let wallet = daemon.root(1).approved(&wallet["fingerprint"]).await;
    let address =
        wallet["result"]["createWalletResult"]["addresses"][0].as_str().expect("an address").to_owned();
    (daemon, address)
}

async fn propose(daemon: &Daemon, address: &str, text: &str) -> Value {
    daemon.root(0).waiting(SIGN, &requests::sign(address, text)).await
}

pub(crate) fn digits(activity: &Value) -> String {
    activity["fingerprint"].as_str().expect("a fingerprint").trim_start_matches("sha256:").to_owned()
}

/// Returns whether the screen shows the fingerprint, in groups of four digits.
pub(crate) fn shows_fingerprint(text: &str, digits: &str) -> bool {
    let shown: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    shown.contains(digits)
}

pub(crate) async fn type_like_a_person(screen: &mut Screen, keys: &str) {
    for key in keys.chars() {
        tokio::time::sleep(PACE).await;
        screen.press(&key.to_string());
    }
}

/// Opens the review of the request with this text from the inbox.
pub(crate) async fn review(screen: &mut Screen, text: &str) {
    screen.shows(text).await;
    screen.press("\r");
    screen.shows("1 What happens").await;
}

async fn vote_count(daemon: &Daemon, activity: &Value) -> usize {
    daemon.root(0).activity(&activity["id"]).await["votes"].as_array().map_or(0, Vec::len)
}

#[tokio::test]
async fn a_request_is_approved_by_fingerprint() {
    let (daemon, address) = daemon().await;
    let bob = Operator::root(&daemon, 1);
    let mut screen = Screen::open(bob);
    screen.shows("Nothing waits").await;
    // Created through the API while the console is open, it appears without a key press.
    let pending = propose(&daemon, &address, "approve me").await;
    let digits = digits(&pending);
    review(&mut screen, "approve me").await;
    screen.press("G");
    screen.until("the fingerprint", |text| shows_fingerprint(text, &digits)).await;

    screen.press("a");
    screen.shows("Enter works once the answer is typed").await;
    type_like_a_person(&mut screen, &digits[60..]).await;
    type_like_a_person(&mut screen, "\r").await;
    screen.shows("Vote recorded").await;

    let stored = daemon.root(0).activity(&pending["id"]).await;
    assert_eq!(stored["status"], "ACTIVITY_STATUS_COMPLETED");
    assert!(
        proof::is_signed(&address, b"approve me", &stored["result"]["signRawPayloadResult"]),
        "{stored:#}"
    );
    let vote = &stored["votes"][1];
    assert_eq!(vote["userId"], daemon.root_id(1));
    let message: Value = serde_json::from_str(vote["message"].as_str().expect("a message")).expect("JSON");
    assert_eq!(message["parameters"]["fingerprint"], pending["fingerprint"]);
}

#[tokio::test]
async fn a_request_is_rejected() {
    let (daemon, address) = daemon().await;
    let pending = propose(&daemon, &address, "reject me").await;
    let mut screen = Screen::open(Operator::root(&daemon, 1));
    review(&mut screen, "reject me").await;
    screen.press("x");
    screen.shows("Enter works on a button only").await;
    type_like_a_person(&mut screen, "y\t\t").await;
    screen.shows("> [Continue]").await;
    type_like_a_person(&mut screen, "\r").await;
    screen.shows("Vote recorded").await;
    let stored = daemon.root(0).activity(&pending["id"]).await;
    assert_eq!(stored["status"], "ACTIVITY_STATUS_REJECTED");
    assert_eq!(stored["votes"][1]["selection"], "VOTE_SELECTION_REJECTED");
}

#[tokio::test]
async fn a_changed_intent_blocks_approval() {
    let (daemon, address) = daemon().await;
    let pending = propose(&daemon, &address, "what was signed").await;
    let tampering_proxy = TamperingProxy::start(daemon.folder(), daemon.socket(), harmless_payloads);
    let mut screen = Screen::open(Operator::root(&daemon, 1).through(tampering_proxy.socket()));
    review(&mut screen, "what was signed").await;
    screen.press("G");
    // The legend shows the mark on every review.
    let fails = |text: &str| text.lines().any(|line| line.contains("[x]") && !line.contains("marks:"));
    screen.until("a failed check", fails).await;
    screen.press("a");
    let blocked = screen.shows("cannot approve").await;
    assert!(!blocked.contains("step 2 of 4"), "no challenge is offered:\n{blocked}");
    screen.press("d");
    screen.shows("Raw bytes").await;
    // Texts may wrap at the end of a row.
    let joined = |text: &str| text.replace(['\u{2502}', ' ', '\n'], "");
    let raw = screen.until("both sides", |text| joined(text).contains("somethingharmless")).await;
    assert!(
        joined(&raw).contains("whatwassigned"),
        "the signed bytes are shown next to the changed answer:\n{raw}"
    );
    assert_eq!(vote_count(&daemon, &pending).await, 1, "nothing was sent");
}

#[tokio::test]
async fn pasted_and_held_keys_never_vote() {
    let (daemon, address) = daemon().await;
    let pending = propose(&daemon, &address, "by accident").await;
    let mut screen = Screen::open(Operator::root(&daemon, 1));
    screen.shows("by accident").await;
    for key in ["\r", "a", "y"] {
        hold(&mut screen, key).await;
    }
    review(&mut screen, "by accident").await;
    screen.press("\u{1b}[200~a\ry\rx\ry\t\t\r\u{1b}[201~");
    screen.press(&"a\ry\t\t\rx\ry\t\t\r".repeat(100));
    hold(&mut screen, "\r").await;
    assert_eq!(vote_count(&daemon, &pending).await, 1, "nothing was sent");
}

/// Holds a key for longer than all delays of a decision together.
async fn hold(screen: &mut Screen, key: &str) {
    const REPEATS: u32 = 150;
    const REPEAT: Duration = Duration::from_millis(33);
    for _ in 0..REPEATS {
        screen.press(key);
        tokio::time::sleep(REPEAT).await;
    }
}

#[tokio::test]
async fn a_vote_is_cancelled_before_it_is_sent() {
    let (daemon, address) = daemon().await;
    let pending = propose(&daemon, &address, "cancel me").await;
    let digits = digits(&pending);
    let mut screen = Screen::open(Operator::root(&daemon, 1));
    review(&mut screen, "cancel me").await;
    screen.press("a");
    screen.shows("Enter works once the answer is typed").await;
    type_like_a_person(&mut screen, &digits[60..]).await;
    type_like_a_person(&mut screen, "\r").await;
    screen.shows("Esc cancels").await;
    screen.press("\u{1b}");
    screen.shows("nothing was sent").await;
    assert_eq!(vote_count(&daemon, &pending).await, 1);
}

#[tokio::test]
async fn the_console_reconnects_after_a_restart() {
    let (mut daemon, address) = daemon().await;
    let mut screen = Screen::open(Operator::root(&daemon, 1));
    screen.shows("Nothing waits").await;
    daemon.kill();
    screen.shows("DISCONNECTED").await;
    daemon.restart().await;
    propose(&daemon, &address, "after the restart").await;
    screen.shows("after the restart").await;
}
