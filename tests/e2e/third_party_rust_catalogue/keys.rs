//! Private keys, their tags, wallets, signing, import and export.

use quorate_tests::proof;
use serde_json::{Value, json};
use turnkey_enclave_encrypt::{ExportClient, ImportClient, QuorumPublicKey};

use super::{Caller, Participants, listed, text};

const MNEMONIC: &str =
    "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about";
/// Public key at `m/44'/60'/0'/0/0` of that mnemonic, compressed. The private key and the address belong to
/// it.
const PUBLIC_KEY: &str = "0237b0bb7a8288d38ed49a524b5dc98cff3eb5ca824c9f9dc0dfdb3d9cd600f299";
const SCALAR: &str = "1ab42cc412b618bdea3a599e3c9bae199ebf030895b039e9db1e30dafb12b727";
const ADDRESS: &str = "0x9858EfFD232B4033E47d90003D41EC34EcaEda94";

pub(super) async fn private_keys(Participants { alice, .. }: &Participants) {
    let result = submit!(alice, create_private_keys, {"privateKeys": [{"privateKeyName": "rust",
        "curve": "CURVE_SECP256K1", "privateKeyTags": [], "addressFormats": ["ADDRESS_FORMAT_UNCOMPRESSED"]}]});
    let id = text(&result["privateKeys"][0]["privateKeyId"]);
    let address = &result["privateKeys"][0]["addresses"][0]["address"];
    let addresses = json!([{"format": "ADDRESS_FORMAT_UNCOMPRESSED", "address": address}]);
    assert_eq!(result, json!({"privateKeys": [{"privateKeyId": id, "addresses": addresses}]}));
    let shown = fetch!(alice, get_private_key, {"privateKeyId": id});
    assert_eq!(
        shown,
        json!({"privateKey": {"privateKeyId": id, "privateKeyName": "rust", "curve": "CURVE_SECP256K1",
            "publicKey": shown["privateKey"]["publicKey"], "addresses": addresses, "privateKeyTags": [],
            "createdAt": "time", "updatedAt": "time", "exported": false, "imported": false}})
    );
    assert_eq!(listed(&fetch!(alice, get_private_keys, {}), "privateKeys", "privateKeyId"), [id]);
    let deleted = submit!(alice, delete_private_keys, {"privateKeyIds": [id], "deleteWithoutExport": true});
    assert_eq!(deleted, json!({"privateKeyIds": [id]}));
    assert_eq!(fetch!(alice, get_private_keys, {}), json!({"privateKeys": []}));
}

pub(super) async fn tags(Participants { alice, .. }: &Participants) {
    let key = |name: &str| json!({"privateKeyName": name, "curve": "CURVE_ED25519", "privateKeyTags": [], "addressFormats": []});
    let result = submit!(alice, create_private_keys, {"privateKeys": [key("one"), key("two")]});
    let [one, two] = [0, 1].map(|index| text(&result["privateKeys"][index]["privateKeyId"]));
    let result =
        submit!(alice, create_private_key_tag, {"privateKeyTagName": "rust", "privateKeyIds": [one]});
    let tag = text(&result["privateKeyTagId"]);
    assert_eq!(result, json!({"privateKeyTagId": tag, "privateKeyIds": [one]}));
    let updated = submit!(alice, update_private_key_tag, {"privateKeyTagId": tag, "newPrivateKeyTagName": "rust renamed",
        "addPrivateKeyIds": [two], "removePrivateKeyIds": [one]});
    assert_eq!(updated, json!({"privateKeyTagId": tag}));
    assert_eq!(
        fetch!(alice, list_private_key_tags, {}),
        json!({"privateKeyTags": [{"tagId": tag, "tagName": "rust renamed", "tagType": "TAG_TYPE_PRIVATE_KEY",
            "createdAt": "time", "updatedAt": "time"}]})
    );
    let tagged = |shown: Value| shown["privateKey"]["privateKeyTags"].clone();
    assert_eq!(tagged(fetch!(alice, get_private_key, {"privateKeyId": one})), json!([]));
    assert_eq!(tagged(fetch!(alice, get_private_key, {"privateKeyId": two})), json!([tag]));
    let deleted = submit!(alice, delete_private_key_tags, {"privateKeyTagIds": [tag]});
    assert_eq!(deleted, json!({"privateKeyTagIds": [tag], "privateKeyIds": [two]}));
    assert_eq!(fetch!(alice, list_private_key_tags, {}), json!({"privateKeyTags": []}));
    assert_eq!(tagged(fetch!(alice, get_private_key, {"privateKeyId": two})), json!([]));
    submit!(alice, delete_private_keys, {"privateKeyIds": [one, two], "deleteWithoutExport": true});
}

fn account(index: u32) -> Value {
    json!({"curve": "CURVE_SECP256K1", "pathFormat": "PATH_FORMAT_BIP32", "name": format!("account {index}"),
        "path": format!("m/44'/60'/0'/0/{index}"), "addressFormat": "ADDRESS_FORMAT_UNCOMPRESSED"})
}

pub(super) async fn wallets(Participants { alice, .. }: &Participants) {
    let result = submit!(alice, create_wallet, {"walletName": "rust", "accounts": [account(0)]});
    let (id, public_key) = (text(&result["walletId"]), text(&result["addresses"][0]));
    assert_eq!(result, json!({"walletId": id, "addresses": [public_key]}));
    let updated = submit!(alice, update_wallet, {"walletId": id, "walletName": "rust renamed"});
    assert_eq!(updated, json!({"walletId": id}));
    let wallet = json!({"walletId": id, "walletName": "rust renamed", "createdAt": "time", "updatedAt": "time",
        "exported": false, "imported": false});
    assert_eq!(fetch!(alice, get_wallet, {"walletId": id}), json!({"wallet": wallet}));
    assert_eq!(fetch!(alice, get_wallets, {}), json!({"wallets": [wallet]}));

    let result = submit!(alice, create_wallet_accounts, {"walletId": id, "accounts": [account(1)]});
    let address = text(&result["addresses"][0]);
    assert_eq!(result, json!({"addresses": [address]}));
    let account_answer = fetch!(alice, get_wallet_account, {"walletId": id, "address": address});
    let more = text(&account_answer["account"]["walletAccountId"]);
    let mut expected = account(1);
    for (name, member) in [
        ("walletAccountId", more),
        ("organizationId", &alice.organization),
        ("walletId", id),
        ("address", address),
        ("publicKey", text(&account_answer["account"]["publicKey"])),
        ("createdAt", "time"),
        ("updatedAt", "time"),
    ] {
        expected[name] = json!(member);
    }
    assert_eq!(account_answer, json!({"account": expected}));
    let accounts = fetch!(alice, get_wallet_accounts, {"walletId": id});
    assert_eq!(listed(&accounts, "accounts", "name"), ["account 0", "account 1"]);
    signatures(alice, public_key).await;
    transaction(alice, public_key).await;

    let deleted =
        submit!(alice, delete_wallet_accounts, {"walletAccountIds": [more], "deleteWithoutExport": true});
    assert_eq!(deleted, json!({"walletAccountIds": [more]}));
    let accounts = fetch!(alice, get_wallet_accounts, {"walletId": id});
    assert_eq!(listed(&accounts, "accounts", "name"), ["account 0"]);
    let deleted = submit!(alice, delete_wallets, {"walletIds": [id], "deleteWithoutExport": true});
    assert_eq!(deleted, json!({"walletIds": [id]}));
    assert_eq!(fetch!(alice, get_wallets, {}), json!({"wallets": []}));
}

async fn signatures(alice: &Caller, public_key: &str) {
    let one = submit!(alice, sign_raw_payload, {"signWith": public_key, "payload": "one",
        "encoding": "PAYLOAD_ENCODING_TEXT_UTF8", "hashFunction": "HASH_FUNCTION_SHA256"});
    let more = submit!(alice, sign_raw_payloads, {"signWith": public_key, "payloads": ["two", "three"],
        "encoding": "PAYLOAD_ENCODING_TEXT_UTF8", "hashFunction": "HASH_FUNCTION_SHA256"});
    let signed = [("one", &one), ("two", &more["signatures"][0]), ("three", &more["signatures"][1])];
    for (payload, signature) in signed {
        assert!(proof::is_signed(public_key, payload.as_bytes(), signature), "{payload} is not signed");
    }
    assert_eq!(more, json!({"signatures": [signed[1].1, signed[2].1]}));
}

async fn transaction(alice: &Caller, public_key: &str) {
    // The example of EIP-155: its members, and the placeholder for the signature.
    let (members, unsigned) =
        ("098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a764000080", "018080");
    let signed = submit!(alice, sign_transaction, {"signWith": public_key,
        "unsignedTransaction": format!("ec{members}{unsigned}"), "type": "TRANSACTION_TYPE_ETHEREUM"});
    let bytes = text(&signed["signedTransaction"]);
    assert_eq!(signed, json!({"signedTransaction": bytes}));
    // The signature on chain 1 starts with v, which is 37 or 38.
    let rest = bytes.split_once(members).expect("the unsigned members").1;
    assert!(rest.starts_with("25") || rest.starts_with("26"), "{bytes}");
}

/// Returns the trusted key that signs bundles.
fn quorum(Participants { daemon, .. }: &Participants) -> QuorumPublicKey {
    // The encryption key, which these helpers do not use, and the signing key.
    QuorumPublicKey::from_string(daemon.credentials().quorum_public_key.repeat(2)).expect("two points")
}

pub(super) async fn imported_wallets(participants: &Participants) {
    let (Participants { daemon, alice, .. }, quorum) = (participants, quorum(participants));
    let user = daemon.root_id(0);
    let begun = submit!(alice, init_import_wallet, {"userId": user});
    let bundle = text(&begun["importBundle"]);
    assert_eq!(begun, json!({"importBundle": bundle}));
    let encrypted = ImportClient::new(&quorum)
        .encrypt_wallet_with_bundle(MNEMONIC, bundle, &alice.organization, user)
        .expect("a bundle");
    let first = json!({"curve": "CURVE_SECP256K1", "pathFormat": "PATH_FORMAT_BIP32", "path": "m/44'/60'/0'/0/0",
        "addressFormat": "ADDRESS_FORMAT_ETHEREUM"});
    let result = submit!(alice, import_wallet, {"userId": user, "walletName": "in and out",
        "encryptedBundle": encrypted, "accounts": [first]});
    let id = text(&result["walletId"]);
    assert_eq!(result, json!({"walletId": id, "addresses": [ADDRESS]}));
    let wallet = |exported: bool| {
        json!({"wallet": {"walletId": id, "walletName": "in and out", "createdAt": "time", "updatedAt": "time",
            "exported": exported, "imported": true}})
    };
    assert_eq!(fetch!(alice, get_wallet, {"walletId": id}), wallet(false));

    let mut export = ExportClient::new(&quorum);
    let answer = submit!(alice, export_wallet_account,
        {"address": ADDRESS, "targetPublicKey": export.target_public_key().expect("a target")});
    let bundle = text(&answer["exportBundle"]);
    assert_eq!(answer, json!({"address": ADDRESS, "exportBundle": bundle}));
    let secret = export.decrypt_private_key(bundle, &alice.organization).expect("a key");
    assert_eq!(const_hex::encode(secret), SCALAR);

    let mut export = ExportClient::new(&quorum);
    let answer = submit!(alice, export_wallet,
        {"walletId": id, "targetPublicKey": export.target_public_key().expect("a target")});
    let bundle = text(&answer["exportBundle"]);
    assert_eq!(answer, json!({"walletId": id, "exportBundle": bundle}));
    let mnemonic = export.decrypt_wallet_mnemonic_phrase(bundle, &alice.organization).expect("a mnemonic");
    assert_eq!(mnemonic, MNEMONIC);
    assert_eq!(fetch!(alice, get_wallet, {"walletId": id}), wallet(true));
    let deleted = submit!(alice, delete_wallets, {"walletIds": [id]});
    assert_eq!(deleted, json!({"walletIds": [id]}));
}

pub(super) async fn imported_keys(participants: &Participants) {
    let (Participants { daemon, alice, .. }, quorum) = (participants, quorum(participants));
    let user = daemon.root_id(0);
    let begun = submit!(alice, init_import_private_key, {"userId": user});
    let bundle = text(&begun["importBundle"]);
    assert_eq!(begun, json!({"importBundle": bundle}));
    let encrypted = ImportClient::new(&quorum)
        .encrypt_private_key_with_bundle(
            const_hex::decode(SCALAR).expect("hex"),
            bundle,
            &alice.organization,
            user,
        )
        .expect("a bundle");
    let result = submit!(alice, import_private_key, {"userId": user, "privateKeyName": "in and out",
        "encryptedBundle": encrypted, "curve": "CURVE_SECP256K1", "addressFormats": ["ADDRESS_FORMAT_ETHEREUM"]});
    let id = text(&result["privateKeyId"]);
    let addresses = json!([{"format": "ADDRESS_FORMAT_ETHEREUM", "address": ADDRESS}]);
    assert_eq!(result, json!({"privateKeyId": id, "addresses": addresses}));
    let key = |exported: bool| {
        json!({"privateKey": {"privateKeyId": id, "privateKeyName": "in and out", "curve": "CURVE_SECP256K1",
            "publicKey": PUBLIC_KEY, "addresses": addresses, "privateKeyTags": [], "createdAt": "time",
            "updatedAt": "time", "exported": exported, "imported": true}})
    };
    assert_eq!(fetch!(alice, get_private_key, {"privateKeyId": id}), key(false));

    let mut export = ExportClient::new(&quorum);
    let answer = submit!(alice, export_private_key,
        {"privateKeyId": id, "targetPublicKey": export.target_public_key().expect("a target")});
    let bundle = text(&answer["exportBundle"]);
    assert_eq!(answer, json!({"privateKeyId": id, "exportBundle": bundle}));
    let secret = export.decrypt_private_key(bundle, &alice.organization).expect("a key");
    assert_eq!(const_hex::encode(secret), SCALAR);
    assert_eq!(fetch!(alice, get_private_key, {"privateKeyId": id}), key(true));
    let deleted = submit!(alice, delete_private_keys, {"privateKeyIds": [id]});
    assert_eq!(deleted, json!({"privateKeyIds": [id]}));
}

const SUITE: &str = "TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1";

pub(super) async fn secrets(participants: &Participants) {
    let (Participants { alice, .. }, quorum) = (participants, quorum(participants));
    let begun = submit!(alice, init_import_secrets, {"encryptionSuite": SUITE, "numSecrets": 1});
    let message = text(&begun["enclaveTargetMessages"][0]);
    assert_eq!(begun, json!({"enclaveTargetMessages": [message]}));
    // The user is not named, because the target key belongs to that user.
    let sealed = ImportClient::new(&quorum)
        .encrypt_wallet_with_bundle("a password", message, &alice.organization, "")
        .expect("a bundle");
    let target: Value = serde_json::from_str(message).expect("JSON");
    let target = const_hex::decode(text(&target["data"])).expect("hex");
    let target: Value = serde_json::from_slice(&target).expect("JSON");
    let properties = json!([{"key": "stage", "value": "test"}]);
    let result = submit!(alice, import_secrets, {"secrets": [{"name": "rust", "secretPayload": sealed,
        "targetPublicKey": target["targetPublic"], "encryptionSuite": SUITE, "staticProperties": properties}]});
    let id = text(&result["secretIds"][0]);
    assert_eq!(result, json!({"secretIds": [id]}));
    let listed = fetch!(alice, list_secrets, {});
    let created = &listed["secrets"][0]["createdAtUnixMs"];
    let secret =
        json!({"secretId": id, "name": "rust", "staticProperties": properties, "createdAtUnixMs": created});
    assert_eq!(listed, json!({"secrets": [secret]}));
    let mut export = ExportClient::new(&quorum);
    let answer = submit!(alice, export_secrets, {"secrets": [{"secretId": id, "encryptionSuite": SUITE,
        "targetPublicKey": export.target_public_key().expect("a target"), "requestContext": []}]});
    let payload = text(&answer["secretPayloads"][0]);
    assert_eq!(answer, json!({"secretPayloads": [payload]}));
    let value = export.decrypt_wallet_mnemonic_phrase(payload, &alice.organization).expect("a value");
    assert_eq!(value, "a password");
    assert_eq!(submit!(alice, delete_secrets, {"secretIds": [id]}), json!({"secretIds": [id]}));
    assert_eq!(fetch!(alice, list_secrets, {}), json!({"secrets": []}));
}
