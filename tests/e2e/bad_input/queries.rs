//! Invalid queries, and queries for resources of other organizations.

use quorate_tests::keys::Key;
use quorate_tests::requests::{self, SIGN};
use serde_json::{Value, json};

use super::{Expected, INVALID, check, daemon, state};

const UNKNOWN_ID: &str = "00000000-0000-4000-8000-000000000003";

const NOT_FOUND: Expected = Expected { status: 404, code: 5, reason: "*", message: "" };

/// Columns: name, query, members.
const INVALID_ROWS: &str = r#"
activity not named | get_activity       | {}
activity a number  | get_activity       | {"activityId":1}
user not named     | get_user           | {}
wallet not named   | get_wallet         | {}
status unknown     | list_activities    | {"filterByStatus":["DONE"]}
type unknown       | list_activities    | {"filterByType":["ACTIVITY_TYPE_NO_SUCH"]}
filter a text      | list_activities    | {"filterByStatus":"ACTIVITY_STATUS_FAILED"}
page too long      | list_activities    | {"paginationOptions":{"limit":"101"}}
page in words      | list_activities    | {"paginationOptions":{"limit":"many"}}
cursor unknown     | list_activities    | {"paginationOptions":{"after":"00000000-0000-4000-8000-000000000003"}}
cursor in words    | list_activities    | {"paginationOptions":{"after":"there"}}
filter of no kind  | list_suborgs       | {"filterType":"COLOUR","filterValue":"red"}
"#;

#[tokio::test]
async fn rejects_invalid_queries() {
    let (daemon, address) = daemon().await;
    let root = daemon.root(0);
    let before = state(&root).await;
    for row in INVALID_ROWS.lines().filter(|row| !row.is_empty()) {
        let cells: Vec<&str> = row.splitn(3, '|').map(str::trim).collect();
        let [name, query, members] = cells[..] else { panic!("a row has three cells: {row}") };
        let mut members: Value = serde_json::from_str(members).expect("the members are JSON");
        members["organizationId"] = json!(root.organization());
        let path = format!("/public/v1/query/{query}");
        check(&root, name, &path, members.to_string().as_bytes(), &INVALID).await;
    }
    for (query, members) in [
        ("get_activity", json!({ "activityId": UNKNOWN_ID })),
        ("get_user", json!({ "userId": UNKNOWN_ID })),
        ("get_api_key", json!({ "apiKeyId": UNKNOWN_ID })),
        ("get_private_key", json!({ "privateKeyId": UNKNOWN_ID })),
        ("get_wallet", json!({ "walletId": UNKNOWN_ID })),
        ("get_wallet_account", json!({ "walletId": UNKNOWN_ID, "address": address })),
    ] {
        let mut members = members;
        members["organizationId"] = json!(root.organization());
        let path = format!("/public/v1/query/{query}");
        check(&root, query, &path, members.to_string().as_bytes(), &NOT_FOUND).await;
    }
    assert_eq!(state(&root).await, before, "nothing has changed");
}

#[tokio::test]
async fn accounts_are_queried_by_address_or_path() {
    let (daemon, address) = daemon().await;
    let root = daemon.root(0);
    let wallets = root.fetch("list_wallets", json!({})).await;
    let wallet = &wallets["wallets"][0]["walletId"];
    let path = requests::account(0)["path"].clone();
    for members in [json!({ "address": address }), json!({ "path": path })] {
        let mut members = members;
        members["walletId"] = wallet.clone();
        let answer = root.fetch("get_wallet_account", members).await;
        assert_eq!(answer["account"]["address"], address.as_str());
    }
    let both = json!({ "walletId": wallet, "address": address, "path": path });
    for members in [json!({ "walletId": wallet }), both] {
        root.query("get_wallet_account", members).await.expect_error(400, 3, "*");
    }
    let unknown = json!({ "walletId": wallet, "path": "m/44'/60'/0'/0/7" });
    root.query("get_wallet_account", unknown).await.expect_error(404, 5, "*");
}

#[tokio::test]
async fn ids_of_other_organizations_look_unknown() {
    let (daemon, address) = daemon().await;
    let root = daemon.root(0);
    let key = Key::named("other organization");
    let users = [requests::root_user("root", &key)];
    let child = requests::create_sub_organization(&root, "other", &users, 1).await;
    let child = root.on(&child).with_key(&key);
    let wallets = root.fetch("list_wallets", json!({})).await;
    let activity = root.activities().await[0]["id"].clone();
    for (query, member, other) in [
        ("get_activity", "activityId", activity),
        ("get_user", "userId", json!(daemon.root_id(0))),
        ("get_api_key", "apiKeyId", json!(daemon.credentials().root_users[0].api_key_id)),
        ("get_wallet", "walletId", wallets["wallets"][0]["walletId"].clone()),
    ] {
        let fetch = async |id: &Value| {
            let mut members = json!({});
            members[member] = id.clone();
            let reply = child.query(query, members).await;
            reply.expect_error(404, 5, "*");
            String::from_utf8_lossy(&reply.body).replace(id.as_str().unwrap_or_default(), "ID")
        };
        assert_eq!(fetch(&other).await, fetch(&json!(UNKNOWN_ID)).await, "{query}");
    }
    let reply = child.submit(SIGN, &requests::sign(&address, "text")).await;
    reply.expect_error(404, 5, "");
}
