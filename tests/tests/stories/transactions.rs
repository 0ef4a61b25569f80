//! Transactions and typed data of each chain: judged by what stands in them, shown by it, and signed so that anybody
//! can check it.

use quorate_tests::caller::Caller;
use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::keys::Key;
use quorate_tests::operator::Operator;
use quorate_tests::requests::{CREATE_WALLET, make_user};
use serde_json::{Value, json};
use turnkey_enclave_encrypt::{ImportClient, QuorumPublicKey};

use crate::rulings::{approve, text, waiting};

mod bitcoin;
mod ethereum;
mod solana;
mod tron;
mod typed_data;

const SIGN: &str = "ACTIVITY_TYPE_SIGN_TRANSACTION_V2";
const MNEMONIC: &str =
    "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about";

/// Parameters that sign a transaction of a chain.
fn transaction(chain: &str, address: &str, unsigned: &str) -> Value {
    json!({"signWith": address, "unsignedTransaction": unsigned, "type": format!("TRANSACTION_TYPE_{chain}")})
}

fn bytes(hex: &str) -> Vec<u8> {
    const_hex::decode(hex).expect("hex")
}

/// A row of a file of vectors.
fn row(file: &str, case: &str) -> Value {
    let file: Value = serde_json::from_str(file).expect("JSON");
    let mut rows = file["rows"].as_array().expect("rows").iter();
    rows.find(|row| row["case"] == case).unwrap_or_else(|| panic!("{case} is missing")).clone()
}

/// A payer who may sign what is small alone, and what is large with somebody else.
struct Purse {
    daemon: Daemon,
    root: Caller,
    payer: Caller,
}

impl Purse {
    /// A payer under policies with these conditions.
    async fn judged_by(small: &str, large: &str) -> Self {
        let daemon = Daemon::start(Options::quorum(1, 2)).await;
        let root = daemon.root(0);
        let key = Key::named("payer");
        let payer = make_user(&root, "payer", &key).await;
        let alone = format!("approvers.any(user, user.id == '{payer}')");
        for (name, condition, consensus) in
            [("small", small, alone.as_str()), ("large", large, "approvers.count() >= 2")]
        {
            let policy = json!({"policyName": name, "effect": "EFFECT_ALLOW", "condition": condition,
                "consensus": consensus, "notes": ""});
            root.completed("ACTIVITY_TYPE_CREATE_POLICY_V3", &policy).await;
        }
        let payer = root.with_key(&key);
        Self { daemon, root, payer }
    }

    /// What seals a secret, the target to seal it to, and for whom.
    async fn import(&self, kind: &str) -> (ImportClient, String, &str) {
        let user = self.daemon.root_id(0);
        let init = format!("ACTIVITY_TYPE_INIT_IMPORT_{kind}");
        let begun = self.root.result(&init, &json!({"userId": user})).await;
        let bundle = text(&begun["importBundle"]).to_owned();
        // The key for encryption, which this helper does not use, and the one for signatures.
        let quorum = self.daemon.credentials().quorum_public_key.repeat(2);
        let quorum = QuorumPublicKey::from_string(quorum).expect("two points");
        (ImportClient::new(&quorum), bundle, user)
    }

    /// Brings the account of [`MNEMONIC`] at a path in, and returns its address.
    async fn account(&self, curve: &str, path: &str, format: &str) -> String {
        let (mut seal, bundle, user) = self.import("WALLET").await;
        let bundle = seal
            .encrypt_wallet_with_bundle(MNEMONIC, bundle, self.root.organization(), user)
            .expect("a bundle");
        let account = json!({"curve": format!("CURVE_{curve}"), "pathFormat": "PATH_FORMAT_BIP32", "path": path,
            "addressFormat": format!("ADDRESS_FORMAT_{format}")});
        let wallet =
            json!({"userId": user, "walletName": "purse", "encryptedBundle": bundle, "accounts": [account]});
        let made = self.root.result("ACTIVITY_TYPE_IMPORT_WALLET", &wallet).await;
        text(&made["addresses"][0]).to_owned()
    }

    /// Brings a private key of secp256k1 in, and returns its address.
    async fn key(&self, secret: &str, format: &str) -> String {
        let (mut seal, bundle, user) = self.import("PRIVATE_KEY").await;
        let bundle = seal
            .encrypt_private_key_with_bundle(bytes(secret), bundle, self.root.organization(), user)
            .expect("a bundle");
        let key = json!({"userId": user, "privateKeyName": "purse", "encryptedBundle": bundle,
            "curve": "CURVE_SECP256K1", "addressFormats": [format]});
        let made = self.root.result("ACTIVITY_TYPE_IMPORT_PRIVATE_KEY", &key).await;
        text(&made["addresses"][0]["address"]).to_owned()
    }

    /// The result of what the payer may do alone.
    async fn pays(&self, activity_type: &str, parameters: &Value) -> Value {
        self.payer.result(activity_type, parameters).await
    }

    /// The review of what waits for somebody else, all of whose checks pass, and the result once it is approved.
    async fn pays_with_another(&self, activity_type: &str, parameters: &Value) -> (Value, Value) {
        let pending = self.payer.waiting(activity_type, parameters).await;
        assert_eq!(pending["result"], json!({}), "nothing is signed yet: {pending:#}");
        let bob = Operator::root(&self.daemon, 1);
        let why = waiting(&bob, &pending["id"]).await;
        assert_eq!(why["reason"], "POLICY_CONSENSUS", "{why:#}");
        let review = bob.run(&["review", text(&pending["id"])]).await.with(0).json();
        all_pass(&review);
        assert_eq!(approve(&bob, &pending["id"]).await.with(0).json()["outcome"], "executed");
        let done = self.root.activity(&pending["id"]).await;
        let results = done["result"].as_object().expect("a result");
        assert_eq!(results.len(), 1, "{done:#}");
        (review, results.values().next().cloned().unwrap_or_default())
    }
}

/// Asserts that a console proved by itself whatever it can prove: the key of the proposer and the quorum are as old as its
/// first look (K6, K10), the quorum and the policies are stated (K8), and it stands on the daemon's host (K11).
fn all_pass(review: &Value) {
    assert_eq!(review["blocked"], false, "{review:#}");
    let checks = review["checks"].as_array().expect("checks");
    let open: Vec<_> =
        checks.iter().filter(|check| check["mark"] != "[v]").map(|check| text(&check["id"])).collect();
    assert_eq!(open, ["K6", "K8", "K10", "K11"], "{review:#}");
}

/// Asserts that a review's sentence has these words.
fn tells(review: &Value, words: &str) {
    let sentence = text(&review["sentence"]);
    assert!(sentence.contains(words), "{words}: {sentence}");
}

/// Asserts that a field of a review has this value.
fn shows(review: &Value, name: &str, value: &str) {
    let mut fields =
        review["fields"].as_array().expect("fields").iter().chain(review["facts"].as_array().expect("facts"));
    let found = fields.find(|field| field["name"] == name);
    assert_eq!(found.map(|field| &field["value"]), Some(&json!(value)), "{name}: {review:#}");
}

#[tokio::test]
async fn what_is_no_transaction_is_refused() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    let accounts: Vec<Value> = [("SECP256K1", "ETHEREUM"), ("P256", "COMPRESSED")]
        .map(|(curve, format)| {
            json!({"curve": format!("CURVE_{curve}"), "pathFormat": "PATH_FORMAT_BIP32", "path": "m/44'/60'/0'/0/0",
                "addressFormat": format!("ADDRESS_FORMAT_{format}")})
        })
        .to_vec();
    let wallet = root.result(CREATE_WALLET, &json!({"walletName": "hot", "accounts": accounts})).await;
    let (address, other) = (text(&wallet["addresses"][0]), text(&wallet["addresses"][1]));
    let signed = root.result(SIGN, &transaction("ETHEREUM", address, ethereum::ONE)).await;
    for (with, unsigned) in [
        (address, ""),
        (address, "0"),
        (address, "zz"),
        (address, "c0"),
        (address, &ethereum::ONE[..ethereum::ONE.len() - 2]),
        (address, &format!("{}00", ethereum::ONE)),
        (address, text(&signed["signedTransaction"])),
        (other, ethereum::ONE),
    ] {
        let told = root.submit(SIGN, &transaction("ETHEREUM", with, unsigned)).await.refusal(
            400,
            3,
            "INVALID_TRANSACTION",
        );
        assert!(told.starts_with("failed to parse transaction"), "{unsigned}: {told}");
    }
    let tempo = transaction("TEMPO", address, ethereum::ONE);
    root.submit(SIGN, &tempo).await.refusal(400, 3, "UNSUPPORTED_TRANSACTION_TYPE");
}
