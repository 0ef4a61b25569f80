//! Import and export of keys: what import keys accept, and what exports record.

use quorate_chain::curve::{Curve, PublicKey};
use quorate_common::api_error::Code;
use quorate_common::bundle::{Sealed, TargetKey};
use quorate_core::error::{Missing, RequestError};
use quorate_core::limits::{IMPORT_TARGET_LIFE_MILLIS, IMPORT_TARGETS};
use quorate_core::signing;
use quorate_core::view::View;
use quorate_core::world::QuorumKey;
use serde_json::{Value, json};

use crate::changes::query_as_root;
use crate::fixture::{Fixture, NOW, account, bundle_for, seal_for};
use crate::{samples, secrets};

const MNEMONIC: &str =
    "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about";
const IMPORT: &str = "ACTIVITY_TYPE_IMPORT_WALLET";

fn import(fixture: &mut Fixture, name: &str, bundle: &str, now: u64) -> Result<Value, String> {
    let parameters = json!({"userId": fixture.roots[0].user, "walletName": name, "encryptedBundle": bundle, "accounts": [
        account("m/44'/60'/0'/0/0", "CURVE_SECP256K1", "ADDRESS_FORMAT_ETHEREUM"),
        account("m/44'/501'/0'/0'", "CURVE_ED25519", "ADDRESS_FORMAT_SOLANA"),
    ]});
    let root = fixture.roots[0].clone();
    let answer =
        fixture.submit(&root, fixture.id, IMPORT, &parameters, now).map_err(|error| error.message)?;
    Ok(answer["activity"]["result"]["importWalletResult"].clone())
}

/// Decrypts an exported bundle with the target key.
fn decrypt(activity: &Value, member: &str, key: &TargetKey) -> Vec<u8> {
    let text = activity["result"][member]["exportBundle"].as_str().expect("a bundle");
    let message: Value = serde_json::from_str(text).expect("JSON");
    assert_eq!(message["version"], "v1.0.0");
    let data = const_hex::decode(message["data"].as_str().expect("a text")).expect("hex");
    let sealed = Sealed::parse(std::str::from_utf8(&data).expect("UTF-8")).expect("a bundle");
    key.open(&sealed).expect("decryption succeeds").to_vec()
}

fn target() -> TargetKey {
    TargetKey::from_bytes(&[3; 32]).expect("a scalar")
}

/// The expected addresses of the mnemonic come from other wallets.
#[test]
fn mnemonics_are_imported_once_and_exported() {
    let mut fixture = Fixture::new(1);
    let bundle = fixture.import_bundle("WALLET", MNEMONIC.as_bytes());
    let created = import(&mut fixture, "old", &bundle, NOW).expect("the import succeeds");
    let known =
        ["0x9858EfFD232B4033E47d90003D41EC34EcaEda94", "HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk"];
    assert_eq!(created["addresses"], json!(known));
    let wallet =
        query_as_root(&fixture, "get_wallet", &json!({"walletId": created["walletId"]}))["wallet"].clone();
    assert_eq!((&wallet["imported"], &wallet["exported"]), (&json!(true), &json!(false)));

    let closed = "invalid encrypted bundle: no import key of this user";
    let again = import(&mut fixture, "again", &bundle, NOW).expect_err("the import key was used");
    assert!(again.starts_with(closed), "{again}");
    let other = fixture.import_bundle("WALLET", MNEMONIC.to_uppercase().as_bytes());
    let id = created["walletId"].as_str().expect("an id");
    let expected = format!("seed for wallet {id} already imported in this organization");
    assert_eq!(import(&mut fixture, "again", &other, NOW), Err(expected));

    let key = target();
    let parameters = json!({"walletId": id, "targetPublicKey": key.public().hex()});
    let done = fixture.execute("ACTIVITY_TYPE_EXPORT_WALLET", &parameters);
    assert_eq!(decrypt(&done, "exportWalletResult", &key), MNEMONIC.as_bytes());
    let wallet = query_as_root(&fixture, "get_wallet", &json!({"walletId": id}))["wallet"].clone();
    assert_eq!(wallet["exported"], true);
    // An exported wallet has a copy, so it can be deleted without confirmation.
    fixture.execute("ACTIVITY_TYPE_DELETE_WALLETS", &json!({"walletIds": [id]}));
}

#[test]
fn passphrases_are_imported_and_exported_with_their_mnemonic() {
    let mut fixture = Fixture::new(1);
    let text = format!("  {}\nTREZOR", MNEMONIC.replace(' ', "  "));
    let bundle = fixture.import_bundle("WALLET", text.as_bytes());
    let created = import(&mut fixture, "old", &bundle, NOW).expect("the import succeeds");
    // Computed with another implementation of BIP-39, BIP-32 and SLIP-10.
    let known = ["0x9c32F71D4DB8Fb9e1A58B0a80dF79935e7256FA6"];
    assert_eq!(created["addresses"][0], json!(known[0]));
    let key = target();
    let parameters = json!({"walletId": created["walletId"], "targetPublicKey": key.public().hex()});
    let done = fixture.execute("ACTIVITY_TYPE_EXPORT_WALLET", &parameters);
    assert_eq!(decrypt(&done, "exportWalletResult", &key), format!("{MNEMONIC}\nTREZOR").as_bytes());
}

#[test]
fn implausible_passphrases_are_rejected() {
    let fixture = Fixture::new(1);
    let white_space = "invalid passphrase: contains only white space";
    let control = "invalid passphrase: contains a control character, such as a line break";
    let several_lines =
        "invalid mnemonic: must be on one line; everything after the first line is the passphrase";
    // The first half of these 24 words is a mnemonic, too.
    let long =
        format!("{MNEMONIC}\nlegal winner thank year wave sausage worth useful legal winner thank auction");
    let broken = MNEMONIC.replace(" about", "\nabout");
    let with_passphrase = |passphrase: &str| format!("{MNEMONIC}\n{passphrase}");
    for (text, expected) in [
        (with_passphrase(" "), white_space),
        (with_passphrase("\n"), white_space),
        (with_passphrase("\u{a0}\r\n"), white_space),
        (with_passphrase("TREZOR\n"), control),
        (with_passphrase("TREZOR\r\n"), control),
        (with_passphrase("TREZOR\nTREZOR"), control),
        (with_passphrase("TRE\tZOR"), control),
        (with_passphrase("TREZOR\0"), control),
        (long, several_lines),
        (broken, several_lines),
    ] {
        let mut fixture = fixture.clone();
        let bundle = fixture.import_bundle("WALLET", text.as_bytes());
        assert_eq!(import(&mut fixture, "old", &bundle, NOW), Err(expected.to_owned()), "{text:?}");
    }
    let (without, with) =
        ("0x9858EfFD232B4033E47d90003D41EC34EcaEda94", "0x9c32F71D4DB8Fb9e1A58B0a80dF79935e7256FA6");
    for (text, address) in [
        (MNEMONIC.to_owned(), without),
        (with_passphrase(""), without),
        (format!("{MNEMONIC}\r\n"), without),
        (with_passphrase("TREZOR"), with),
        (format!("{MNEMONIC}\r\nTREZOR"), with),
    ] {
        let mut fixture = fixture.clone();
        let bundle = fixture.import_bundle("WALLET", text.as_bytes());
        let created = import(&mut fixture, "old", &bundle, NOW).expect("the import succeeds");
        assert_eq!(created["addresses"][0], address, "{text:?}");
    }
}

#[test]
fn import_keys_expire_and_are_limited_in_number() {
    let mut fixture = Fixture::new(1);
    let bundle = fixture.import_bundle("WALLET", MNEMONIC.as_bytes());
    let late = import(&mut fixture, "late", &bundle, NOW + IMPORT_TARGET_LIFE_MILLIS);
    assert!(late.expect_err("it is too late").starts_with("invalid encrypted bundle"));
    import(&mut fixture, "in time", &bundle, NOW + IMPORT_TARGET_LIFE_MILLIS - 1)
        .expect("the import succeeds");

    // The oldest import key is replaced, the others stay.
    let mut fixture = Fixture::new(1);
    let first = fixture.bundles[0].clone();
    let root = fixture.roots[0].clone();
    let mut created = (1..=IMPORT_TARGETS).map(|number| {
        let (user, at) = (json!({"userId": root.user}), NOW + u64::try_from(number).expect("a small number"));
        let answer = fixture.submit(&root, fixture.id, "ACTIVITY_TYPE_INIT_IMPORT_WALLET", &user, at);
        bundle_for(&answer.expect("the key is created")["activity"], "WALLET", MNEMONIC.as_bytes())
    });
    let second = created.next().expect("there are several");
    assert_eq!(created.count(), IMPORT_TARGETS - 1);
    assert_eq!(fixture.memory.rows(b'r').filter(|(key, _)| key[33] == 1).count(), IMPORT_TARGETS);
    assert!(import(&mut fixture, "first", &first, NOW).is_err());
    import(&mut fixture, "second", &second, NOW).expect("the import key still exists");
    assert_eq!(fixture.memory.rows(b'r').filter(|(key, _)| key[33] == 1).count(), IMPORT_TARGETS - 1);
}

#[test]
fn failed_imports_do_not_use_up_the_import_key() {
    let mut fixture = Fixture::new(1);
    for wrong in [&b"abandon about"[..], b"", &[0xff; 32], &MNEMONIC.as_bytes()[..40]] {
        let bundle = fixture.import_bundle("WALLET", wrong);
        assert_eq!(import(&mut fixture, "wrong", &bundle, NOW), Err("invalid mnemonic".to_owned()));
    }
    let root = fixture.roots[0].clone();
    for wrong in [&[0x46; 31][..], &[0x46; 33], &[0; 32], &[0xff; 32]] {
        let bundle = fixture.import_bundle("PRIVATE_KEY", wrong);
        let mut parameters = samples::parameters("IMPORT_PRIVATE_KEY", &fixture, &fixture.spare);
        (parameters["encryptedBundle"], parameters["curve"]) = (json!(bundle), json!("CURVE_SECP256K1"));
        parameters["addressFormats"] = json!([]);
        let answer = fixture.submit(&root, fixture.id, "ACTIVITY_TYPE_IMPORT_PRIVATE_KEY", &parameters, NOW);
        assert_eq!(answer.expect_err("the private key is invalid").message, "invalid private key");
    }
    let before = fixture.memory.rows(b'r').count();
    let bundle = fixture.import_bundle("WALLET", MNEMONIC.as_bytes());
    import(&mut fixture, "wallet", &bundle, NOW).expect_err("the name is already in use");
    assert!(fixture.memory.rows(b'r').count() >= before);
    import(&mut fixture, "fresh", &bundle, NOW).expect("the import key still exists");
}

/// EIP-155 states the address of the key of 32 bytes `46`.
#[test]
fn private_keys_are_imported_and_exported() {
    let mut fixture = Fixture::new(1);
    let bundle = fixture.import_bundle("PRIVATE_KEY", &[0x46; 32]);
    let parameters = json!({"userId": fixture.roots[0].user, "privateKeyName": "old", "encryptedBundle": bundle,
        "curve": "CURVE_SECP256K1", "addressFormats": ["ADDRESS_FORMAT_ETHEREUM"]});
    let done = fixture.execute("ACTIVITY_TYPE_IMPORT_PRIVATE_KEY", &parameters);
    let created = &done["result"]["importPrivateKeyResult"];
    let address = "0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F";
    assert_eq!(created["addresses"], json!([{"format": "ADDRESS_FORMAT_ETHEREUM", "address": address}]));
    let id = created["privateKeyId"].clone();
    let mut again = parameters.clone();
    again["encryptedBundle"] = json!(fixture.import_bundle("PRIVATE_KEY", &[0x46; 32]));
    again["privateKeyName"] = json!("again");
    let root = fixture.roots[0].clone();
    let error = fixture.submit(&root, fixture.id, "ACTIVITY_TYPE_IMPORT_PRIVATE_KEY", &again, NOW);
    let expected = format!(
        "private key with ID {} has already been imported in this organization",
        id.as_str().expect("an id")
    );
    assert_eq!(error.expect_err("the key was imported before").message, expected);

    let key = target();
    let parameters = json!({"privateKeyId": id, "targetPublicKey": key.public().hex()});
    let done = fixture.execute("ACTIVITY_TYPE_EXPORT_PRIVATE_KEY", &parameters);
    assert_eq!(decrypt(&done, "exportPrivateKeyResult", &key), [0x46; 32]);
    let shown =
        query_as_root(&fixture, "get_private_key", &json!({"privateKeyId": id}))["privateKey"].clone();
    assert_eq!((&shown["imported"], &shown["exported"]), (&json!(true), &json!(true)));
    fixture.execute("ACTIVITY_TYPE_DELETE_PRIVATE_KEYS", &json!({"privateKeyIds": [id]}));
}

#[test]
fn exported_accounts_can_be_deleted_without_confirmation() {
    let mut fixture = Fixture::new(1);
    let root = fixture.roots[0].clone();
    let deletion = json!({"walletAccountIds": [fixture.account]});
    let error = fixture.submit(&root, fixture.id, "ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS", &deletion, NOW);
    assert_eq!(
        error.expect_err("the account was not exported").turnkey_error_code.as_deref(),
        Some("WALLET_ACCOUNT_NOT_EXPORTED")
    );
    let key = target();
    let parameters = json!({"address": fixture.wallet.1, "targetPublicKey": key.public().hex()});
    let done = fixture.execute("ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT", &parameters);
    assert_eq!(decrypt(&done, "exportWalletAccountResult", &key).len(), 32);
    fixture.execute("ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS", &deletion);
}

/// An export encrypted to a key of the service would count as exported, although nobody outside could decrypt
/// it.
#[test]
fn exports_to_a_key_of_the_service_are_rejected() {
    let mut fixture = Fixture::new(1);
    let user = json!({"userId": fixture.roots[0].user});
    let quorum = fixture.memory.public_key();
    let short = PublicKey::from_hex(Curve::P256, &quorum).expect("a point").compressed_hex();
    let expected = "invalid target public key: it is the quorum key of this service";
    let mut own = vec![(quorum, expected), (short, expected)];
    let expected = "invalid target public key: it is an import key of this user";
    for (kind, member) in
        [("WALLET", "initImportWalletResult"), ("PRIVATE_KEY", "initImportPrivateKeyResult")]
    {
        let created = fixture.execute(&format!("ACTIVITY_TYPE_INIT_IMPORT_{kind}"), &user);
        own.push((seal_for(&created["result"][member]["importBundle"], b"").0, expected));
    }
    let secret = secrets::sealed(&mut fixture, &[b"value"]).remove(0);
    own.push((secret["targetPublicKey"].as_str().expect("a text").to_owned(), expected));
    let parameters = |fixture: &Fixture, activity_type: &str, target: &str| {
        let mut parameters = samples::parameters(activity_type, fixture, &fixture.spare);
        let target_of = match activity_type {
            "ACTIVITY_TYPE_EXPORT_SECRETS" => &mut parameters["secrets"][0],
            _ => &mut parameters,
        };
        target_of["targetPublicKey"] = json!(target);
        parameters
    };
    let root = fixture.roots[0].clone();
    let before = fixture.memory.all_rows();
    for kind in ["WALLET", "WALLET_ACCOUNT", "PRIVATE_KEY", "SECRETS"] {
        let export = format!("ACTIVITY_TYPE_EXPORT_{kind}");
        for (target, expected) in &own {
            let parameters = parameters(&fixture, &export, target);
            let error = fixture
                .submit(&root, fixture.id, &export, &parameters, NOW)
                .expect_err("the request is invalid");
            assert_eq!((error.code, error.message.as_str()), (Code::InvalidArgument, *expected), "{kind}");
        }
    }
    assert!(fixture.memory.all_rows() == before, "an invalid request changed the store");
    // Import keys count only until they expire.
    let (target, _) = own.pop().expect("an import key");
    let parameters = parameters(&fixture, "ACTIVITY_TYPE_EXPORT_WALLET", &target);
    let late = NOW + IMPORT_TARGET_LIFE_MILLIS;
    fixture
        .submit(&root, fixture.id, "ACTIVITY_TYPE_EXPORT_WALLET", &parameters, late)
        .expect("the key has expired");
}

/// Accounts of deleted wallets keep their names until the cleanup removes them.
#[test]
fn oldest_live_account_of_a_key_signs() {
    let mut fixture = Fixture::new(1);
    let formats = ["MAINNET", "TESTNET", "SIGNET", "REGTEST"].into_iter().flat_map(|network| {
        let kinds = ["P2PKH", "P2SH", "P2WPKH", "P2WSH", "P2TR"];
        kinds.map(|kind| format!("ADDRESS_FORMAT_BITCOIN_{network}_{kind}"))
    });
    let accounts: Vec<Value> =
        formats.map(|format| account("m/44'/0'/0'/0/0", "CURVE_SECP256K1", &format)).collect();
    let signer = |fixture: &Fixture, public_key: &str| {
        let organization = fixture.memory.stored(fixture.id);
        let view = View::new(&fixture.memory, &organization, fixture.roots[0].user, None, NOW);
        let signer = signing::resolve(&view, public_key)?;
        let account = signer.account().expect("the signer is an account");
        Ok::<_, RequestError>((account.wallet.to_string(), account.ordinal))
    };
    for round in 0..4 {
        let bundle = fixture.import_bundle("WALLET", MNEMONIC.as_bytes());
        let parameters = json!({"userId": fixture.roots[0].user, "walletName": format!("wallet {round}"),
            "encryptedBundle": bundle, "accounts": accounts});
        let created = fixture.execute(IMPORT, &parameters);
        let id = created["result"]["importWalletResult"]["walletId"].as_str().expect("an id").to_owned();
        let listed = query_as_root(&fixture, "list_wallet_accounts", &json!({"walletId": id}));
        let public_key = listed["accounts"][0]["publicKey"].as_str().expect("a text").to_owned();
        assert_eq!(signer(&fixture, &public_key), Ok((id.clone(), 0)), "{round}");
        let deletion = json!({"walletIds": [id], "deleteWithoutExport": true});
        fixture.execute("ACTIVITY_TYPE_DELETE_WALLETS", &deletion);
        assert_eq!(signer(&fixture, &public_key), Err(Missing::SigningResource.into()), "{round}");
    }
}
