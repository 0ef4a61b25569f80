//! Policies that allow, deny and require votes.

use hyper::Method;
use quorate_tests::caller::Caller;
use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::keys::Key;
use quorate_tests::operator::Operator;
use quorate_tests::requests::{self, CREATE_WALLET, SIGN, UPDATE_ROOT_QUORUM};
use serde_json::{Value, json};

const CREATE_POLICY: &str = "ACTIVITY_TYPE_CREATE_POLICY_V3";

fn policy(name: &str, effect: &str, condition: &str, consensus: &str) -> Value {
    json!({
        "policyName": name,
        "effect": format!("EFFECT_{effect}"),
        "condition": condition,
        "consensus": consensus,
        "notes": "",
    })
}

/// Starts a daemon with one root user who decides alone, a user without permissions, and an account to sign
/// with.
async fn outsider() -> (Daemon, Caller, String, String) {
    let daemon = Daemon::start(Options::quorum(1, 2)).await;
    let root = daemon.root(0);
    let key = Key::named("outsider");
    let id = requests::create_user(&root, "outsider", &key).await;
    let address = requests::create_wallet(&root, "policies").await;
    (daemon, root.with_key(&key), id, address)
}

#[tokio::test]
async fn policies_allow_and_deny() {
    let (daemon, outsider, id, address) = outsider().await;
    let root = daemon.root(0);
    let payload = requests::sign(&address, "by policy");
    outsider.submit(SIGN, &payload).await.expect_error(403, 7, "*");

    let consensus = format!("approvers.any(user, user.id == '{id}')");
    let grant = policy("outsider signs", "ALLOW", "activity.action == 'SIGN'", &consensus);
    let created = root.result(CREATE_POLICY, &grant).await;
    outsider.completed(SIGN, &payload).await;
    outsider.submit(CREATE_WALLET, &requests::wallet("denied")).await.expect_error(403, 7, "*");

    let deny = policy("nobody signs", "DENY", "activity.resource == 'PRIVATE_KEY'", "true");
    root.completed(CREATE_POLICY, &deny).await;
    outsider.submit(SIGN, &payload).await.expect_error(403, 7, "*");
    root.completed(SIGN, &payload).await;

    let policies = root.fetch("list_policies", json!({})).await;
    let policies = policies["policies"].as_array().expect("policies").clone();
    assert_eq!(policies.len(), 2);
    let granted = policies.iter().find(|policy| policy["policyId"] == created["policyId"]).expect("listed");
    assert_eq!(granted["consensus"], consensus.as_str());
}

#[tokio::test]
async fn a_policy_requires_votes() {
    let (daemon, outsider, id, address) = outsider().await;
    let root = daemon.root(0);
    let second_key = Key::named("second outsider");
    let second_id = requests::create_user(&root, "second outsider", &second_key).await;
    let both =
        format!("approvers.any(user, user.id == '{id}') && approvers.any(user, user.id == '{second_id}')");
    root.completed(CREATE_POLICY, &policy("both", "ALLOW", "activity.action == 'SIGN'", &both)).await;
    let pending = outsider.waiting(SIGN, &requests::sign(&address, "by both")).await;
    let third_key = Key::named("third outsider");
    requests::create_user(&root, "third outsider", &third_key).await;
    let third = outsider.with_key(&third_key);
    third.approve(&pending["fingerprint"]).await.expect_error(403, 7, "REQUEST_NOT_AUTHORIZED");
    let second = outsider.with_key(&second_key);
    assert_eq!(second.activity(&pending["id"]).await["canApprove"], true);
    second.approved(&pending["fingerprint"]).await;

    let pending = outsider.waiting(SIGN, &requests::sign(&address, "by the root quorum")).await;
    root.approved(&pending["fingerprint"]).await;
}

#[tokio::test]
async fn policies_do_not_apply_to_the_root_quorum() {
    let (daemon, outsider, _, _) = outsider().await;
    let root = daemon.root(0);
    root.completed(CREATE_POLICY, &policy("all", "ALLOW", "true", "true")).await;
    outsider.completed(CREATE_WALLET, &requests::wallet("allowed")).await;
    let quorum = json!({ "threshold": 1, "userIds": [daemon.root_id(0)] });
    outsider.submit(UPDATE_ROOT_QUORUM, &quorum).await.expect_error(403, 7, "*");
    let feature = json!({ "name": "FEATURE_NAME_EMAIL_AUTH" });
    outsider.submit("ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE", &feature).await.expect_error(403, 7, "*");
    root.completed(CREATE_POLICY, &policy("none", "DENY", "true", "true")).await;
    outsider.submit(CREATE_WALLET, &requests::wallet("denied")).await.expect_error(403, 7, "*");
    root.completed(CREATE_WALLET, &requests::wallet("root")).await;
}

#[tokio::test]
async fn expressions_are_validated_at_creation() {
    let (daemon, _, _, _) = outsider().await;
    let root = daemon.root(0);
    let nested = format!("{}true{}", "(".repeat(500), ")".repeat(500));
    let long = vec!["true"; 20_000].join(" && ");
    for (condition, consensus, message) in [
        ("activity.action ==", "true", "invalid policy condition"),
        ("activity.colour == 'red'", "true", "invalid policy condition"),
        ("1", "true", "invalid policy condition"),
        (&nested, "true", "invalid policy condition"),
        (&long, "true", ""),
        ("true", "approvers.any(user", "invalid policy consensus"),
        ("true", "approvers", "invalid policy consensus"),
    ] {
        let reply = root.submit(CREATE_POLICY, &policy("bad", "ALLOW", condition, consensus)).await;
        let error = reply.expect_error(400, 3, "*");
        assert!(error.starts_with(message), "{reply}");
    }
    root.completed(CREATE_POLICY, &policy("name", "ALLOW", "true", "true")).await;
    let reply = root.submit(CREATE_POLICY, &policy("name", "DENY", "true", "true")).await;
    assert_eq!(reply.expect_error(400, 3, "*"), "policy label must be unique");
    let mut effect = policy("effect", "ALLOW", "true", "true");
    effect["effect"] = json!("EFFECT_MAYBE");
    root.submit(CREATE_POLICY, &effect).await.expect_error(400, 3, "*");
}

#[tokio::test]
async fn console_and_daemon_give_equal_advice() {
    let (daemon, outsider, id, address) = outsider().await;
    let root = daemon.root(0);
    let second = format!("approvers.any(user, user.id == '{id}') && approvers.count() >= 2");
    root.completed(CREATE_POLICY, &policy("both", "ALLOW", "activity.action == 'SIGN'", &second)).await;
    let trap = "activity.action == 'SIGN' && wallet.id != '51d0aaaa-0000-4000-8000-000000000007'";
    root.completed(CREATE_POLICY, &policy("trap", "DENY", trap, "approvers.count() >= 3")).await;
    let pending = outsider.waiting(SIGN, &requests::sign(&address, "by both")).await;
    let operator = Operator::root(&daemon, 0);
    let organization_path = format!("/console/v1/organizations/{}", root.organization());
    let socket = Caller::new(daemon.socket(), root.organization(), daemon.root_key(0));
    let read = async |path: String| socket.call(Method::GET, &path, &[], b"").await.success();

    let findings = operator.run(&["policy", "lint"]).await.with(1).lines();
    let codes: Vec<&Value> = findings.iter().map(|finding| &finding["code"]).collect();
    assert_eq!(codes, ["absent-member", "unknown-id"], "{findings:#?}");
    assert_eq!(read(format!("{organization_path}/policies/findings")).await["findings"], json!(findings));

    let reference = pending["id"].as_str().expect("an id");
    let explained = operator.run(&["policy", "explain", reference]).await.with(0).json();
    assert_eq!(explained["verdict"], "OUTCOME_REQUIRES_CONSENSUS");
    let mut roots = [daemon.root_id(0), daemon.root_id(1)];
    roots.sort_unstable();
    assert_eq!(explained["openTo"], json!(roots), "users who may vote next");
    assert_eq!(read(format!("{organization_path}/activities/{reference}/explanation")).await, explained);

    let error =
        operator.run(&["policy", "check", "--condition", "activity.kind ==\n 'x"]).await.with(1).json();
    assert_eq!((&error["line"], &error["column"]), (&json!(2), &json!(2)), "{error}");
    let condition = "activity.kind == 'CREATE_WALLET'";
    let body = policy("as clients send it", "ALLOW", condition, "approvers.any(user, user.id == '')");
    let draft = format!(
        "name = 'as clients send it'\neffect = 'ALLOW'\ncondition = \"{condition}\"\nconsensus = \"approvers.any(user, user.id == '')\"\n"
    );
    for text in [body.to_string(), draft] {
        let command = |words: &[&str]| {
            [&operator.identity()[..], &words.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>()]
                .concat()
        };
        let checked = operator.run_raw(&command(&["policy", "check", "-"]), &text).await.with(1).output;
        assert!(checked.contains("[!] consensus: impossible id \"\": ids have 36 characters"), "{checked}");
        let shown =
            operator.run_raw(&command(&["policy", "new", "-", "--dry-run"]), &text).await.with(0).output;
        assert!(
            shown.contains("(impossible-id)") && shown.contains("field     policyName = as clients send it"),
            "{shown}"
        );
    }
    let both = json!({"threshold": 2, "userIds": [daemon.root_id(0), daemon.root_id(1)]});
    root.completed(UPDATE_ROOT_QUORUM, &both).await;
    let policy_id = root.fetch("list_policies", json!({})).await["policies"][0]["policyId"].clone();
    let change = root.waiting("ACTIVITY_TYPE_DELETE_POLICY", &json!({"policyId": policy_id})).await;
    let change =
        operator.run(&["policy", "diff", change["id"].as_str().expect("an id")]).await.with(0).json();
    assert!(change["replay"]["judged"].as_u64().is_some_and(|judged| judged >= 5), "{change}");
}
