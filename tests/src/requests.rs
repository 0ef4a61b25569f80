//! Parameters that many stories send.

use serde_json::{Value, json};

use crate::caller::Caller;
use crate::keys::Key;

/// Type of the submit that signs one payload.
pub const SIGN: &str = "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2";
/// Type of the submit that makes a wallet.
pub const CREATE_WALLET: &str = "ACTIVITY_TYPE_CREATE_WALLET";
/// Type of the submit that makes users.
pub const CREATE_USERS: &str = "ACTIVITY_TYPE_CREATE_USERS_V4";
/// Type of the submit that makes API keys.
pub const CREATE_API_KEYS: &str = "ACTIVITY_TYPE_CREATE_API_KEYS_V2";
/// Type of the submit that makes a sub-organization.
pub const CREATE_SUB_ORGANIZATION: &str = "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8";
/// Type of the submit that changes the root quorum.
pub const UPDATE_ROOT_QUORUM: &str = "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM";

/// A secp256k1 account whose address is its uncompressed public key, so that signatures can be checked
/// with nothing but the address.
pub fn account(index: u32) -> Value {
    json!({
        "curve": "CURVE_SECP256K1",
        "pathFormat": "PATH_FORMAT_BIP32",
        "path": format!("m/44'/60'/0'/0/{index}"),
        "addressFormat": "ADDRESS_FORMAT_UNCOMPRESSED",
    })
}

/// A wallet with one such account.
pub fn wallet(name: &str) -> Value {
    json!({ "walletName": name, "accounts": [account(0)] })
}

/// Signs a text after hashing it with SHA-256.
pub fn sign(sign_with: &str, text: &str) -> Value {
    json!({
        "signWith": sign_with,
        "payload": text,
        "encoding": "PAYLOAD_ENCODING_TEXT_UTF8",
        "hashFunction": "HASH_FUNCTION_SHA256",
    })
}

/// An API key to register.
pub fn api_key(name: &str, key: &Key) -> Value {
    json!({ "apiKeyName": name, "publicKey": key.public_key(), "curveType": key.curve_name() })
}

/// API keys for a user.
pub fn api_keys(user: &str, keys: &[Value]) -> Value {
    json!({ "userId": user, "apiKeys": keys })
}

/// A user with one API key, outside the root quorum.
pub fn user(name: &str, key: &Key) -> Value {
    let mut user = root_user(name, key);
    user["userTags"] = json!([]);
    json!({ "users": [user] })
}

/// A root user with one API key, for a sub-organization.
pub fn root_user(name: &str, key: &Key) -> Value {
    json!({ "userName": name, "apiKeys": [api_key("first", key)], "authenticators": [], "oauthProviders": [] })
}

/// A sub-organization.
pub fn sub_organization(name: &str, root_users: &[Value], threshold: u32) -> Value {
    json!({ "subOrganizationName": name, "rootUsers": root_users, "rootQuorumThreshold": threshold })
}

/// Makes a wallet and returns the address of its account, for a caller who can do so alone.
pub async fn make_wallet(caller: &Caller, name: &str) -> String {
    let result = caller.result(CREATE_WALLET, &wallet(name)).await;
    result["addresses"][0].as_str().expect("an address").to_owned()
}

/// Makes a user outside the root quorum and returns the id, for a caller who can do so alone.
pub async fn make_user(caller: &Caller, name: &str, key: &Key) -> String {
    let result = caller.result(CREATE_USERS, &user(name, key)).await;
    result["userIds"][0].as_str().expect("a user id").to_owned()
}

/// Makes a sub-organization and returns its id, for a caller who can do so alone.
pub async fn make_sub_organization(
    caller: &Caller,
    name: &str,
    root_users: &[Value],
    threshold: u32,
) -> String {
    let result = caller.result(CREATE_SUB_ORGANIZATION, &sub_organization(name, root_users, threshold)).await;
    result["subOrganizationId"].as_str().expect("an organization id").to_owned()
}

/// Proposes so many tags, which must all wait for votes. Several are under way at once; none is proposed twice.
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
