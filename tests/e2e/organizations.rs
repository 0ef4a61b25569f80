//! Several organizations on one daemon: one is chosen in the console, and one inbox lists what waits in it and in all its
//! sub-organizations.

use std::collections::BTreeSet;

use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::installation::Installation;
use quorate_tests::keys::Key;
use quorate_tests::operator::Operator;
use quorate_tests::requests::{self, UPDATE_ROOT_QUORUM};
use serde_json::{Value, json};

use crate::policy_outcomes::text;
use crate::screen::Screen;

#[tokio::test]
async fn one_of_several_organizations_is_chosen() {
    let installation = Installation::new("file = \"root.key\"");
    let key = Key::named("first root user");
    let treasury = installation.create_organization("treasury", &key).await;
    let payments = installation.create_organization("payments", &key).await;
    let _daemon = installation.serve().await;
    let socket = installation.path("run/socket");

    // The command line names the organizations and what to do.
    let refused = Operator::anywhere(&socket).run(&["approvals", "ls"]).await.with(2);
    assert!(refused.stderr.contains("--organization"), "{refused:#?}");

    for size in [(120, 36), (80, 24), (40, 12)] {
        let mut screen = Screen::sized(Operator::anywhere(&socket), size);
        let listed =
            screen.until("both", |shown| shown.contains("treasury") && shown.contains("payments")).await;
        assert!(listed.contains(&treasury[..8]) && listed.contains(&payments[..8]), "{listed}");
        // Without a choice, each screen states what is missing.
        screen.press("\u{1b}");
        screen.shows("No organization is chosen").await;
        for key in ["1", "2", "3"] {
            screen.press(key);
            screen.shows("No organization is chosen").await;
        }
        screen.press("o");
        screen.shows("of 2").await;
        screen.press("paym\r");
        screen
            .until("the header", |shown| shown.lines().next().is_some_and(|line| line.contains("payments")))
            .await;
        screen.press("1");
        screen.shows("Nothing waits").await;
        // All screens change with the organization.
        screen.press("2o");
        screen.shows("of 2").await;
        screen.press("treas\r");
        screen
            .until("the header", |shown| shown.lines().next().is_some_and(|line| line.contains("treasury")))
            .await;
        screen.shows(&treasury[..8]).await;
        // Any organization is chosen by its id, and by name in the palette.
        screen.press(":organization");
        screen.shows("Choose the organization").await;
        screen.press("\r");
        screen.shows("of 2").await;
        screen.press(&format!("{payments}\r"));
        screen
            .until("the header", |shown| shown.lines().next().is_some_and(|line| line.contains("payments")))
            .await;
    }
}

/// Number of sub-organizations with something to approve, and beside them.
const CHILDREN: usize = 30;
const QUIET: usize = 3;

#[tokio::test]
async fn one_inbox_lists_all_sub_organizations() {
    let daemon = Daemon::start(Options::quorum(1, 2)).await;
    let (root, bob) = (daemon.root(0), daemon.root_key(1));
    let client = Key::named("client");
    let mut children = Vec::new();
    for number in 0..CHILDREN + QUIET {
        // Bob votes in each of them; nobody else of the parent does.
        let users = [requests::root_user("first", &client), requests::root_user("bob", &bob)];
        children.push(requests::create_sub_organization(&root, &format!("client {number}"), &users, 2).await);
    }
    let mut expected = BTreeSet::new();
    for child in &children[..CHILDREN] {
        let tag = json!({ "userTagName": "auditors", "userIds": [] });
        let waiting = root.with_key(&client).on(child).waiting("ACTIVITY_TYPE_CREATE_USER_TAG", &tag).await;
        expected.insert(text(&waiting["id"]).to_owned());
    }
    // The newest is HIGH, in one of them.
    let last = &children[CHILDREN - 1];
    let caller = root.with_key(&client).on(last);
    let organization = caller.fetch("get_organization", json!({})).await;
    let members = &organization["organizationData"]["rootQuorum"]["userIds"];
    let lowered = json!({ "threshold": 1, "userIds": members });
    let danger = caller.waiting(UPDATE_ROOT_QUORUM, &lowered).await;
    expected.insert(text(&danger["id"]).to_owned());

    // By command.
    let operator = Operator::root(&daemon, 1);
    let listed = operator.run(&["approvals", "ls"]).await.with(0).lines();
    let ids: BTreeSet<String> = listed.iter().map(|line| text(&line["activityId"]).to_owned()).collect();
    assert_eq!((listed.len(), ids), (CHILDREN + 1, expected));
    assert_eq!((&listed[0]["activityId"], text(&listed[0]["risk"])), (&danger["id"], "HIGH"));
    assert!(listed.iter().all(|line| line["mine"] == true), "{listed:#?}");
    assert_eq!(listed[0]["organizationId"], last.as_str());
    // Without a key there, nothing waits for the user.
    let others = Operator::root(&daemon, 0).run(&["approvals", "ls", "--mine"]).await.with(0).lines();
    assert_eq!(others.len(), 0, "{others:#?}");

    // In the console, each row names its organization, and the review opens there.
    let mut screen = Screen::open(operator);
    let shown = screen.shows(&format!("Waiting for you: {} ", CHILDREN + 1)).await;
    let name = format!("client {}", CHILDREN - 1);
    let first = shown.lines().find(|line| line.contains("\u{2502} > ")).unwrap_or_default();
    assert!(first.contains("HIGH") && first.contains(&name), "{shown}");
    screen.press(&format!("/{}\r", children[3]));
    let shown = screen.shows("  1 of 31").await;
    assert!(shown.contains(&children[3]), "the preview has the id:\n{shown}");
    screen.press("\r");
    let shown = screen.shows("1 What happens").await;
    assert!(shown.lines().next().is_some_and(|line| line.contains("client 3")), "{shown}");
    screen.press("G");
    screen.shows("sub-organization of the pinned one").await;
    screen.press("a");
    screen.shows("Enter works once the answer is typed").await;
    screen.press("y\r");
    screen.shows("Vote recorded").await;
    let tags = root.with_key(&client).on(&children[3]).fetch("list_user_tags", json!({})).await;
    assert_eq!(tags["userTags"].as_array().map(Vec::len), Some(1), "{tags:#}");
    screen.press("\u{1b}");
    screen.until("the review", |shown| !shown.contains("Vote recorded")).await;
    screen.press("\u{1b}");
    screen.shows("Esc clears").await;
    screen.press("\u{1b}");
    screen.shows(&format!("Waiting for you: {CHILDREN} ")).await;
    // What is new in a sub-organization is announced, and what ended disappears.
    let raised = json!({ "threshold": 2, "userIds": members });
    let newest = caller.waiting(UPDATE_ROOT_QUORUM, &raised).await;
    screen.shows("1 new HIGH").await;
    caller.reject(&newest["fingerprint"]).await.activity();
    screen.shows(&format!("Waiting for you: {CHILDREN} ")).await;
    screen.until("no announcement", |shown| !shown.contains("new HIGH")).await;

    commands_find(&daemon, &listed, &children[4], &danger).await;
}

/// Checks that commands find an activity of a sub-organization, whether it waits or has ended, and the user by the key.
async fn commands_find(daemon: &Daemon, listed: &[Value], child: &str, danger: &Value) {
    let operator = Operator::root(daemon, 1);
    let line = listed.iter().find(|line| line["organizationId"] == child).expect("a line");
    let (id, fingerprint) = (text(&line["activityId"]), text(&line["fingerprint"]));
    for reference in [id, fingerprint] {
        let reviewed = operator.run(&["review", reference]).await.with(0).json();
        assert_eq!(reviewed["organizationId"], child, "{reviewed:#}");
    }
    // A member of the parent only cannot vote there, and nothing is sent.
    let outsider = Operator::root(daemon, 0);
    let refused = outsider.run(&["approve", id, "--expect-sha256", fingerprint]).await;
    assert!(refused.code == 2 && refused.stderr.contains("nothing was sent"), "{refused:#?}");
    operator.run(&["approve", id, "--expect-sha256", fingerprint]).await.with(0).json();
    let got = operator.run(&["activity", "get", id]).await.with(0).json();
    assert_eq!(got["activity"]["status"], "ACTIVITY_STATUS_COMPLETED", "{got:#}");
    operator.run(&["reject", text(&danger["id"])]).await.with(0).json();
    drop(operator.run(&["review", "00000000-0000-4000-8000-000000000001"]).await.with(3));
    // The policies of the organization do not explain what waits in another one.
    drop(operator.run(&["policy", "explain", id]).await.with(3));
}
