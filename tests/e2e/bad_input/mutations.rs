//! Thousands of valid requests with one value replaced at random. The daemon always answers in the wire
//! format and never with a server error. A fixed seed makes runs repeatable.

use quorate_tests::caller::submit_path;
use quorate_tests::choices::Choices;
use quorate_tests::keys::Key;
use quorate_tests::requests;
use serde_json::{Value, json};

use super::daemon;

const ROUNDS: u64 = 60;

/// Returns a random value to insert.
fn random_value(choices: &mut Choices) -> Value {
    let all = [
        Value::Null,
        json!(true),
        json!(0),
        json!(-1),
        json!(4_294_967_296_u64),
        json!(u64::MAX),
        json!(1e300),
        json!(""),
        json!(" "),
        json!("\u{0}"),
        json!("\u{202e}abc"),
        json!("é".repeat(5000)),
        json!("0x"),
        json!("00000000-0000-4000-8000-000000000005"),
        json!("../../etc/passwd"),
        json!("'; DROP TABLE users; --"),
        json!([]),
        json!([null]),
        json!([[[[]]]]),
        json!({}),
        json!({ "a": { "b": null } }),
        json!(vec![0; 5000]),
    ];
    all[choices.below(all.len())].clone()
}

/// Collects the pointers to all values (RFC 6901).
fn collect_pointers(value: &Value, prefix: &str, out: &mut Vec<String>) {
    let mut visit = |name: &str, value: &Value| {
        let pointer = format!("{prefix}/{name}");
        out.push(pointer.clone());
        collect_pointers(value, &pointer, out);
    };
    match value {
        Value::Object(members) => members.iter().for_each(|(name, value)| visit(name, value)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| visit(&index.to_string(), item));
        }
        _ => {}
    }
}

fn examples(me: &str, address: &str, wallet: &Value) -> Vec<(&'static str, Value)> {
    let key = Key::named("mutated");
    let private_key = json!({
        "privateKeyName": "k", "curve": "CURVE_P256", "privateKeyTags": [], "addressFormats": ["ADDRESS_FORMAT_COMPRESSED"],
    });
    let mut many = requests::sign(address, "");
    many["payloads"] = json!(["a", "b"]);
    let policy = json!({
        "policyName": "p", "effect": "EFFECT_ALLOW", "condition": "activity.action == 'SIGN'",
        "consensus": "approvers.count() > 1", "notes": "",
    });
    let child = requests::sub_organization("child", &[requests::root_user("root", &key)], 1);
    vec![
        (requests::CREATE_WALLET, requests::wallet("w")),
        (
            "ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS",
            json!({ "walletId": wallet, "accounts": [requests::account(9)] }),
        ),
        (requests::SIGN, requests::sign(address, "text")),
        ("ACTIVITY_TYPE_SIGN_RAW_PAYLOADS", many),
        (requests::CREATE_USERS, requests::user("u", &key)),
        (requests::CREATE_API_KEYS, requests::api_keys(me, &[requests::api_key("k", &key)])),
        ("ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2", json!({ "privateKeys": [private_key] })),
        (requests::CREATE_SUB_ORGANIZATION, child),
        ("ACTIVITY_TYPE_CREATE_POLICY_V3", policy),
        (requests::UPDATE_ROOT_QUORUM, json!({ "threshold": 1, "userIds": [me] })),
        (
            "ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE",
            json!({ "name": "FEATURE_NAME_EMAIL_AUTH", "value": "v" }),
        ),
        ("ACTIVITY_TYPE_DELETE_USERS", json!({ "userIds": ["00000000-0000-4000-8000-000000000006"] })),
        ("ACTIVITY_TYPE_APPROVE_ACTIVITY", json!({ "fingerprint": format!("sha256:{}", "ab".repeat(32)) })),
    ]
}

#[tokio::test]
async fn survives_submits_with_one_random_value() {
    let (daemon, address) = daemon().await;
    let root = daemon.root(0);
    let wallets = root.fetch("list_wallets", json!({})).await;
    let examples = examples(daemon.root_id(0), &address, &wallets["wallets"][0]["walletId"]);
    let mut choices = Choices::of_seed(1);
    for _ in 0..ROUNDS {
        for (activity_type, good) in &examples {
            let mut body: Value =
                serde_json::from_slice(&root.proposal(activity_type, good)).expect("a body");
            let mut all = Vec::new();
            collect_pointers(&body, "", &mut all);
            let pointer = &all[choices.below(all.len())];
            *body.pointer_mut(pointer).expect("a value in the body") = random_value(&mut choices);
            let reply = root.send(&submit_path(activity_type), body.to_string().as_bytes()).await;
            assert!(reply.status < 500 || reply.status == 501, "{pointer}: {reply}");
            if reply.status != 200 {
                reply.expect_error(reply.status, reply.json()["code"].as_i64().expect("a code"), "*");
            }
        }
    }
    root.fetch("whoami", json!({})).await;
    assert!(!daemon.log().contains("panicked"), "{}", daemon.log());
}

#[tokio::test]
async fn survives_queries_with_one_random_value() {
    let (daemon, _) = daemon().await;
    let root = daemon.root(0);
    let unknown = "00000000-0000-4000-8000-000000000007";
    let options = json!({ "limit": "10", "before": unknown, "after": unknown });
    let examples = [
        ("get_activity", json!({ "activityId": unknown })),
        (
            "list_activities",
            json!({ "filterByStatus": [""], "filterByType": [""], "paginationOptions": options }),
        ),
        ("get_user", json!({ "userId": unknown })),
        ("get_api_keys", json!({ "userId": unknown })),
        ("get_wallet_account", json!({ "walletId": unknown, "address": "", "path": "" })),
        ("list_wallet_accounts", json!({ "walletId": unknown, "paginationOptions": options })),
        ("list_suborgs", json!({ "filterType": "NAME", "filterValue": "", "paginationOptions": options })),
    ];
    let mut choices = Choices::of_seed(2);
    for _ in 0..ROUNDS {
        for (query, good) in &examples {
            let mut body = good.clone();
            body["organizationId"] = json!(root.organization());
            let mut all = Vec::new();
            collect_pointers(&body, "", &mut all);
            let pointer = &all[choices.below(all.len())];
            *body.pointer_mut(pointer).expect("a value in the body") = random_value(&mut choices);
            let reply = root.send(&format!("/public/v1/query/{query}"), body.to_string().as_bytes()).await;
            assert!(reply.status < 500, "{pointer}: {reply}");
        }
    }
    root.fetch("whoami", json!({})).await;
}
