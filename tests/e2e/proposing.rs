//! Proposals by command: which types and members there are, what was probably meant, and what follows from one.

use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::operator::Operator;
use quorate_tests::requests::{self, CREATE_WALLET};
use serde_json::{Value, json};

use crate::policy_outcomes::text;

/// Runs a command with text output.
async fn printed(operator: &Operator, words: &[&str]) -> String {
    let words = words.iter().map(|word| (*word).to_owned());
    let all: Vec<String> = operator.identity().into_iter().chain(words).collect();
    operator.run_raw(&all, "").await.with(0).output
}

#[tokio::test]
async fn types_and_members_are_listed_without_a_daemon() {
    let newcomer = Operator::newcomer();
    let listed = newcomer.run(&["propose", "--list"]).await.with(0).lines();
    let names: Vec<&str> = listed.iter().map(|line| text(&line["name"])).collect();
    assert!(names.len() > 60 && names.contains(&"create-wallet"), "{names:?}");
    assert!(!names.contains(&"accept-invitation") && !names.contains(&"approve-activity"), "{names:?}");
    for name in &names {
        let schema = newcomer.run(&["propose", name, "--schema"]).await.with(0).json();
        assert!(schema["members"].is_array() && schema["parameters"].is_object(), "{name}: {schema:#}");
    }
    let schema = newcomer.run(&["propose", "create-wallet", "--schema"]).await.with(0).json();
    let members = schema["members"].as_array().expect("members");
    let member = |path: &str| members.iter().find(|one| one["member"] == path).expect("a member");
    assert_eq!(member("walletName")["isRequired"], true);
    assert_eq!(member("mnemonicLength")["isRequired"], false);
    assert!(text(&member("accounts[0].curve")["takes"]).contains("CURVE_SECP256K1"), "{schema:#}");
    let shown = printed(&newcomer, &["propose", "create-wallet", "--schema"]).await;
    assert!(
        shown.lines().any(|line| line.starts_with("walletName ") && line.contains(" required ")),
        "{shown}"
    );
    drop(newcomer.run(&["propose"]).await.with(2));
}

#[tokio::test]
async fn a_misspelled_name_suggests_the_one_that_was_meant() {
    let newcomer = Operator::newcomer();
    for (words, expected) in [
        (&["propose", "create-walet"][..], "did you mean create-wallet?"),
        (&["propose", "ACTIVITY_TYPE_CREATE_WALET"], "did you mean create-wallet?"),
        (&["propose", "nothing-like-it-at-all"], "`quorate propose --list` lists all"),
        (&["aprove"], "'approve'"),
        (&["help", "aprove"], "'approve'"),
        (&["watch", "--limit", "0"], "0 is not in 1.."),
    ] {
        let refused = newcomer.run(words).await.with(2);
        assert!(refused.stderr.contains(expected), "{refused:#?}");
    }
}

#[tokio::test]
async fn an_option_changes_the_item_of_the_file_that_it_names() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = Operator::root(&daemon, 0);
    let user = |name: &str| json!({ "userName": name, "apiKeys": [], "authenticators": [], "oauthProviders": [], "userTags": [] });
    let file = json!({ "users": [user("ann"), user("cid")] }).to_string();
    let propose = async |sets: &[&str]| {
        let sets = sets.iter().flat_map(|set| ["--set", set]);
        let fixed = ["--json", "propose", "create-users", "--dry-run", "--file", "-"];
        let words = fixed.into_iter().chain(sets).map(str::to_owned);
        let words: Vec<String> = root.identity().into_iter().chain(words).collect();
        root.run_raw(&words, &file).await
    };
    let names = |review: &Value| -> Vec<String> {
        let fields = review["fields"].as_array().expect("fields");
        let is_name = |field: &&Value| text(&field["name"]).ends_with("userName");
        fields.iter().filter(is_name).map(|field| text(&field["value"]).to_owned()).collect()
    };
    let review = propose(&["users[0].userName=bob"]).await.with(0).json();
    assert_eq!(names(&review), ["bob", "cid"]);
    let added = ["users[2].userName=dan", "users[2].userEmail=dan@example.com"];
    let review = propose(&added).await.with(0).json();
    assert_eq!(names(&review), ["ann", "cid", "dan"]);
    let refused = propose(&["users[5].userName=bob"]).await.with(2);
    assert!(
        refused.stderr.contains("users[5].userName: the list has 2 items; the next one is [2]"),
        "{refused:#?}"
    );
}

#[tokio::test]
async fn an_executed_activity_shows_its_result() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let done = daemon.root(0).submit(CREATE_WALLET, &requests::wallet("shown")).await.activity();
    let id = text(&done["id"]).to_owned();
    let wallet = text(&done["result"]["createWalletResult"]["walletId"]).to_owned();
    let root = Operator::root(&daemon, 0);
    for words in [&["activity", "get", &id][..], &["review", &id]] {
        let shown = printed(&root, words).await;
        assert!(shown.contains(&format!("result    walletId [s]: {wallet}")), "{shown}");
    }
}

#[tokio::test]
async fn users_without_a_credential_are_listed() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let feature = json!({ "name": "FEATURE_NAME_OTP_EMAIL_AUTH" });
    daemon.root(0).completed("ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE", &feature).await;
    let bare = json!({ "users": [{ "userName": "carl", "userEmail": "carl@example.com", "apiKeys": [], "authenticators": [],
        "oauthProviders": [], "userTags": [] }] });
    let created = daemon.root(0).result("ACTIVITY_TYPE_CREATE_USERS_V3", &bare).await;
    let id = text(&created["userIds"][0]).to_owned();
    let root = Operator::root(&daemon, 0);
    let shown = printed(&root, &["user", "ls"]).await;
    assert!(shown.contains(&format!("carl  no credential, carl@example.com  {id}\n")), "{shown}");
    assert!(shown.ends_with("; 1 user without any\n"), "{shown}");
    let listed = root.run(&["user", "ls", "carl"]).await.with(0).lines();
    assert_eq!(
        (listed.len(), &listed[0]["kind"], text(&listed[0]["userId"])),
        (1, &json!("none"), id.as_str())
    );
    assert!(root.run(&["user", "ls", "--sessions"]).await.with(0).lines().is_empty());
    assert!(printed(&root, &["user", "ls", "--sessions"]).await.contains("No sessions."));
}

#[tokio::test]
async fn an_unnamed_flag_is_refused_with_its_sentence() {
    let daemon = Daemon::start(Options::quorum(2, 2)).await;
    let root = Operator::root(&daemon, 0);
    let words = ["propose", "update-root-quorum", "--set", "threshold=1", "--set"];
    let user = format!("userIds={}", daemon.root_id(0));
    let all: Vec<&str> = words.iter().copied().chain([user.as_str()]).collect();
    let refused = root.run(&all).await.with(7).json();
    let message = text(&refused["error"]["message"]);
    assert!(
        message.contains("--allow-flag quorum-lowered") && message.contains("nothing was sent"),
        "{message}"
    );
    assert!(message.contains("\n  quorum-lowered: Lowers the root quorum threshold"), "{message}");
}
