//! The console over a slow connection: each key is echoed while all answers are on their way, and no screen waits for a
//! second round trip.

use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::operator::Operator;
use quorate_tests::requests::{self, CREATE_WALLET};
use quorate_tests::slow_proxy::SlowProxy;
use serde_json::json;

use crate::policy_outcomes::text;
use crate::screen::Screen;

/// Each screen: its key, what it requests when it is opened, and what the answers show. Nothing is requested for what was
/// read with the connection.
const SCREENS: [(&str, &[&str], &str); 10] = [
    ("2", &[], "[Users 2]"),
    ("3", &["/history?"], "Activities: 4;"),
    ("4", &[], "payouts"),
    ("5", &[], "API key"),
    ("6", &["/messages?"], "No messages."),
    ("7", &["/health"], "requests "),
    ("8", &["/webhooks"], "https://hooks.example/ops"),
    ("9", &[], "No decisions yet"),
    ("0", &[], "Known keys 2"),
    ("1", &[], "Waiting for you: 1 "),
];

#[tokio::test]
async fn keys_are_echoed_and_no_screen_needs_two_round_trips() {
    let daemon = Daemon::start(Options::quorum(1, 2)).await;
    let root = daemon.root(0);
    let policy = json!({"policyName": "payouts", "effect": "EFFECT_ALLOW", "consensus": "true",
        "condition": "false", "notes": ""});
    root.completed("ACTIVITY_TYPE_CREATE_POLICY_V3", &policy).await;
    let hook = json!({"name": "ops", "url": "https://hooks.example/ops",
        "subscriptions": [{"eventType": "ACTIVITY_UPDATES"}]});
    root.completed("ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT", &hook).await;
    let quorum = json!({ "threshold": 2, "userIds": [daemon.root_id(0), daemon.root_id(1)] });
    root.completed(requests::UPDATE_ROOT_QUORUM, &quorum).await;
    let waiting = root.waiting(CREATE_WALLET, &requests::wallet("late")).await;
    let folder = tempfile::tempdir().expect("a folder");
    let proxy = SlowProxy::start(folder.path(), daemon.socket());
    proxy.close();

    // The connection takes one round trip, and what waits another one.
    let mut screen = Screen::open(Operator::root(&daemon, 1).through(proxy.socket()));
    screen.shows("starting").await;
    proxy.until_requested(&["/status", "/events"]).await;
    proxy.pass();
    proxy.until_requested(&["/inbox?", "/organizations?", "/checkpoint?", "/health"]).await;
    proxy.pass();
    screen.shows("Waiting for you: 1 ").await;
    proxy.open();

    // While no answer arrives, keys are echoed: in a filter, in the palette and in a form.
    proxy.close();
    screen.press("r");
    proxy.until_requested(&["/inbox?"]).await;
    screen.press("/nothing has this");
    screen.shows("/nothing has this_").await;
    screen.press("\u{1b}");
    screen.shows("filter cleared").await;
    screen.press(":health");
    screen.shows(": health_").await;
    screen.press("\u{1b}");
    screen.until("the list", |shown| !shown.contains(": health_")).await;
    screen.press("p");
    screen.shows("Propose").await;
    screen.press("wal");
    screen.shows("Propose: wal_").await;
    screen.press("\u{7f}\u{7f}\u{7f}");
    screen.shows("Propose: _").await;
    screen.press("\u{1b}");
    screen.shows("Waiting for you: 1 ").await;

    for (key, requested, shown) in SCREENS {
        proxy.open();
        proxy.close();
        screen.press(key);
        screen.shows(&format!("[{key} ")).await;
        proxy.until_requested(requested).await;
        proxy.pass();
        screen.shows(shown).await;
    }
    // A review as well.
    proxy.open();
    proxy.close();
    screen.press("\r");
    proxy.until_requested(&[text(&waiting["id"])]).await;
    proxy.pass();
    screen.shows("1 What happens").await;
    screen.press("x");
    screen.shows("Enter works on a button only").await;
    screen.press("\tnot me");
    screen.shows("not me_").await;
    proxy.open();
}
