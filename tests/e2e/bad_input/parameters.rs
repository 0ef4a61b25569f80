//! Well-formed parameters with invalid values.

use quorate_tests::caller::submit_path;
use quorate_tests::keys::Key;
use quorate_tests::requests::{self, CREATE_API_KEYS, CREATE_USERS, CREATE_WALLET, SIGN, UPDATE_ROOT_QUORUM};
use serde_json::{Value, json};

use super::{INVALID, check, check_rows, daemon, invalid, state};

const WALLETS: &str = r#"
no name                         | /walletName               | -                         | invalid request body: missing field `walletName`
name null                       | /walletName               | null                      |
name a number                   | /walletName               | 1                         |
name empty                      | /walletName               | ""                        |
name with NUL                   | /walletName               | "a\u0000b"                |
name with a line end            | /walletName               | "a\nb"                    |
accounts an object              | /accounts                 | {}                        |
account a text                  | /accounts/0               | "m/0"                     |
mnemonic of 13 words            | /mnemonicLength           | 13                        |
mnemonic of 0 words             | /mnemonicLength           | 0                         |
mnemonic a text                 | /mnemonicLength           | "twelve"                  |
mnemonic of 12.5 words          | /mnemonicLength           | 12.5                      |
mnemonic beyond 32 bits         | /mnemonicLength           | 4294967308                |
curve unknown                   | /accounts/0/curve         | "CURVE_P521"              | invalid curve
curve in lower case             | /accounts/0/curve         | "curve_secp256k1"         | invalid curve
curve unspecified               | /accounts/0/curve         | "CURVE_UNSPECIFIED"       |
curve absent                    | /accounts/0/curve         | -                         |
path format unknown             | /accounts/0/pathFormat    | "PATH_FORMAT_BIP44"       | invalid path format
address format unknown          | /accounts/0/addressFormat | "ADDRESS_FORMAT_NO_SUCH"  | invalid address format
address format of another curve | /accounts/0/addressFormat | "ADDRESS_FORMAT_SOLANA"   | invalid address format
soft step on Ed25519            | /accounts/0/curve         | "CURVE_ED25519"           |
path beyond 31 bits             | /accounts/0/path          | "m/2147483648"            | invalid path
path negative                   | /accounts/0/path          | "m/-1"                    | invalid path
path doubly hardened            | /accounts/0/path          | "m/0''"                   | invalid path
path with a gap                 | /accounts/0/path          | "m//0"                    | invalid path
path with an M                  | /accounts/0/path          | "M/0"                     | invalid path
path with a space               | /accounts/0/path          | "m/ 0"                    | invalid path
path empty                      | /accounts/0/path          | ""                        |
"#;

#[tokio::test]
async fn rejects_invalid_wallets() {
    let (daemon, _) = daemon().await;
    let root = daemon.root(0);
    let before = state(&root).await;
    let good = requests::wallet("never created");
    check_rows(&root, CREATE_WALLET, &good, WALLETS).await;

    let many: Vec<Value> = (0..10_000).map(requests::account).collect();
    let twice = [requests::account(1), requests::account(1)];
    let mut long = requests::account(0);
    long["path"] = json!(format!("m{}", "/0".repeat(300)));
    for (name, member, value) in [
        ("name too long", "walletName", json!("a".repeat(256))),
        ("too many accounts", "accounts", json!(many)),
        ("same path twice", "accounts", json!(twice)),
        ("path of 300 levels", "accounts", json!([long])),
    ] {
        let mut parameters = good.clone();
        parameters[member] = value;
        let body = root.proposal(CREATE_WALLET, &parameters);
        check(&root, name, &submit_path(CREATE_WALLET), &body, &INVALID).await;
    }
    assert_eq!(state(&root).await, before, "nothing has changed");
}

const PAYLOADS: &str = r#"
encoding unknown | /encoding     | "PAYLOAD_ENCODING_BASE64" | invalid payload encoding
hash unknown     | /hashFunction | "HASH_FUNCTION_MD5"       | invalid hash function
encoding null    | /encoding     | null                      |
encoding absent  | /encoding     | -                         |
payload null     | /payload      | null                      |
payload a number | /payload      | 1                         |
signer a list    | /signWith     | []                        |
signer empty     | /signWith     | ""                        |
signer absent    | /signWith     | -                         |
"#;

const HEX_PAYLOADS: &str = r#"
odd hex     | /payload | "abc"    |
not hex     | /payload | "zz"     |
hex with 0X | /payload | "0Xabcd" |
"#;

const LISTS: &str = r#"
no payloads      | /payloads   | []  |
no list          | /payloads   | "00"|
a number within  | /payloads/0 | 1   |
odd hex within   | /payloads/1 | "0" |
"#;

#[tokio::test]
async fn rejects_invalid_payloads() {
    let (daemon, address) = daemon().await;
    let root = daemon.root(0);
    let before = state(&root).await;
    let mut good = requests::sign(&address, "00");
    check_rows(&root, SIGN, &good, PAYLOADS).await;
    good["encoding"] = json!("PAYLOAD_ENCODING_HEXADECIMAL");
    check_rows(&root, SIGN, &good, HEX_PAYLOADS).await;

    good.as_object_mut().expect("an object").remove("payload");
    good["payloads"] = json!(["00", "00"]);
    check_rows(&root, "ACTIVITY_TYPE_SIGN_RAW_PAYLOADS", &good, LISTS).await;
    good["payloads"] = json!(vec!["00"; 1001]);
    let reply = root.submit("ACTIVITY_TYPE_SIGN_RAW_PAYLOADS", &good).await;
    reply.expect_error(400, 3, "*");
    assert_eq!(state(&root).await, before, "nothing has changed");
}

#[tokio::test]
async fn rejects_digests_of_other_lengths() {
    let (daemon, address) = daemon().await;
    let root = daemon.root(0);
    for bytes in [31, 33] {
        let mut parameters = requests::sign(&address, &"00".repeat(bytes));
        parameters["encoding"] = json!("PAYLOAD_ENCODING_HEXADECIMAL");
        parameters["hashFunction"] = json!("HASH_FUNCTION_NO_OP");
        let message = root.submit(SIGN, &parameters).await.expect_error(400, 3, "");
        assert_eq!(message, "expected a 32-bytes-long digest");
    }
}

const USERS: &str = r#"
no credential                | /users/0/apiKeys         | []                               | user missing valid credential
mail address without a host  | /users/0/userEmail       | "nobody"                         | invalid email address
mail address with a line end | /users/0/userEmail       | "a@b.example\r\nBcc: c@d.example" | invalid email address
phone number without country | /users/0/userPhoneNumber | "0123"                           |
tag that is no id            | /users/0/userTags        | ["tag"]                          |
name empty                   | /users/0/userName        | ""                               |
user a text                  | /users/0                 | "user"                           |
no users                     | /users                   | []                               |
key without a name           | /users/0/apiKeys/0/apiKeyName | ""                          |
"#;

const KEYS: &str = r#"
no lifetime      | /apiKeys/0/expirationSeconds | "0"       | invalid api key expiration
lifetime a word  | /apiKeys/0/expirationSeconds | "an hour" | invalid api key expiration
negative time    | /apiKeys/0/expirationSeconds | "-1"      | invalid api key expiration
unknown user     | /userId                      | "nobody"  |
no keys          | /apiKeys                     | []        |
key not hex      | /apiKeys/0/publicKey         | "key"     |
"#;

const QUORUM: &str = r#"
threshold 0         | /threshold | 0     | quorum threshold must be non-zero integer
threshold negative  | /threshold | -1    | quorum threshold must be non-zero integer
threshold too high  | /threshold | 2     |
threshold in words  | /threshold | "one" |
threshold a half    | /threshold | 0.5   |
no members          | /userIds   | []    |
member that is no id| /userIds/0 | "me"  |
member unknown      | /userIds/0 | "00000000-0000-4000-8000-000000000002" | quorum users missing
"#;

#[tokio::test]
async fn rejects_invalid_users_keys_and_quorums() {
    let (daemon, _) = daemon().await;
    let root = daemon.root(0);
    let before = state(&root).await;
    let me = daemon.root_id(0);
    let key = Key::named("never registered");
    check_rows(&root, CREATE_USERS, &requests::user("never created", &key), USERS).await;
    let keys = requests::api_keys(me, &[requests::api_key("never created", &key)]);
    check_rows(&root, CREATE_API_KEYS, &keys, KEYS).await;
    let quorum = json!({ "threshold": 1, "userIds": [me] });
    check_rows(&root, UPDATE_ROOT_QUORUM, &quorum, QUORUM).await;

    let own_key = &daemon.credentials().root_users[0].api_key_id;
    let missing = invalid("", "quorum users missing");
    for (name, activity_type, parameters, expected) in [
        ("member twice", UPDATE_ROOT_QUORUM, json!({ "threshold": 1, "userIds": [me, me] }), &INVALID),
        ("quorum emptied", "ACTIVITY_TYPE_DELETE_USERS", json!({ "userIds": [me] }), &missing),
        (
            "last credential deleted",
            "ACTIVITY_TYPE_DELETE_API_KEYS",
            json!({ "userId": me, "apiKeyIds": [own_key] }),
            &INVALID,
        ),
    ] {
        let body = root.proposal(activity_type, &parameters);
        check(&root, name, &submit_path(activity_type), &body, expected).await;
    }
    let mut after = state(&root).await;
    // Attempts that fail while they run may be recorded as failed.
    let activities = after["activities"].as_array_mut().expect("activities");
    activities.retain(|activity| activity["status"] != "ACTIVITY_STATUS_FAILED");
    assert_eq!(after, before, "nothing has changed");
}

#[tokio::test]
async fn failures_during_execution_are_recorded() {
    let (daemon, _) = daemon().await;
    let root = daemon.root(0);
    let before = root.activities().await.len();
    let unknown = format!("0x{}", "00".repeat(20));
    let body = root.proposal(SIGN, &requests::sign(&unknown, "text"));
    for _ in 0..2 {
        let reply = root.send(&submit_path(SIGN), &body).await;
        let message = reply.expect_error(404, 5, "");
        assert!(message.starts_with("Could not find any resource to sign with"), "{reply}");
    }
    let activities = root.activities().await;
    assert_eq!(activities.len(), before + 1, "recorded once");
    assert_eq!(activities[0]["status"], "ACTIVITY_STATUS_FAILED");
    assert_eq!(activities[0]["failure"]["code"], 5);
    assert_eq!(activities[0]["result"], json!({}));

    let wallets = root.fetch("list_wallets", json!({})).await;
    let wallet = &wallets["wallets"][0]["walletId"];
    let again = json!({ "walletId": wallet, "accounts": [requests::account(0)] });
    let reply = root.submit("ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS", &again).await;
    let message = reply.expect_error(409, 6, "");
    assert!(message.starts_with("path already exists in wallet account"), "{reply}");
}
