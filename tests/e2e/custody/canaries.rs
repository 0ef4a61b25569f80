//! Imported keys are used, and the daemon is sealed: none of them is in its memory, its log, its store, a backup or a journal.

use std::fs;

use quorate_tests::caller::Caller;
use quorate_tests::installation::Installation;
use quorate_tests::memory::count;
use quorate_tests::requests::{self, SIGN};
use serde_json::{Value, json};
use turnkey_enclave_encrypt::{ImportClient, QuorumPublicKey};

use super::faults::process;
use super::{KEY_FILE, Stage};
use crate::canaries::files;

/// A mnemonic of the test vectors of BIP-39.
const MNEMONIC: &str = "hamster diagram private dutch cause delay private meat slide toddler razor book happy fancy gospel tennis maple dilemma loan word shrug inflict delay length";
/// Its entropy.
const ENTROPY: &str = "68a79eaca2324873eacc50cb9c6eca8cc68ea5d936f98787c60c7ebc74e6ce7c";
/// A scalar (the key of RFC 6979, section A.2.5, which is also valid on secp256k1).
const SCALAR: &str = "c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721";

/// The forms in which a secret could be found.
fn forms(hex: &str) -> Vec<Vec<u8>> {
    let bytes = const_hex::decode(hex).expect("hex");
    let reversed: Vec<u8> = bytes.iter().rev().copied().collect();
    vec![hex.as_bytes().to_vec(), hex.to_uppercase().into_bytes(), bytes, reversed]
}

fn found(haystack: &[u8], needle: &[u8]) -> usize {
    haystack.windows(needle.len()).filter(|window| *window == needle).count()
}

async fn import(root: &Caller, installation: &Installation, organization: &str) -> [String; 2] {
    let user = root.fetch("whoami", json!({})).await["userId"].as_str().expect("an id").to_owned();
    let mut connection = quorate_tests::http::Listener::Socket(installation.path("run/socket"))
        .connect()
        .await
        .expect("a daemon");
    let path = "/public/v1/discovery/quorum-key";
    let keys = connection.call(hyper::Method::GET, path, &[], b"").await.expect("an answer").success();
    let quorum =
        QuorumPublicKey::from_string(keys["quorumPublicKeys"].as_str().expect("keys")).expect("keys");
    let bundle = |result: &Value| result["importBundle"].as_str().expect("a bundle").to_owned();
    let begun = root.result("ACTIVITY_TYPE_INIT_IMPORT_WALLET", &json!({ "userId": user })).await;
    let encrypted = ImportClient::new(&quorum)
        .encrypt_wallet_with_bundle(MNEMONIC, bundle(&begun), organization, &user)
        .expect("a bundle");
    let account = requests::account(0);
    let wallet = json!({ "userId": user, "walletName": "canary", "encryptedBundle": encrypted, "accounts": [account] });
    let imported = root.result("ACTIVITY_TYPE_IMPORT_WALLET", &wallet).await;
    let begun = root.result("ACTIVITY_TYPE_INIT_IMPORT_PRIVATE_KEY", &json!({ "userId": user })).await;
    let encrypted = ImportClient::new(&quorum)
        .encrypt_private_key_with_bundle(
            const_hex::decode(SCALAR).expect("hex"),
            bundle(&begun),
            organization,
            &user,
        )
        .expect("a bundle");
    let key = json!({ "userId": user, "privateKeyName": "canary", "encryptedBundle": encrypted, "curve": "CURVE_SECP256K1",
        "addressFormats": ["ADDRESS_FORMAT_ETHEREUM"] });
    let created = root.result("ACTIVITY_TYPE_IMPORT_PRIVATE_KEY", &key).await;
    let text = |value: &Value| value.as_str().expect("an address").to_owned();
    [text(&imported["addresses"][0]), text(&created["addresses"][0]["address"])]
}

#[tokio::test]
async fn imported_keys_are_nowhere_after_the_daemon_is_sealed() {
    let stage = Stage::prepare(true).await;
    let installation = &stage.installation;
    let configuration = fs::read_to_string(installation.path("quorated.toml")).expect("a file");
    installation.configure(&format!("[journal]\npath = \"changes.journal\"\n\n{configuration}"));
    assert!(configuration.contains(KEY_FILE));
    let served = installation.serve().await;
    let root = stage.root(&served);
    let addresses = import(&root, installation, &stage.organization).await;
    for number in 0..20 {
        for address in &addresses {
            root.completed(SIGN, &requests::sign(address, &number.to_string())).await;
        }
    }
    let backup = installation.path("a.backup");
    let made = installation.run("backup", &["--to", backup.to_str().expect("UTF-8")]).await;
    assert_eq!(made.code, 0, "{made:#?}");
    assert_eq!(installation.run("rotate", &[]).await.code, 0);
    let sealed = installation.run("seal", &["--confirm", "seal"]).await;
    assert_eq!(sealed.code, 0, "{sealed:#?}");

    let mut secrets = vec![MNEMONIC.as_bytes().to_vec()];
    secrets.extend(forms(ENTROPY));
    secrets.extend(forms(SCALAR));
    // The words alone, too.
    secrets.push(MNEMONIC.split(' ').take(4).collect::<Vec<_>>().join(" ").into_bytes());
    let mut all = files(&installation.path("data"));
    for name in ["log", "a.backup", "changes.journal"] {
        all.extend(fs::read(installation.path(name)).expect("a file"));
    }
    assert!(
        found(&all, b"quorate-journal/1") > 0 && found(&all, b"quorate-backup/1") > 0,
        "the files are searched"
    );
    for secret in &secrets {
        assert_eq!(found(&all, secret), 0, "in a file");
    }
    let process = process(&served);
    match count(process, b"quorate") {
        None => {
            eprintln!("SKIPPED: the memory of the daemon is protected from this user; root can search it");
        }
        Some(0) => panic!("the search finds nothing"),
        Some(_) => {}
    }
    for secret in &secrets {
        assert!([None, Some(0)].contains(&count(process, secret)), "in the memory of the sealed daemon");
    }
}
