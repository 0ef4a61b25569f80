//! MFA policies over the API: an API key and a passkey, before and after a restart, and the operator who removes the
//! policies of a user.

use quorate_tests::caller::Caller;
use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::http::Reply;
use quorate_tests::installation::Installation;
use quorate_tests::keys::Key;
use quorate_tests::operator::Operator;
use quorate_tests::passkey::Passkey;
use serde_json::{Value, json};

const CREATE: &str = "ACTIVITY_TYPE_CREATE_MFA_POLICY";
const NEEDED: &str = "AUTHENTICATORS_NEEDED";

/// Approves an activity with a passkey.
async fn approve_by(passkey: &Passkey<'_>, caller: &Caller, fingerprint: &Value) -> Reply {
    let target = json!({ "fingerprint": fingerprint });
    let body = caller.proposal("ACTIVITY_TYPE_APPROVE_ACTIVITY", &target);
    let stamp = passkey.header(&body);
    let headers = [("content-type", "application/json"), ("x-stamp-webauthn", stamp.as_str())];
    caller.call(hyper::Method::POST, "/public/v1/submit/approve_activity", &headers, &body).await
}

#[tokio::test]
async fn a_passkey_completes_what_an_api_key_proposed() {
    let mut daemon = Daemon::start(Options::quorum(1, 1)).await;
    let alice = daemon.root(0);
    let user = alice.fetch("whoami", json!({})).await["userId"].clone();
    let passkey = Passkey::of("alice");
    let new = json!({"userId": user, "authenticators": [passkey.registration()]});
    alice.completed("ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2", &new).await;
    let steps = json!([{"any": [{"type": "AUTHENTICATION_TYPE_API_KEY"}]},
        {"any": [{"type": "AUTHENTICATION_TYPE_PASSKEY"}, {"type": "AUTHENTICATION_TYPE_SESSION"}]}]);
    let policy = json!({"userId": user, "mfaPolicyName": "two factors", "condition": "true", "order": 0,
        "requiredAuthenticationMethods": steps});
    alice.completed(CREATE, &policy).await;
    let wallet = |name: &str| json!({"walletName": name, "accounts": []});
    let create = "ACTIVITY_TYPE_CREATE_WALLET";
    let [first, second] = [
        alice.submit(create, &wallet("first")).await.activity_in(NEEDED),
        alice.submit(create, &wallet("second")).await.activity_in(NEEDED),
    ];
    assert_eq!(alice.fetch("list_wallets", json!({})).await["wallets"], json!([]));
    let done = approve_by(&passkey, &alice, &first["fingerprint"]).await.activity_in("COMPLETED");
    assert_eq!(done["id"], first["id"]);
    assert!(done["result"]["createWalletResult"]["walletId"].is_string());
    // What waits survives a restart, with what was proven.
    daemon.restart().await;
    let alice = daemon.root(0);
    let status = alice.fetch("get_mfa_status", json!({"activityId": second["id"], "userId": user})).await;
    assert_eq!(status["mfaStatuses"][0]["satisfied"], false);
    assert_eq!(
        status["mfaStatuses"][0]["satisfiedMethods"],
        json!([{"type": "AUTHENTICATION_TYPE_API_KEY"}])
    );
    assert_eq!(status["mfaStatuses"][0]["requiredMethods"], steps);
    alice.approve(&second["fingerprint"]).await.activity_in(NEEDED);
    // Two proofs at once, on two connections, run it once.
    let other_connection = alice.clone();
    let (one, other) = tokio::join!(
        approve_by(&passkey, &alice, &second["fingerprint"]),
        approve_by(&passkey, &other_connection, &second["fingerprint"])
    );
    for reply in [one, other] {
        assert_eq!(reply.activity_in("COMPLETED")["votes"].as_array().expect("votes").len(), 2);
    }
    let wallets = alice.fetch("list_wallets", json!({})).await["wallets"].clone();
    assert_eq!(wallets.as_array().expect("wallets").len(), 2);
    let listed = alice.fetch("get_user", json!({"userId": user})).await;
    assert_eq!(listed["user"]["mfaPolicies"][0]["mfaPolicyName"], "two factors");
}

#[tokio::test]
async fn the_operator_helps_a_user_who_lost_a_passkey() {
    const COMMAND: &str = "remove-mfa-policies";
    let installation = Installation::new("file = \"root.key\"");
    let key = Key::named("without a passkey");
    let organization = installation.create_organization("team", &key).await;
    let waiting;
    let user;
    {
        let served = installation.serve().await;
        let root = served.caller(&organization, key.clone());
        user = root.fetch("whoami", json!({})).await["userId"].as_str().expect("an id").to_owned();
        let new = json!({"userId": user, "authenticators": [Passkey::of("lost").registration()]});
        root.completed("ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2", &new).await;
        let steps = json!([{"any": [{"type": "AUTHENTICATION_TYPE_PASSKEY"}]}]);
        let policy = json!({"userId": user, "mfaPolicyName": "passkey", "condition": "true", "order": 0,
            "requiredAuthenticationMethods": steps});
        let created = root.completed(CREATE, &policy).await;
        let id = created["result"]["createMfaPolicyResult"]["mfaPolicyId"].clone();
        let wallet = json!({"walletName": "locked", "accounts": []});
        waiting = root.submit("ACTIVITY_TYPE_CREATE_WALLET", &wallet).await.activity_in(NEEDED);
        let deletion = json!({"userId": user, "mfaPolicyId": id});
        root.submit("ACTIVITY_TYPE_DELETE_MFA_POLICY", &deletion).await.activity_in(NEEDED);
        let busy = installation.run(COMMAND, &["--organization", &organization, "--user", &user]).await;
        assert_eq!(busy.code, 6, "{busy:#?}");
    }
    let unknown = "00000000-0000-4000-8000-000000000000";
    for (organization, user) in [(unknown, user.as_str()), (&organization, unknown)] {
        let wrong = installation.run(COMMAND, &["--organization", organization, "--user", user]).await;
        assert_eq!((wrong.code, wrong.stderr.contains("not found")), (1, true), "{wrong:#?}");
    }
    for words in ["removed MFA policy", "has no MFA policies"] {
        let run = installation.run(COMMAND, &["--organization", &organization, "--user", &user]).await;
        assert_eq!((run.code, run.output.contains(words)), (0, true), "{run:#?}");
    }
    let served = installation.serve().await;
    let root = served.caller(&organization, key);
    let listed = root.fetch("get_user", json!({"userId": user})).await;
    assert_eq!(listed["user"]["mfaPolicies"], json!([]));
    let wallet = json!({"walletName": "free", "accounts": []});
    root.completed("ACTIVITY_TYPE_CREATE_WALLET", &wallet).await;
    // What waits needs one more approval of its proposer.
    root.approve(&waiting["fingerprint"]).await.activity_in("COMPLETED");
}

/// Runs a command with text output.
async fn text(operator: &Operator, command: &[&str]) -> String {
    let command: Vec<String> = command.iter().map(|&word| word.to_owned()).collect();
    operator.run_raw(&[operator.identity(), command].concat(), "").await.with(0).output
}

#[tokio::test]
async fn operators_read_whose_step_is_next_and_what_runs_without_one() {
    let daemon = Daemon::start(Options::quorum(1, 2)).await;
    let (alice, bob) = (daemon.root(0), daemon.root(1));
    let (own, other) = (Operator::root(&daemon, 0), Operator::root(&daemon, 1));
    let (user, name) = (daemon.root_id(0), &daemon.credentials().root_users[0].user_name);
    let new = json!({"userId": user, "authenticators": [Passkey::of("alice").registration()]});
    alice.completed("ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2", &new).await;
    let policy = json!({"userId": user, "mfaPolicyName": "passkey", "condition": "true", "order": 0,
        "requiredAuthenticationMethods": [{"any": [{"type": "AUTHENTICATION_TYPE_PASSKEY"}]}]});
    let created = alice.completed(CREATE, &policy).await;
    let wallet = json!({"walletName": "late", "accounts": []});
    let waiting = alice.submit("ACTIVITY_TYPE_CREATE_WALLET", &wallet).await.activity_in(NEEDED);
    let (id, fingerprint) = (waiting["id"].as_str().expect("an id"), waiting["fingerprint"].as_str());
    let fingerprint = fingerprint.expect("a fingerprint");

    for (operator, expected) in
        [(&own, "waits for you: a passkey"), (&other, &format!("waits for {name}: a passkey"))]
    {
        let shown = text(operator, &["approvals", "ls"]).await;
        assert!(shown.contains(expected) && !shown.contains("of 1 approvals"), "{shown}");
    }
    let deletion =
        json!({"userId": user, "mfaPolicyId": created["result"]["createMfaPolicyResult"]["mfaPolicyId"]});
    bob.completed("ACTIVITY_TYPE_DELETE_MFA_POLICY", &deletion).await;
    let expected =
        format!("needs     no authentication step is left: it runs with the next approval of {name} [s]");
    for command in [&["activity", "get", id][..], &["review", id]] {
        let shown = text(&other, command).await;
        assert!(shown.contains(&expected), "{shown}");
    }
    let shown = text(&other, &["approvals", "ls"]).await;
    assert!(shown.contains(&format!("waits for {name} to approve again")), "{shown}");
    let done = own.run(&["approve", id, "--expect-sha256", fingerprint]).await.with(0);
    assert_eq!(alice.activity(&waiting["id"]).await["status"], "ACTIVITY_STATUS_COMPLETED", "{done:#?}");

    // What was executed is not compared with the organization that it changed.
    let shown = text(&other, &["activity", "get", id]).await;
    assert!(shown.starts_with("Create wallet  (executed)"), "{shown}");
    assert!(shown.contains("The activity has ended: effects and flags"), "{shown}");
    assert!(!shown.contains("\nflag") && !shown.contains("\nchange"), "{shown}");
}
