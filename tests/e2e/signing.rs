//! Every curve, encoding and hash. Each signature is verified with a library that the daemon does not sign
//! with.

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256K1_SHA256_FIXED, ED25519, UnparsedPublicKey, VerificationAlgorithm,
};
use k256::ecdsa::signature::hazmat::PrehashVerifier;
use quorate_tests::caller::Caller;
use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::requests::{CREATE_WALLET, SIGN};
use serde_json::{Value, json};
use sha2::Sha256;
use sha3::{Digest, Keccak256};

const CREATE_PRIVATE_KEYS: &str = "ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2";
const SIGN_MANY: &str = "ACTIVITY_TYPE_SIGN_RAW_PAYLOADS";

const TEXT: &str = "PAYLOAD_ENCODING_TEXT_UTF8";
const HEX: &str = "PAYLOAD_ENCODING_HEXADECIMAL";

fn bytes(text: &Value) -> Vec<u8> {
    const_hex::decode(text.as_str().expect("a text")).expect("hex")
}

fn joined(result: &Value) -> Vec<u8> {
    [bytes(&result["r"]), bytes(&result["s"])].concat()
}

/// Creates a private key and returns its id and public key.
async fn private_key(root: &Caller, curve: &str, format: &str) -> (String, Vec<u8>) {
    let key = json!({
        "privateKeyName": format!("{curve} {format}"),
        "curve": format!("CURVE_{curve}"),
        "privateKeyTags": [],
        "addressFormats": [format!("ADDRESS_FORMAT_{format}")],
    });
    let created = root.result(CREATE_PRIVATE_KEYS, &json!({ "privateKeys": [key] })).await;
    let id = created["privateKeys"][0]["privateKeyId"].as_str().expect("an id").to_owned();
    let stored = root.fetch("get_private_key", json!({ "privateKeyId": id })).await;
    (id, bytes(&stored["privateKey"]["publicKey"]))
}

fn payload(sign_with: &str, payload: &str, encoding: &str, hash: &str) -> Value {
    let hash = format!("HASH_FUNCTION_{hash}");
    json!({ "signWith": sign_with, "payload": payload, "encoding": encoding, "hashFunction": hash })
}

fn verifies(
    algorithm: &'static dyn VerificationAlgorithm,
    key: &[u8],
    message: &[u8],
    result: &Value,
) -> bool {
    UnparsedPublicKey::new(algorithm, key).verify(message, &joined(result)).is_ok()
}

#[tokio::test]
async fn signs_with_every_curve() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    for (curve, format, hash, algorithm) in [
        ("SECP256K1", "ETHEREUM", "SHA256", &ECDSA_P256K1_SHA256_FIXED as &'static dyn VerificationAlgorithm),
        ("P256", "COMPRESSED", "SHA256", &ECDSA_P256_SHA256_FIXED),
        ("ED25519", "SOLANA", "NOT_APPLICABLE", &ED25519),
    ] {
        let (id, key) = private_key(&root, curve, format).await;
        let text = root.result(SIGN, &payload(&id, "é by text", TEXT, hash)).await;
        assert!(verifies(algorithm, &key, "é by text".as_bytes(), &text), "{curve}: {text:#}");
        let hex = root.result(SIGN, &payload(&id, "00ff10", HEX, hash)).await;
        assert!(verifies(algorithm, &key, &[0x00, 0xff, 0x10], &hex), "{curve}: {hex:#}");
        let prefixed = root.result(SIGN, &payload(&id, "0x00ff10", HEX, hash)).await;
        assert!(verifies(algorithm, &key, &[0x00, 0xff, 0x10], &prefixed), "{curve}: {prefixed:#}");
    }
}

#[tokio::test]
async fn signs_with_every_hash() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    let (id, key) = private_key(&root, "SECP256K1", "ETHEREUM").await;
    let key = k256::ecdsa::VerifyingKey::from_sec1_bytes(&key).expect("a public key");
    let keccak = Keccak256::digest(b"hashed").to_vec();
    for (hash, text, encoding) in
        [("KECCAK256", "hashed".to_owned(), TEXT), ("NO_OP", const_hex::encode(&keccak), HEX)]
    {
        let result = root.result(SIGN, &payload(&id, &text, encoding, hash)).await;
        let signature = k256::ecdsa::Signature::from_slice(&joined(&result)).expect("a signature");
        assert!(key.verify_prehash(&keccak, &signature).is_ok(), "{hash}: {result:#}");
        assert_eq!(signature.normalize_s(), signature, "s is in the lower half: {result:#}");
        let v = u8::from_str_radix(result["v"].as_str().expect("a text"), 16).expect("hex");
        let recovery = k256::ecdsa::RecoveryId::from_byte(v).expect("0 or 1");
        let recovered = k256::ecdsa::VerifyingKey::recover_from_prehash(&keccak, &signature, recovery);
        assert_eq!(recovered.expect("a key"), key, "v recovers the key: {result:#}");
    }
    root.submit(SIGN, &payload(&id, "text", TEXT, "NOT_APPLICABLE")).await.expect_error(400, 3, "*");
    let (id, _) = private_key(&root, "ED25519", "SOLANA").await;
    root.submit(SIGN, &payload(&id, "text", TEXT, "SHA256")).await.expect_error(400, 3, "*");
}

#[tokio::test]
async fn signs_several_payloads_in_one_activity() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    let (id, key) = private_key(&root, "SECP256K1", "COMPRESSED").await;
    let payloads: Vec<String> = (0..20).map(|number| format!("payload {number}")).collect();
    let mut parameters = payload(&id, "", TEXT, "SHA256");
    parameters.as_object_mut().expect("an object").remove("payload");
    parameters["payloads"] = json!(payloads);
    let result = root.result(SIGN_MANY, &parameters).await;
    let signatures = result["signatures"].as_array().expect("signatures");
    assert_eq!(signatures.len(), payloads.len());
    for (text, signature) in payloads.iter().zip(signatures) {
        assert!(verifies(&ECDSA_P256K1_SHA256_FIXED, &key, text.as_bytes(), signature), "{text}");
    }
}

#[tokio::test]
async fn accepts_every_identifier_of_a_key() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    let (id, key) = private_key(&root, "SECP256K1", "ETHEREUM").await;
    let stored = root.fetch("get_private_key", json!({ "privateKeyId": id })).await;
    let address = stored["privateKey"]["addresses"][0]["address"].as_str().expect("an address").to_owned();
    let first = root.result(SIGN, &payload(&id, "named", TEXT, "SHA256")).await;
    for identifier in [address.clone(), const_hex::encode(&key)] {
        let result = root.result(SIGN, &payload(&identifier, "named", TEXT, "SHA256")).await;
        assert_eq!(result, first, "{identifier}: the same key signs deterministically");
    }
    let old = json!({
        "privateKeyId": id, "payload": "named", "encoding": TEXT, "hashFunction": "HASH_FUNCTION_SHA256",
    });
    assert_eq!(root.result("ACTIVITY_TYPE_SIGN_RAW_PAYLOAD", &old).await, first);
}

/// Returns the x coordinate of the public key that an address contains.
fn x_coordinate_of(address: &str) -> [u8; 32] {
    if address.starts_with("bc") {
        let (_, _, program) = bech32::segwit::decode(address).expect("an address of Bitcoin");
        return program.try_into().expect("an output key");
    }
    let (_, data) = bech32::decode(address).expect("an address of Spark");
    // A protocol buffer with one field, a compressed point.
    data.get(3..).and_then(|x| x.try_into().ok()).expect("a point")
}

#[tokio::test]
async fn the_address_format_selects_the_signature_scheme() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    let formats =
        ["BITCOIN_MAINNET_P2TR", "BITCOIN_REGTEST_P2TR", "SPARK_MAINNET", "SPARK_REGTEST", "ETHEREUM"];
    let names = formats.map(|format| format!("ADDRESS_FORMAT_{format}"));
    let key = json!({"privateKeyName": "many", "curve": "CURVE_SECP256K1", "privateKeyTags": [], "addressFormats": names});
    let created = root.result(CREATE_PRIVATE_KEYS, &json!({ "privateKeys": [key] })).await;
    let addresses = created["privateKeys"][0]["addresses"].as_array().expect("addresses").clone();
    let accounts: Vec<Value> = names
        .iter()
        .map(|format| {
            json!({"curve": "CURVE_SECP256K1", "pathFormat": "PATH_FORMAT_BIP32", "path": "m/86'/0'/0'/0/0", "addressFormat": format})
        })
        .collect();
    let wallet = root.result(CREATE_WALLET, &json!({"walletName": "many", "accounts": accounts})).await;
    let of_wallet = wallet["addresses"].as_array().expect("addresses").iter();
    let all = addresses.iter().map(|each| &each["address"]).chain(of_wallet);
    let digest: [u8; 32] = Sha256::digest(b"by address").into();
    let message = secp256k1::Message::from_digest(digest);
    let mut schnorr = 0;
    for address in all.map(|address| address.as_str().expect("a text")) {
        let result = root.result(SIGN, &payload(address, "by address", TEXT, "SHA256")).await;
        if address.starts_with("0x") {
            let signature = k256::ecdsa::Signature::from_slice(&joined(&result)).expect("a signature");
            let v = u8::from_str_radix(result["v"].as_str().expect("a text"), 16).expect("hex");
            let recovery = k256::ecdsa::RecoveryId::from_byte(v).expect("0 or 1");
            let key = k256::ecdsa::VerifyingKey::recover_from_prehash(&digest, &signature, recovery)
                .expect("a key");
            let point = key.to_sec1_point(false);
            let account = Keccak256::digest(&point.as_bytes()[1..]);
            assert_eq!(address.to_lowercase(), const_hex::encode_prefixed(&account[12..]));
            continue;
        }
        let signature = secp256k1::schnorr::Signature::from_slice(&joined(&result)).expect("a signature");
        let key = secp256k1::XOnlyPublicKey::from_slice(&x_coordinate_of(address)).expect("a key");
        assert!(signature.verify(&message, &key).is_ok(), "{address}: {result:#}");
        assert_eq!(result["v"], "00");
        schnorr += 1;
    }
    assert_eq!(schnorr, 8);
}

#[tokio::test]
async fn a_wallet_signs_with_every_address_format() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    let mut accounts = Vec::new();
    for curve in quorate_chain::Curve::ALL {
        for format in quorate_chain::address::AddressFormat::ALL.iter().filter(|format| format.fits(*curve)) {
            accounts.push(
                json!({"curve": curve.name(), "pathFormat": "PATH_FORMAT_BIP32", "path": "m/44'/1'/0'/0/0",
                "addressFormat": format.name()}),
            );
        }
    }
    assert_eq!(accounts.len(), 38 + 3, "some formats belong to several curves");
    let created = root.result(CREATE_WALLET, &json!({"walletName": "every", "accounts": accounts})).await;
    let addresses = created["addresses"].as_array().expect("addresses");
    for (account, address) in accounts.iter().zip(addresses) {
        let address = address.as_str().expect("a text");
        let hash = if account["curve"] == "CURVE_ED25519" { "NOT_APPLICABLE" } else { "SHA256" };
        let result = root.result(SIGN, &payload(address, "00", HEX, hash)).await;
        assert_eq!(joined(&result).len(), 64, "{account}");
    }
}
