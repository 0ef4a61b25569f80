//! How commands select daemon, organization, user and key: by argument, environment variable, named context and file.

use std::path::PathBuf;

use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::operator::Operator;
use serde_json::{Value, json};

/// Configuration with a context that names organization and user.
fn configuration(daemon: &Daemon) -> String {
    let credentials = daemon.credentials();
    let user = &credentials.root_users[1].user_name;
    format!(
        "# mine\nuser = \"nobody\"\n\n[contexts.here]\nsocket = \"{}\"\norganization = \"acme-treasury\"\nuser = {user:?}\n\n\
         [contexts.away]\nsocket = \"/nowhere/quorated.sock\"\n",
        credentials.socket.display()
    )
}

#[tokio::test]
async fn contexts_and_variables_select_by_name() {
    let daemon = Daemon::start(Options::quorum(2, 3)).await;
    let bob = Operator::root(&daemon, 1);
    bob.configure(&configuration(&daemon));
    let id = daemon.credentials().organization_id.as_str();

    let listed = bob.run_raw(&["--json", "context", "ls"], "").await.with(0).lines();
    let names: Vec<&Value> = listed.iter().map(|row| &row["name"]).collect();
    assert_eq!(names, [&json!("away"), &json!("here")]);
    drop(bob.run_raw(&["context", "use", "nowhere"], "").await.with(3));
    drop(bob.run_raw(&["context", "use", "here"], "").await.with(0));
    let shown = bob.run_raw(&["--json", "context", "show"], "").await.with(0).json();
    assert_eq!((&shown["name"], &shown["current"]), (&json!("here"), &json!(true)), "{shown:#}");

    let organization = bob.run_raw(&["--json", "org", "get"], "").await.with(0).json();
    assert_eq!(organization["organizationId"], id);
    let same = bob.run_raw(&["--json", "org", "get", "acme-treasury"], "").await.with(0).json();
    assert_eq!(same["organizationId"], id);
    drop(bob.run_raw(&["--json", "org", "get", "acme"], "").await.with(3));
    // What was named decides, whatever the weaker places say.
    drop(bob.run_raw(&["--user", "nobody", "org", "get"], "").await.with(3));
    let bob = bob.with_variable("QUORATE_USER", "nobody".into());
    drop(bob.run_raw(&["org", "get"], "").await.with(3));
    let user = daemon.credentials().root_users[1].user_name.as_str();
    drop(bob.run_raw(&["--user", user, "org", "get"], "").await.with(0));
    let bob = bob.with_variable("QUORATE_CONTEXT", "away".into());
    drop(bob.run_raw(&["status"], "").await.with(8));
    drop(bob.run_raw(&["--context", "here", "status"], "").await.with(0));

    let shown = bob.run_raw(&["--json", "config", "show"], "").await.with(0).lines();
    let origin = |name: &str| {
        let row = shown.iter().find(|row| row["name"] == name).expect("a setting");
        row["origin"].as_str().expect("an origin").to_owned()
    };
    assert_eq!(origin("context"), "variable QUORATE_CONTEXT");
    assert_eq!(origin("user"), "variable QUORATE_USER");
    // `context use` added the first line.
    assert!(origin("socket").ends_with("config.toml:11"), "{shown:#?}");
    assert_eq!(origin("organization"), "not set");
}

#[tokio::test]
async fn an_organization_that_was_only_named_gets_no_vote() {
    let daemon = Daemon::start(Options::demo()).await;
    let reading = Operator::root(&daemon, 1);
    let created =
        reading.run_raw(&["--json", "key", "add", "laptop"], "correct horse battery\n").await.with(0);
    assert!(created.json()["publicKey"].is_string());
    let waiting = reading.run(&["approvals", "ls"]).await.with(0).lines();
    let activity = waiting.iter().find(|row| row["risk"] != "HIGH").expect("an activity");
    let (id, fingerprint) = (&activity["activityId"], &activity["fingerprint"]);
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let socket = PathBuf::from(&daemon.credentials().socket);
    let operator = reading.with_variable("QUORATE_SOCKET", socket);
    let operator = operator.with_variable("QUORATE_ORGANIZATION", "acme-treasury".into());
    drop(operator.run_raw(&["review", &text(id)], "").await.with(0));
    let approve = ["approve".to_owned(), text(id), "--expect-sha256".to_owned(), text(fingerprint)];
    let refused = operator.run_raw(&approve, "").await;
    assert_ne!(refused.code, 0, "{refused:#?}");
    let stored = daemon.root(0).activity(id).await;
    assert_eq!(stored["votes"].as_array().map(Vec::len), Some(1), "{stored:#}");
}
