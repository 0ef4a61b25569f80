//! The list of all activities in the real console: the daemon filters and orders it, and its end is one key away.

use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::operator::Operator;
use quorate_tests::requests::{self, UPDATE_ROOT_QUORUM};
use serde_json::json;

use crate::policy_outcomes::text;
use crate::screen::Screen;

/// Number of activities that ended before the others began, more than fit on some pages.
const ENDED: usize = 450;

#[tokio::test]
async fn any_activity_is_found_among_many() {
    let daemon = Daemon::start(Options::quorum(1, 2)).await;
    let root = daemon.root(0);
    let oldest = root
        .completed("ACTIVITY_TYPE_CREATE_USER_TAG", &json!({ "userTagName": "oldest", "userIds": [] }))
        .await;
    requests::create_wallet(&root, "needle").await;
    requests::sign_payloads(&root, ENDED).await;
    let members: Vec<&str> = (0..2).map(|index| daemon.root_id(index)).collect();
    root.completed(UPDATE_ROOT_QUORUM, &json!({ "threshold": 2, "userIds": members })).await;
    let waiting =
        root.waiting("ACTIVITY_TYPE_CREATE_USER_TAG", &json!({ "userTagName": "last", "userIds": [] })).await;
    let approved = daemon.root(1).approved(&waiting["fingerprint"]).await;
    let rejected =
        root.waiting("ACTIVITY_TYPE_CREATE_USER_TAG", &json!({ "userTagName": "no", "userIds": [] })).await;
    daemon.root(1).reject(&rejected["fingerprint"]).await.activity();

    // By command: nothing is left out without a note, and votes are not among the activities.
    let operator = Operator::root(&daemon, 1);
    let few = operator.run(&["activity", "ls", "--limit", "3"]).await.with(0);
    assert!(few.stderr.contains("only 3 activities are listed"), "{few:#?}");
    let rows = few.lines();
    assert_eq!(
        rows.iter().map(|row| &row["activity"]["id"]).take(2).collect::<Vec<_>>(),
        [&rejected["id"], &approved["id"]]
    );
    let all = operator.run(&["activity", "ls", "--limit", "10000"]).await.with(0);
    assert!(!all.stderr.contains("are listed"), "{}", all.stderr);
    let rows = all.lines();
    assert!(rows.iter().all(|row| !text(&row["activity"]["type"]).contains("APPROVE")));
    assert!(rows.len() > ENDED && rows.iter().any(|row| row["activity"]["id"] == oldest["id"]));
    let found = operator
        .run(&["activity", "ls", "--text", "needle", "--type", "create-wallet"])
        .await
        .with(0)
        .lines();
    assert_eq!(found.len(), 1, "{found:#?}");

    let mut screen = Screen::open(operator);
    screen.shows("Nothing waits").await;
    screen.press("3");
    let shown = screen.shows("Sign raw payload").await;
    let head = shown.lines().find(|line| line.contains("TIME")).unwrap_or_default();
    assert!(
        ["STATUS", "TYPE", "WHAT", "PROPOSER", "VOTES"].iter().all(|name| head.contains(name)),
        "{shown}"
    );
    assert!(shown.contains("\"last\"") && shown.contains("1, 1 rejected"), "{shown}");
    // The end is there at once, and so is the beginning.
    screen.press("G");
    let shown = screen.until("the oldest", |shown| shown.contains("\"oldest\"")).await;
    assert!(!shown.contains("more rows below"), "{shown}");
    screen.press("g");
    screen.shows("\"last\"").await;
    // Words of the request, status, proposer and order are those of the daemon.
    for (words, expected) in [
        ("needle", "  1 found"),
        ("status:rejected", "\"no\""),
        ("type:quorum", "Change root quorum"),
        ("by:nobody", "no user matches by:nobody"),
    ] {
        screen.press(&format!("/{words}"));
        screen.shows("Enter searches").await;
        screen.press("\r");
        screen.shows(expected).await;
        screen.press("\u{1b}");
        screen.until("everything", |shown| !shown.contains("Esc clears")).await;
    }
    screen.press("s");
    screen.shows("oldest first").await;
    screen.shows("\"oldest\"").await;
    screen.press("s");
    screen.shows("by status").await;
    screen.press("sG");
    screen.shows("Change root quorum").await;
}
