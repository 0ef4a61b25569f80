//! Wallets and private keys are imported and exported with the unmodified helpers of the public clients: the
//! npm package `@turnkey/crypto` and the crate `turnkey_enclave_encrypt`. Each is configured with the key
//! that signs bundles.

use quorate_tests::daemon::{Daemon, Options};
use serde_json::{Value, json};
use turnkey_client::generated::immutable::activity::v1::{
    CreateWalletIntent, DeleteSecretsIntent, ExportPrivateKeyIntent, ExportWalletAccountIntent,
    ExportWalletIntent, ImportPrivateKeyIntent, ImportWalletIntent, InitImportPrivateKeyIntent,
    InitImportWalletIntent, WalletAccountParams,
};
use turnkey_client::generated::immutable::common::v1::{AddressFormat, Curve, MnemonicLanguage, PathFormat};
use turnkey_client::generated::services::coordinator::public::v1::ListSecretsRequest;
use turnkey_enclave_encrypt::errors::EnclaveEncryptError;
use turnkey_enclave_encrypt::{ExportClient, ImportClient, QuorumPublicKey};

use crate::third_party;
use crate::third_party_rust::{Client, assert_refused, client};

const MNEMONIC: &str =
    "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about";
/// The key at `m/44'/60'/0'/0/0` of that mnemonic, and its address.
const SCALAR: &str = "1ab42cc412b618bdea3a599e3c9bae199ebf030895b039e9db1e30dafb12b727";
const ADDRESS: &str = "0x9858EfFD232B4033E47d90003D41EC34EcaEda94";

/// Returns the vectors with the addresses of the mnemonic above.
fn rows() -> Vec<Value> {
    let file: Value =
        serde_json::from_str(include_str!("../../assets/vectors/chain/addresses.json")).expect("JSON");
    file["rows"].as_array().expect("rows").clone()
}

/// Asserts that the daemon rejected each part with an expected code.
fn assert_rejected(rejections: &Value, names: &[&str]) {
    for name in names {
        assert!(
            [3, 5, 7, 9].map(|code| json!(code)).contains(&rejections[name]["code"]),
            "{name}: {rejections:#}"
        );
    }
}

#[tokio::test]
async fn the_npm_helpers_import_and_export() {
    let (daemon, seen) = third_party::run("npm", &["node", "bundles.mjs"]).await;
    let wallets = &seen["wallets"];
    let addresses: Vec<Value> = rows().iter().map(|row| row["address"].clone()).collect();
    assert_eq!(wallets["addresses"], json!(addresses));
    assert_eq!(wallets["mnemonic"], MNEMONIC);
    assert_eq!(wallets["name"], "imported");
    assert_eq!(wallets["twice"]["code"], 6, "a seed cannot be imported twice: {wallets:#}");
    assert_eq!(wallets["before"], json!({"imported": true, "exported": false}));
    assert_eq!(wallets["after"], json!({"imported": true, "exported": true}));
    for (address, secrets) in wallets["secrets"].as_object().expect("secrets") {
        assert_eq!(secrets[0], secrets[1], "{address}: {wallets:#}");
    }
    let solana = &wallets["solana"];
    assert_eq!([&solana[0], &solana[1]], [&solana[2], &solana[2]], "{solana:#}");

    assert_eq!(seen["lengths"], json!({"12": true, "15": true, "18": true, "21": true, "24": true}));
    let keys = seen["keys"].as_object().expect("keys");
    assert_eq!(keys.len(), 4);
    for (name, key) in keys {
        assert_eq!([&key[0], &key[2]], [&key[1], &key[3]], "{name}: {key:#}");
    }

    let rejections = &seen["rejections"];
    assert_rejected(
        rejections,
        &["damaged", "twice", "ofBob", "noBundle", "walletAsKey", "checksum", "words"],
    );
    assert_rejected(rejections, &["forBob", "asBob", "zero", "order", "short", "target"]);
    assert_eq!(rejections["whole"], json!([addresses[0]]), "the undamaged bundle can still be imported");
    for (name, words) in [
        ("otherKey", "expected signer key"),
        ("otherUser", "user id"),
        ("otherOrganization", "organization id"),
    ] {
        let message = rejections[name]["message"].as_str().unwrap_or_default();
        assert!(message.starts_with(words), "{name}: {rejections:#}");
    }

    let targets = &seen["targets"];
    assert_rejected(targets, &["oldest"]);
    assert_eq!(targets["next"], json!([addresses[0]]), "the oldest of five is still usable");

    let schema = |members: [&str; 3]| {
        json!({"version": "v1.0.0", "rest": [], "key": true, "der": true, "members": members,
            "organizationId": daemon.credentials().organization_id})
    };
    let schemas = &seen["schemas"];
    assert_eq!(schemas["import"], schema(["targetPublic", "organizationId", "userId"]));
    assert_eq!(schemas["export"], schema(["encappedPublic", "ciphertext", "organizationId"]));
    assert_eq!(schemas["compressedTarget"], 12, "a compressed target is valid, too");
}

/// A user, and the trusted key that signs bundles.
struct Person {
    client: Client,
    organization: String,
    user: String,
    quorum: QuorumPublicKey,
}

impl Person {
    fn root(daemon: &Daemon, index: usize) -> Self {
        let credentials = daemon.credentials();
        // The encryption key, which these helpers do not use, and the signing key.
        let quorum = credentials.quorum_public_key.repeat(2);
        Self {
            client: client(daemon, &credentials.root_users[index].private_key),
            organization: credentials.organization_id.clone(),
            user: credentials.root_users[index].user_id.clone(),
            quorum: QuorumPublicKey::from_string(quorum).expect("two points"),
        }
    }

    fn request(&self) -> (String, u128) {
        (self.organization.clone(), self.client.current_timestamp())
    }

    /// Returns a bundle to import this mnemonic.
    async fn wallet_bundle(&self, mnemonic: &str) -> String {
        let (organization, now) = self.request();
        let intent = InitImportWalletIntent { user_id: self.user.clone() };
        let begun = self.client.init_import_wallet(organization, now, intent).await.expect("a target");
        let mut import = ImportClient::new(&self.quorum);
        let bundle = begun.result.import_bundle;
        import.encrypt_wallet_with_bundle(mnemonic, bundle, &self.organization, &self.user).expect("a bundle")
    }

    fn wallet(
        &self,
        name: &str,
        encrypted_bundle: String,
        accounts: Vec<WalletAccountParams>,
    ) -> ImportWalletIntent {
        ImportWalletIntent {
            user_id: self.user.clone(),
            wallet_name: name.to_owned(),
            encrypted_bundle,
            accounts,
        }
    }

    /// Exports the mnemonic of a wallet in a language.
    async fn mnemonic(&self, wallet_id: &str, language: Option<MnemonicLanguage>) -> String {
        let mut export = ExportClient::new(&self.quorum);
        let target_public_key = export.target_public_key().expect("a target");
        let intent = ExportWalletIntent { wallet_id: wallet_id.to_owned(), target_public_key, language };
        let (organization, now) = self.request();
        let bundle = self.client.export_wallet(organization, now, intent).await.expect("a bundle").result;
        export.decrypt_wallet_mnemonic_phrase(bundle.export_bundle, &self.organization).expect("a mnemonic")
    }
}

fn account(path: &str) -> WalletAccountParams {
    WalletAccountParams {
        curve: Curve::Secp256k1,
        path_format: PathFormat::Bip32,
        path: path.to_owned(),
        address_format: AddressFormat::Ethereum,
        name: None,
    }
}

#[tokio::test]
async fn the_rust_helpers_import_and_export_wallets() {
    let daemon = Daemon::start(Options::quorum(1, 2)).await;
    let alice = Person::root(&daemon, 0);
    let bundle = alice.wallet_bundle(MNEMONIC).await;
    let accounts = vec![account("m/44'/60'/0'/0/0")];
    let (organization, now) = alice.request();
    let intent = alice.wallet("imported", bundle.clone(), accounts);
    let created = alice.client.import_wallet(organization, now, intent).await.expect("a wallet").result;
    assert_eq!(created.addresses, [ADDRESS]);
    assert_eq!(alice.mnemonic(&created.wallet_id, None).await, MNEMONIC);
    // BIP-39 writes the same entropy as eleven times the first word of each list and once the fourth.
    for (language, first, last) in [
        (MnemonicLanguage::English, "abandon", "about"),
        (MnemonicLanguage::French, "abaisser", "abeille"),
        (MnemonicLanguage::Italian, "abaco", "abete"),
        (MnemonicLanguage::Czech, "abdikace", "agrese"),
        (MnemonicLanguage::SimplifiedChinese, "的", "在"),
        (MnemonicLanguage::TraditionalChinese, "的", "在"),
    ] {
        let mnemonic = alice.mnemonic(&created.wallet_id, Some(language)).await;
        let words: Vec<_> = mnemonic.split_whitespace().collect();
        assert_eq!(words, [[first; 11].as_slice(), &[last]].concat(), "{language:?}");
    }

    let mut export = ExportClient::new(&alice.quorum);
    let target_public_key = export.target_public_key().expect("a target");
    let intent = ExportWalletAccountIntent { address: ADDRESS.to_owned(), target_public_key };
    let (organization, now) = alice.request();
    let answer =
        alice.client.export_wallet_account(organization, now, intent).await.expect("a bundle").result;
    let other = export.decrypt_private_key(&answer.export_bundle, &alice.user);
    assert_eq!(other, Err(EnclaveEncryptError::InvalidOrganization));
    let secret = export.decrypt_private_key(answer.export_bundle, &alice.organization).expect("a key");
    assert_eq!(const_hex::encode(secret), SCALAR);

    let (organization, now) = alice.request();
    let again =
        alice.client.import_wallet(organization, now, alice.wallet("twice", bundle, Vec::new())).await;
    assert_refused(again, 400, "");
    let bob = Person::root(&daemon, 1);
    let of_bob = bob.wallet_bundle(MNEMONIC).await;
    let (organization, now) = alice.request();
    let stolen =
        alice.client.import_wallet(organization, now, alice.wallet("stolen", of_bob, Vec::new())).await;
    assert_refused(stolen, 400, "");
}

#[tokio::test]
async fn the_rust_helpers_import_and_export_private_keys() {
    let daemon = Daemon::start(Options::quorum(1, 2)).await;
    let alice = Person::root(&daemon, 0);
    for (curve, address_format, secret, address) in [
        (Curve::Secp256k1, AddressFormat::Ethereum, SCALAR, ADDRESS),
        // The first test of RFC 8032, section 7.1.
        (
            Curve::Ed25519,
            AddressFormat::Compressed,
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        ),
        // The key of RFC 6979, section A.2.5.
        (
            Curve::P256,
            AddressFormat::Compressed,
            "c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721",
            "0360fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6",
        ),
    ] {
        let (organization, now) = alice.request();
        let intent = InitImportPrivateKeyIntent { user_id: alice.user.clone() };
        let begun = alice.client.init_import_private_key(organization, now, intent).await.expect("a target");
        let encrypted_bundle = ImportClient::new(&alice.quorum)
            .encrypt_private_key_with_bundle(
                const_hex::decode(secret).expect("hex"),
                begun.result.import_bundle,
                &alice.organization,
                &alice.user,
            )
            .expect("a bundle");
        let intent = ImportPrivateKeyIntent {
            user_id: alice.user.clone(),
            private_key_name: format!("{curve:?}"),
            encrypted_bundle,
            curve,
            address_formats: vec![address_format],
        };
        let (organization, now) = alice.request();
        let created = alice.client.import_private_key(organization, now, intent).await.expect("a key").result;
        assert_eq!(created.addresses[0].address, address, "{curve:?}");

        let mut export = ExportClient::new(&alice.quorum);
        let target_public_key = export.target_public_key().expect("a target");
        let intent = ExportPrivateKeyIntent { private_key_id: created.private_key_id, target_public_key };
        let (organization, now) = alice.request();
        let answer = alice.client.export_private_key(organization, now, intent).await.expect("a bundle");
        let out =
            export.decrypt_private_key(answer.result.export_bundle, &alice.organization).expect("a key");
        assert_eq!(const_hex::encode(out), secret, "{curve:?}");
    }
}

#[tokio::test]
async fn the_rust_helpers_trust_only_the_configured_key() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let alice = Person::root(&daemon, 0);
    let (organization, now) = alice.request();
    let intent = CreateWalletIntent {
        wallet_name: "made".to_owned(),
        accounts: Vec::new(),
        mnemonic_length: Some(24),
    };
    let created = alice.client.create_wallet(organization, now, intent).await.expect("a wallet").result;
    assert_eq!(alice.mnemonic(&created.wallet_id, None).await.split(' ').count(), 24);

    let mut export = ExportClient::new(&QuorumPublicKey::production_signer());
    let target_public_key = export.target_public_key().expect("a target");
    let intent = ExportWalletIntent { wallet_id: created.wallet_id, target_public_key, language: None };
    let (organization, now) = alice.request();
    let answer = alice.client.export_wallet(organization, now, intent).await.expect("a bundle").result;
    let rejected = export.decrypt_wallet_mnemonic_phrase(answer.export_bundle, &alice.organization);
    assert!(rejected.is_err(), "the bundle was signed with another key");
}

#[tokio::test]
async fn the_rust_client_imports_and_exports_secrets() {
    let daemon = Daemon::start(Options::quorum(1, 2)).await;
    let Person { client, organization, quorum, .. } = Person::root(&daemon, 0);
    // The second value is longer than one record of the store.
    let values = ["a password".to_owned(), "ü".repeat(32 * 1024)];
    let mut ids = Vec::new();
    for (name, value) in ["short", "long"].into_iter().zip(&values) {
        let properties = [("env".to_owned(), name.to_owned())].into();
        let name = Some(name.to_owned());
        let created =
            client.import_secret(organization.clone(), name, value.clone(), properties, &quorum).await;
        ids.push(created.expect("a secret").result);
    }
    let both = client.export_secret(organization.clone(), &ids, &quorum).await.expect("both secrets").result;
    assert_eq!(both, values);
    let request = ListSecretsRequest { organization_id: organization.clone(), pagination_options: None };
    let mut listed = client.list_secrets(request).await.expect("a list").secrets;
    listed.sort_by_key(|secret| ids.iter().position(|id| *id == secret.secret_id));
    let names: Vec<_> = listed.iter().map(|secret| secret.name.as_deref()).collect();
    assert_eq!(names, [Some("short"), Some("long")]);
    let properties: Vec<_> = listed.iter().flat_map(|secret| &secret.static_properties).collect();
    assert_eq!(
        serde_json::to_value(&properties).expect("JSON"),
        json!([
        {"key": "env", "value": "short"}, {"key": "env", "value": "long"}])
    );
    let now = client.current_timestamp();
    let deletion = DeleteSecretsIntent { secret_ids: vec![ids[1].clone()] };
    let deletion =
        client.delete_secrets(organization.clone(), now, deletion).await.expect("it is deleted").result;
    assert_eq!(deletion.secret_ids, ids[1..]);
    let answer = client.export_secret(organization.clone(), &ids[1..], &quorum).await;
    assert_refused(answer, 404, "");
}
