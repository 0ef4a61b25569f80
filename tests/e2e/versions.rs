//! Every version of every kind that older and newer clients send, with the expected result.

use quorate_tests::caller::Caller;
use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::keys::Key;
use quorate_tests::requests;
use serde_json::{Value, json};

/// Submits an activity, asserts the member names of intent and result, and returns the result.
async fn check(root: &Caller, name: &str, parameters: &Value, intent: &str, result: &str) -> Value {
    let activity = root.completed(&format!("ACTIVITY_TYPE_{name}"), parameters).await;
    assert!(activity["intent"][intent].is_object(), "{name}: {activity:#}");
    assert!(activity["result"][result].is_object(), "{name}: {activity:#}");
    activity["result"][result].clone()
}

fn old_key(name: &str) -> Value {
    json!({ "apiKeyName": name, "publicKey": Key::named(name).public_key() })
}

fn new_key(name: &str) -> Value {
    requests::api_key(name, &Key::named(name))
}

#[tokio::test]
async fn every_version_of_create_users() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    let user = |name: &str, key: Value| {
        json!({
            "userName": name, "userEmail": format!("{name}@users.example"), "apiKeys": [key],
            "authenticators": [], "oauthProviders": [], "userTags": [],
        })
    };
    let mut first = user("v1", old_key("v1"));
    first["accessType"] = json!("ACCESS_TYPE_API");
    let mut created = Vec::new();
    for (name, user, intent) in [
        ("CREATE_USERS", first, "createUsersIntent"),
        ("CREATE_USERS_V2", user("v2", old_key("v2")), "createUsersIntentV2"),
        ("CREATE_USERS_V3", user("v3", new_key("v3")), "createUsersIntentV3"),
        ("CREATE_USERS_V4", user("v4", new_key("v4")), "createUsersIntentV4"),
    ] {
        let result = check(&root, name, &json!({ "users": [user] }), intent, "createUsersResult").await;
        created.push(result["userIds"][0].clone());
    }
    let api_only =
        json!({ "apiOnlyUsers": [{ "userName": "api", "userTags": [], "apiKeys": [old_key("api")] }] });
    let result = check(
        &root,
        "CREATE_API_ONLY_USERS",
        &api_only,
        "createApiOnlyUsersIntent",
        "createApiOnlyUsersResult",
    )
    .await;
    created.push(result["userIds"][0].clone());
    for (name, id) in ["v1", "v2", "v3", "v4", "api"].iter().zip(&created) {
        let seen = root.with_key(&Key::named(name)).fetch("whoami", json!({})).await;
        assert_eq!((&seen["userId"], &seen["username"]), (id, &json!(name)));
    }
    let result = check(
        &root,
        "DELETE_USERS",
        &json!({ "userIds": created }),
        "deleteUsersIntent",
        "deleteUsersResult",
    )
    .await;
    assert_eq!(result["userIds"], json!(created));
}

#[tokio::test]
async fn every_version_of_create_api_keys() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    let me = daemon.root_id(0);
    let mut expiring = old_key("key v1");
    expiring["expirationSeconds"] = json!("3600");
    let parameters = requests::api_keys(me, &[expiring]);
    check(&root, "CREATE_API_KEYS", &parameters, "createApiKeysIntent", "createApiKeysResult").await;
    let parameters = requests::api_keys(me, &[new_key("key v2")]);
    let created =
        check(&root, "CREATE_API_KEYS_V2", &parameters, "createApiKeysIntentV2", "createApiKeysResult").await;

    let keys = root.fetch("get_api_keys", json!({ "userId": me })).await;
    let keys = keys["apiKeys"].as_array().expect("keys").clone();
    assert_eq!(keys.len(), 3);
    let first = keys.iter().find(|key| key["apiKeyName"] == "key v1").expect("listed");
    assert_eq!(first["expirationSeconds"], "3600");
    let one = root.fetch("get_api_key", json!({ "apiKeyId": created["apiKeyIds"][0] })).await;
    assert_eq!(one["apiKey"]["apiKeyName"], "key v2");
    let deletion = json!({ "userId": me, "apiKeyIds": created["apiKeyIds"] });
    let deleted =
        check(&root, "DELETE_API_KEYS", &deletion, "deleteApiKeysIntent", "deleteApiKeysResult").await;
    assert_eq!(deleted, created);
}

#[tokio::test]
async fn every_version_of_create_sub_organization() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    let children = |key: fn(&str) -> Value, name: &str| {
        let user = json!({
            "userName": "child root", "apiKeys": [key(name)], "authenticators": [], "oauthProviders": [],
        });
        json!({ "subOrganizationName": name, "rootUsers": [user], "rootQuorumThreshold": 1 })
    };
    let with = |mut child: Value, member: &str, value: Value| {
        child[member] = value;
        child
    };
    let private_key = json!([{
        "privateKeyName": "first", "curve": "CURVE_ED25519", "privateKeyTags": [],
        "addressFormats": ["ADDRESS_FORMAT_SOLANA"],
    }]);
    let wallet = |child: Value| with(child, "wallet", requests::wallet("first"));
    let rows = [
        ("V2", children(old_key, "V2"), ""),
        ("V3", with(children(old_key, "V3"), "privateKeys", private_key), "V3"),
        ("V4", wallet(children(old_key, "V4")), "V4"),
        ("V5", wallet(children(old_key, "V5")), "V5"),
        ("V6", wallet(children(new_key, "V6")), "V6"),
        ("V7", wallet(children(new_key, "V7")), "V7"),
        ("V8", wallet(children(new_key, "V8")), "V8"),
    ];
    let mut ids = Vec::new();
    for (version, parameters, suffix) in rows {
        let name = format!("CREATE_SUB_ORGANIZATION_{version}");
        let intent = format!("createSubOrganizationIntent{version}");
        let result = format!("createSubOrganizationResult{suffix}");
        let created = check(&root, &name, &parameters, &intent, &result).await;
        let child =
            root.on(created["subOrganizationId"].as_str().expect("an id")).with_key(&Key::named(version));
        let seen = child.fetch("whoami", json!({})).await;
        assert_eq!(created["rootUserIds"], json!([seen["userId"]]), "{version}");
        assert_eq!(seen["organizationName"], version);
        match version {
            "V2" => {}
            "V3" => assert_eq!(created["privateKeys"].as_array().map(Vec::len), Some(1)),
            _ => assert_eq!(created["wallet"]["addresses"].as_array().map(Vec::len), Some(1)),
        }
        ids.push(created["subOrganizationId"].clone());
    }
    let listed = root.fetch("list_suborgs", json!({})).await;
    let listed = listed["organizationIds"].as_array().expect("ids").clone();
    assert!(ids.iter().all(|id| listed.contains(id)), "{listed:?}");
    let named = root.fetch("list_suborgs", json!({ "filterType": "NAME", "filterValue": "V5" })).await;
    assert_eq!(named["organizationIds"], json!([ids[3]]));
    let key = Key::named("V7");
    let by_key = json!({ "filterType": "PUBLIC_KEY", "filterValue": key.public_key().to_uppercase() });
    assert_eq!(root.fetch("list_suborgs", by_key).await["organizationIds"], json!([ids[5]]));
}

#[tokio::test]
async fn every_version_of_private_keys_and_features() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    let key = |name: &str| {
        json!({ "privateKeys": [{
            "privateKeyName": name, "curve": "CURVE_SECP256K1", "privateKeyTags": [],
            "addressFormats": ["ADDRESS_FORMAT_ETHEREUM", "ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH"],
        }] })
    };
    let old =
        check(&root, "CREATE_PRIVATE_KEYS", &key("v1"), "createPrivateKeysIntent", "createPrivateKeysResult")
            .await;
    assert_eq!(old["privateKeyIds"].as_array().map(Vec::len), Some(1));
    let new = check(
        &root,
        "CREATE_PRIVATE_KEYS_V2",
        &key("v2"),
        "createPrivateKeysIntentV2",
        "createPrivateKeysResultV2",
    )
    .await;
    let addresses = new["privateKeys"][0]["addresses"].clone();
    assert_eq!(addresses[0]["format"], "ADDRESS_FORMAT_ETHEREUM");
    assert!(
        addresses[0]["address"].as_str().is_some_and(|address| address.starts_with("0x")),
        "{addresses:#}"
    );
    assert!(
        addresses[1]["address"].as_str().is_some_and(|address| address.starts_with("bc1q")),
        "{addresses:#}"
    );
    let listed = root.fetch("list_private_keys", json!({})).await;
    assert_eq!(listed["privateKeys"].as_array().map(Vec::len), Some(2));

    let set = json!({ "name": "FEATURE_NAME_EMAIL_AUTH" });
    let on = check(
        &root,
        "SET_ORGANIZATION_FEATURE",
        &set,
        "setOrganizationFeatureIntent",
        "setOrganizationFeatureResult",
    )
    .await;
    assert_eq!(on["features"][0]["name"], "FEATURE_NAME_EMAIL_AUTH");
    let configs = root.fetch("get_organization_configs", json!({})).await;
    assert_eq!(configs["configs"]["features"][0]["name"], "FEATURE_NAME_EMAIL_AUTH");
    let off = check(
        &root,
        "REMOVE_ORGANIZATION_FEATURE",
        &set,
        "removeOrganizationFeatureIntent",
        "removeOrganizationFeatureResult",
    )
    .await;
    assert_eq!(off["features"], json!([]));
}

#[tokio::test]
async fn accepts_enums_by_number_and_absent_lists() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    let numbers = json!({ "curve": 1, "pathFormat": 1, "path": "m/0", "addressFormat": 3 });
    let wallet = json!({ "walletName": "numbers", "accounts": [numbers] });
    let created = root.completed(requests::CREATE_WALLET, &wallet).await;
    assert_eq!(
        created["intent"]["createWalletIntent"]["accounts"][0]["curve"], "CURVE_SECP256K1",
        "{created:#}"
    );
    let user = json!({ "users": [{ "userName": "short", "apiKeys": [new_key("short")] }] });
    root.completed(requests::CREATE_USERS, &user).await;
    let empty = json!({ "walletName": "no accounts", "accounts": [] });
    let created = root.result(requests::CREATE_WALLET, &empty).await;
    assert_eq!(created["addresses"], json!([]));
}
