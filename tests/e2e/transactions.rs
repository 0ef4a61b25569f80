//! Transactions and typed data of each chain: policies evaluate their content, reviews show it, and anybody
//! can verify the signatures.

use quorate_tests::caller::Caller;
use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::keys::Key;
use quorate_tests::operator::Operator;
use quorate_tests::requests::{CREATE_WALLET, create_user};
use serde_json::{Value, json};
use turnkey_enclave_encrypt::{ImportClient, QuorumPublicKey};

use crate::policy_outcomes::{approve, text, waiting};

mod bitcoin;
mod ethereum;
mod solana;
mod tron;
mod typed_data;

const SIGN: &str = "ACTIVITY_TYPE_SIGN_TRANSACTION_V2";
const MNEMONIC: &str =
    "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about";

/// Returns the parameters to sign a transaction of a chain.
fn transaction(chain: &str, address: &str, unsigned: &str) -> Value {
    json!({"signWith": address, "unsignedTransaction": unsigned, "type": format!("TRANSACTION_TYPE_{chain}")})
}

fn bytes(hex: &str) -> Vec<u8> {
    const_hex::decode(hex).expect("hex")
}

/// Returns a row of a vector file.
fn row(file: &str, case: &str) -> Value {
    let file: Value = serde_json::from_str(file).expect("JSON");
    let mut rows = file["rows"].as_array().expect("rows").iter();
    rows.find(|row| row["case"] == case).unwrap_or_else(|| panic!("{case} is missing")).clone()
}

/// A payer who may sign small payments alone and large ones with a second user.
struct Payments {
    daemon: Daemon,
    root: Caller,
    payer: Caller,
}

impl Payments {
    /// Creates a payer under policies with these conditions.
    async fn with_policies(small: &str, large: &str) -> Self {
        let daemon = Daemon::start(Options::quorum(1, 2)).await;
        let root = daemon.root(0);
        let key = Key::named("payer");
        let payer = create_user(&root, "payer", &key).await;
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

    /// Starts an import. Returns the encrypting client, the import bundle and the id of the user.
    async fn import(&self, kind: &str) -> (ImportClient, String, &str) {
        let user = self.daemon.root_id(0);
        let init = format!("ACTIVITY_TYPE_INIT_IMPORT_{kind}");
        let begun = self.root.result(&init, &json!({"userId": user})).await;
        let bundle = text(&begun["importBundle"]).to_owned();
        // The encryption key, which this helper does not use, and the signing key.
        let quorum = self.daemon.credentials().quorum_public_key.repeat(2);
        let quorum = QuorumPublicKey::from_string(quorum).expect("two points");
        (ImportClient::new(&quorum), bundle, user)
    }

    /// Imports the account of [`MNEMONIC`] at a path and returns its address.
    async fn account(&self, curve: &str, path: &str, format: &str) -> String {
        let (mut seal, bundle, user) = self.import("WALLET").await;
        let bundle = seal
            .encrypt_wallet_with_bundle(MNEMONIC, bundle, self.root.organization(), user)
            .expect("a bundle");
        let account = json!({"curve": format!("CURVE_{curve}"), "pathFormat": "PATH_FORMAT_BIP32", "path": path,
            "addressFormat": format!("ADDRESS_FORMAT_{format}")});
        let wallet =
            json!({"userId": user, "walletName": "purse", "encryptedBundle": bundle, "accounts": [account]});
        let created = self.root.result("ACTIVITY_TYPE_IMPORT_WALLET", &wallet).await;
        text(&created["addresses"][0]).to_owned()
    }

    /// Imports a secp256k1 private key and returns its address.
    async fn key(&self, secret: &str, format: &str) -> String {
        let (mut seal, bundle, user) = self.import("PRIVATE_KEY").await;
        let bundle = seal
            .encrypt_private_key_with_bundle(bytes(secret), bundle, self.root.organization(), user)
            .expect("a bundle");
        let key = json!({"userId": user, "privateKeyName": "purse", "encryptedBundle": bundle,
            "curve": "CURVE_SECP256K1", "addressFormats": [format]});
        let created = self.root.result("ACTIVITY_TYPE_IMPORT_PRIVATE_KEY", &key).await;
        text(&created["addresses"][0]["address"]).to_owned()
    }

    /// Submits a payment that the payer may make alone, and returns the result.
    async fn pay(&self, activity_type: &str, parameters: &Value) -> Value {
        self.payer.result(activity_type, parameters).await
    }

    /// Submits a payment that needs a second user. Asserts that all checks of its review pass, approves it,
    /// and returns the review and the result.
    async fn pay_with_approval(&self, activity_type: &str, parameters: &Value) -> (Value, Value) {
        let pending = self.payer.waiting(activity_type, parameters).await;
        assert_eq!(pending["result"], json!({}), "nothing is signed yet: {pending:#}");
        let bob = Operator::root(&self.daemon, 1);
        let why = waiting(&bob, &pending["id"]).await;
        assert_eq!(why["reason"], "POLICY_CONSENSUS", "{why:#}");
        let review = bob.run(&["review", text(&pending["id"])]).await.with(0).json();
        assert_checks_pass(&review);
        assert_eq!(approve(&bob, &pending["id"]).await.with(0).json()["outcome"], "executed");
        let done = self.root.activity(&pending["id"]).await;
        let results = done["result"].as_object().expect("a result");
        assert_eq!(results.len(), 1, "{done:#}");
        (review, results.values().next().cloned().unwrap_or_default())
    }
}

/// Asserts that the console verified everything that it can verify. The proposer's key and the quorum are
/// known since the first use (K6, K10). The quorum and the policies are reported by the daemon (K8). The
/// console runs on the daemon's host (K11).
fn assert_checks_pass(review: &Value) {
    assert_eq!(review["blocked"], false, "{review:#}");
    let checks = review["checks"].as_array().expect("checks");
    // A state is in the activity log a moment after its commit (K12).
    let open = checks.iter().filter(|check| check["mark"] != "[v]" && check["id"] != "K12");
    let open: Vec<_> = open.map(|check| text(&check["id"])).collect();
    assert_eq!(open, ["K6", "K8", "K10", "K11"], "{review:#}");
}

/// Asserts that a review's sentence contains this text.
fn assert_sentence(review: &Value, words: &str) {
    let sentence = text(&review["sentence"]);
    assert!(sentence.contains(words), "{words}: {sentence}");
}

/// Asserts the value of a field of a review.
fn assert_field(review: &Value, name: &str, value: &str) {
    let mut fields =
        review["fields"].as_array().expect("fields").iter().chain(review["facts"].as_array().expect("facts"));
    let field = fields.find(|field| field["name"] == name);
    assert_eq!(field.map(|field| &field["value"]), Some(&json!(value)), "{name}: {review:#}");
}

#[tokio::test]
async fn rejects_invalid_transactions() {
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
        let message = root.submit(SIGN, &transaction("ETHEREUM", with, unsigned)).await.expect_error(
            400,
            3,
            "INVALID_TRANSACTION",
        );
        assert!(message.starts_with("failed to parse transaction"), "{unsigned}: {message}");
    }
    let tempo = transaction("TEMPO", address, ethereum::ONE);
    root.submit(SIGN, &tempo).await.expect_error(400, 3, "UNSUPPORTED_TRANSACTION_TYPE");
}
