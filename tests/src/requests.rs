//! Parameters that many scenarios send.

use serde_json::{Value, json};

use crate::caller::Caller;
use crate::keys::Key;

/// Activity type that signs one payload.
pub const SIGN: &str = "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2";
/// Activity type that creates a wallet.
pub const CREATE_WALLET: &str = "ACTIVITY_TYPE_CREATE_WALLET";
/// Activity type that creates users.
pub const CREATE_USERS: &str = "ACTIVITY_TYPE_CREATE_USERS_V4";
/// Activity type that creates API keys.
pub const CREATE_API_KEYS: &str = "ACTIVITY_TYPE_CREATE_API_KEYS_V2";
/// Activity type that creates a sub-organization.
pub const CREATE_SUB_ORGANIZATION: &str = "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8";
/// Activity type that changes the root quorum.
pub const UPDATE_ROOT_QUORUM: &str = "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM";

/// Returns a secp256k1 account whose address is its uncompressed public key, so that signatures can be
/// verified with the address alone.
pub fn account(index: u32) -> Value {
    json!({
        "curve": "CURVE_SECP256K1",
        "pathFormat": "PATH_FORMAT_BIP32",
        "path": format!("m/44'/60'/0'/0/{index}"),
        "addressFormat": "ADDRESS_FORMAT_UNCOMPRESSED",
    })
}

/// Returns a wallet with one such account.
pub fn wallet(name: &str) -> Value {
    json!({ "walletName": name, "accounts": [account(0)] })
}

/// Returns the parameters to sign a text, hashed with SHA-256.
pub fn sign(sign_with: &str, text: &str) -> Value {
    json!({
        "signWith": sign_with,
        "payload": text,
        "encoding": "PAYLOAD_ENCODING_TEXT_UTF8",
        "hashFunction": "HASH_FUNCTION_SHA256",
    })
}

/// Returns an API key to register.
pub fn api_key(name: &str, key: &Key) -> Value {
    json!({ "apiKeyName": name, "publicKey": key.public_key(), "curveType": key.curve_name() })
}

/// Returns API keys for a user.
pub fn api_keys(user: &str, keys: &[Value]) -> Value {
    json!({ "userId": user, "apiKeys": keys })
}

/// Returns a user with one API key, outside of the root quorum.
pub fn user(name: &str, key: &Key) -> Value {
    let mut user = root_user(name, key);
    user["userTags"] = json!([]);
    json!({ "users": [user] })
}

/// Returns a root user with one API key, for a sub-organization.
pub fn root_user(name: &str, key: &Key) -> Value {
    json!({ "userName": name, "apiKeys": [api_key("first", key)], "authenticators": [], "oauthProviders": [] })
}

/// Returns a sub-organization with these root users and this root quorum threshold.
pub fn sub_organization(name: &str, root_users: &[Value], threshold: u32) -> Value {
    json!({ "subOrganizationName": name, "rootUsers": root_users, "rootQuorumThreshold": threshold })
}

/// Creates a wallet and returns the address of its account. The caller must be able to decide alone.
pub async fn create_wallet(caller: &Caller, name: &str) -> String {
    let result = caller.result(CREATE_WALLET, &wallet(name)).await;
    result["addresses"][0].as_str().expect("an address").to_owned()
}

/// Creates a user outside of the root quorum and returns its id. The caller must be able to decide alone.
pub async fn create_user(caller: &Caller, name: &str, key: &Key) -> String {
    let result = caller.result(CREATE_USERS, &user(name, key)).await;
    result["userIds"][0].as_str().expect("a user id").to_owned()
}

/// Creates a sub-organization and returns its id. The caller must be able to decide alone.
pub async fn create_sub_organization(
    caller: &Caller,
    name: &str,
    root_users: &[Value],
    threshold: u32,
) -> String {
    let result = caller.result(CREATE_SUB_ORGANIZATION, &sub_organization(name, root_users, threshold)).await;
    result["subOrganizationId"].as_str().expect("an organization id").to_owned()
}

/// Proposes `count` tags, which must all wait for votes. Several requests run concurrently; none is proposed
/// twice.
pub async fn propose_tags(caller: &Caller, count: usize) {
    const AT_ONCE: usize = 8;
    let mut workers = tokio::task::JoinSet::new();
    for worker in 0..AT_ONCE {
        let caller = caller.clone();
        workers.spawn(async move {
            for number in (worker..count).step_by(AT_ONCE) {
                let tag = json!({ "userTagName": format!("tag {number}"), "userIds": [] });
                caller.waiting("ACTIVITY_TYPE_CREATE_USER_TAG", &tag).await;
            }
        });
    }
    workers.join_all().await;
}

/// Signs `count` payloads with a key of its own. Several requests run concurrently. The caller must be able to decide
/// alone.
pub async fn sign_payloads(caller: &Caller, count: usize) {
    const AT_ONCE: usize = 8;
    let address = create_wallet(caller, "signer").await;
    let mut workers = tokio::task::JoinSet::new();
    for worker in 0..AT_ONCE {
        let (caller, address) = (caller.clone(), address.clone());
        workers.spawn(async move {
            for number in (worker..count).step_by(AT_ONCE) {
                let payload = sign(&address, &format!("payload {number}"));
                caller.completed("ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", &payload).await;
            }
        });
    }
    workers.join_all().await;
}
