//! The list of approvals over an organization and its sub-organizations, by command: its order, its filters, and the causes
//! of errors when the user or the organization is not the right one.

use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::keys::Key;
use quorate_tests::operator::Operator;
use quorate_tests::requests::{self, UPDATE_ROOT_QUORUM};
use serde_json::{Value, json};

use crate::policy_outcomes::text;

/// Starts a daemon whose root users are alice and bob. Bob is a member of the sub-organization `payouts`, and nobody of
/// the parent one of `archive`. In each of the three, a tag and a change of the root quorum wait.
async fn tree() -> (Daemon, [String; 2]) {
    let daemon = Daemon::start(Options::quorum(1, 2)).await;
    let (root, client, bob) = (daemon.root(0), Key::named("client"), daemon.root_key(1));
    let first = || requests::root_user("first", &client);
    let second = || requests::root_user("second", &Key::named("second client"));
    let payouts = [first(), requests::root_user("bob", &bob)];
    let payouts = requests::create_sub_organization(&root, "payouts", &payouts, 2).await;
    let archive = requests::create_sub_organization(&root, "archive", &[first(), second()], 2).await;
    for child in [&archive, &payouts] {
        let caller = root.with_key(&client).on(child);
        requests::propose_tags(&caller, 1).await;
        let organization = caller.fetch("get_organization", json!({})).await;
        let members = &organization["organizationData"]["rootQuorum"]["userIds"];
        caller.waiting(UPDATE_ROOT_QUORUM, &json!({ "threshold": 1, "userIds": members })).await;
    }
    let members = [daemon.root_id(0), daemon.root_id(1)];
    root.result(UPDATE_ROOT_QUORUM, &json!({ "threshold": 2, "userIds": members })).await;
    requests::propose_tags(&root, 1).await;
    root.waiting(UPDATE_ROOT_QUORUM, &json!({ "threshold": 1, "userIds": members })).await;
    (daemon, [payouts, archive])
}

fn brief(line: &Value) -> String {
    let whose = if line["mine"] == true { "mine" } else { "others" };
    format!("{} {whose} {}", text(&line["risk"]), text(&line["organizationName"]))
}

#[tokio::test]
async fn risk_comes_first_over_all_organizations() {
    let (daemon, _) = tree().await;
    let bob = Operator::root(&daemon, 1);
    let listed = bob.run(&["approvals", "ls"]).await.with(0).lines();
    let own = text(&listed[0]["organizationName"]).to_owned();
    let order: Vec<String> = listed.iter().map(brief).collect();
    let expected =
        ["HIGH mine OWN", "HIGH mine payouts", "HIGH others archive", "LOW mine OWN", "LOW mine payouts"];
    let expected = expected.map(|line| line.replace("OWN", &own));
    assert_eq!(order[..5], expected);
    assert_eq!(order[5], "LOW others archive");

    for (words, count) in [
        (&["--risk", "HIGH"][..], 3),
        (&["--risk", "high", "--mine"], 2),
        (&["--risk", "MED"], 0),
        (&["--risk", "MED", "--risk", "LOW"], 3),
        (&["--type", "create-user-tag"], 3),
        (&["--text", "ARCHIVE quorum"], 1),
        (&["--text", text(&listed[4]["activityId"])], 1),
        (&["--text", &text(&listed[4]["fingerprint"])[7..17]], 1),
        (&["--limit", "4"], 4),
    ] {
        let all: Vec<&str> = ["approvals", "ls"].iter().chain(words).copied().collect();
        assert_eq!(bob.run(&all).await.with(0).lines().len(), count, "{words:?}");
    }
    drop(bob.run(&["approvals", "ls", "--type", "no-such-type"]).await.with(2));
    drop(bob.run(&["approvals", "ls", "--limit", "0"]).await.with(2));
}

/// Runs a command with text output.
async fn printed(operator: &Operator, words: &[&str]) -> String {
    let all: Vec<String> =
        operator.identity().into_iter().chain(words.iter().map(|word| (*word).to_owned())).collect();
    operator.run_raw(&all, "").await.with(0).output
}

#[tokio::test]
async fn the_wide_list_has_a_line_per_activity() {
    let (daemon, [payouts, _]) = tree().await;
    let bob = Operator::root(&daemon, 1);
    let wide = printed(&bob, &["approvals", "ls", "-o", "wide"]).await;
    let lines: Vec<&str> = wide.lines().collect();
    assert_eq!(lines.len(), 8, "{wide}");
    assert!(lines[0].starts_with("RISK  ORGANIZATION"), "{wide}");
    assert!(lines[2].starts_with("HIGH  payouts") && lines[2].contains("  you  "), "{wide}");
    assert_eq!(lines[7], "6 activities wait: 3 HIGH, 3 LOW; 4 for you");
    let narrow = printed(&bob, &["approvals", "ls", "--limit", "2"]).await;
    assert!(narrow.contains(&format!("      in payouts {payouts}\n")), "{narrow}");
    assert!(narrow.ends_with("2 activities wait: 2 HIGH; 2 for you; 4 more: raise --limit\n"), "{narrow}");
}

#[tokio::test]
async fn errors_name_who_is_missing_where() {
    let (daemon, [_, archive]) = tree().await;
    let bob = Operator::root(&daemon, 1);
    let listed = bob.run(&["approvals", "ls", "--text", "archive", "--risk", "LOW"]).await.with(0).lines();
    let (id, fingerprint) = (text(&listed[0]["activityId"]), text(&listed[0]["fingerprint"]));
    let expected = format!("belongs to no user of organization \"archive\" ({archive})");
    for words in [&["approve", id, "--expect-sha256", fingerprint][..], &["reject", id]] {
        let refused = bob.run(words).await.with(2);
        assert!(
            refused.stderr.contains(&expected) && refused.stderr.contains("nothing was sent"),
            "{refused:#?}"
        );
    }
}

#[tokio::test]
async fn a_name_finds_a_sub_organization_and_is_no_id() {
    let (daemon, [payouts, archive]) = tree().await;
    let bob = Operator::root(&daemon, 1);
    let tag = bob.run(&["approvals", "ls", "--text", "payouts", "--risk", "LOW"]).await.with(0).lines();
    let (id, fingerprint) = (text(&tag[0]["activityId"]), text(&tag[0]["fingerprint"]));
    let socket = &daemon.credentials().socket;
    let anywhere = |words: &[&str]| Operator::anywhere(socket).with_arguments(words);
    let named = anywhere(&["--organization", "payouts", "--user", "bob"]);
    assert_eq!(named.run(&["approvals", "ls"]).await.with(0).lines().len(), 2);
    let refused = named.run(&["approve", id, "--expect-sha256", fingerprint]).await.with(2);
    assert!(refused.stderr.contains("\"payouts\" is a name"), "{refused:#?}");
    assert!(refused.stderr.contains(&format!("--organization {payouts}")), "{refused:#?}");

    let unknown =
        Operator::anywhere(&daemon.credentials().socket).with_arguments(&["--organization", "nowhere"]);
    let missing = unknown.run(&["approvals", "ls"]).await.with(3);
    assert!(missing.stderr.contains("organization \"nowhere\" not found"), "{missing:#?}");
    // A second one with the name: the error lists both paths.
    let users = [requests::root_user("first", &Key::named("client"))];
    let create = requests::sub_organization("archive", &users, 1);
    let pending = daemon.root(0).waiting(requests::CREATE_SUB_ORGANIZATION, &create).await;
    daemon.root(1).approved(&pending["fingerprint"]).await;
    let refused = anywhere(&["--organization", "archive"]).run(&["approvals", "ls"]).await.with(2);
    assert!(refused.stderr.contains("/archive\"") && refused.stderr.contains(&archive), "{refused:#?}");
}

#[tokio::test]
async fn a_list_at_the_socket_needs_no_key_of_the_user() {
    let (daemon, _) = tree().await;
    let key = "keys";
    let reader = Operator::root(&daemon, 0).with_key(&daemon, 0, key);
    let created = reader.run_raw(&["--passphrase-fd", "0", "key", "add", key], "a long passphrase\n").await;
    drop(created.with(0));
    let refused = reader.run(&["activity", "ls"]).await.with(4);
    assert!(refused.stderr.contains("is not an API key of user"), "{refused:#?}");
    let listed = reader.run(&["approvals", "ls"]).await.with(0);
    assert!(listed.stderr.contains("listed without a key"), "{listed:#?}");
    assert_eq!(listed.lines().len(), 6);
}
