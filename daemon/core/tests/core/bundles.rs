//! How keys come in and go out: what an import key is good for, and what an export leaves behind.

use quorate_chain::curve::{Curve, PublicKey};
use quorate_common::bundle::{Sealed, TargetKey};
use quorate_common::fault::Code;
use quorate_core::limits::{IMPORT_TARGET_LIFE_MILLIS, IMPORT_TARGETS};
use quorate_core::refusal::{Missing, Refusal};
use quorate_core::signing;
use quorate_core::view::View;
use quorate_core::world::QuorumKey;
use serde_json::{Value, json};

use crate::changes::asked;
use crate::house::{House, NOW, account, bundle_for, seal_for};
use crate::{samples, secrets};

const MNEMONIC: &str =
    "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about";
const IMPORT: &str = "ACTIVITY_TYPE_IMPORT_WALLET";

fn import(house: &mut House, name: &str, bundle: &str, now: u64) -> Result<Value, String> {
    let parameters = json!({"userId": house.roots[0].user, "walletName": name, "encryptedBundle": bundle, "accounts": [
        account("m/44'/60'/0'/0/0", "CURVE_SECP256K1", "ADDRESS_FORMAT_ETHEREUM"),
        account("m/44'/501'/0'/0'", "CURVE_ED25519", "ADDRESS_FORMAT_SOLANA"),
    ]});
    let root = house.roots[0].clone();
    let answer = house.submit(&root, house.id, IMPORT, &parameters, now).map_err(|fault| fault.message)?;
    Ok(answer["activity"]["result"]["importWalletResult"].clone())
}

/// What an export gives to whoever holds the key.
fn opened(activity: &Value, member: &str, key: &TargetKey) -> Vec<u8> {
    let text = activity["result"][member]["exportBundle"].as_str().expect("a bundle");
    let message: Value = serde_json::from_str(text).expect("JSON");
    assert_eq!(message["version"], "v1.0.0");
    let data = const_hex::decode(message["data"].as_str().expect("a text")).expect("hex");
    let sealed = Sealed::parse(std::str::from_utf8(&data).expect("UTF-8")).expect("a bundle");
    key.open(&sealed).expect("it opens").to_vec()
}

fn target() -> TargetKey {
    TargetKey::from_bytes(&[3; 32]).expect("a scalar")
}

/// The addresses of the sentence are those that other wallets show for it.
#[test]
fn a_mnemonic_comes_in_once_and_goes_out_again() {
    let mut house = House::found(1);
    let bundle = house.import_bundle("WALLET", MNEMONIC.as_bytes());
    let made = import(&mut house, "old", &bundle, NOW).expect("it is imported");
    let known =
        ["0x9858EfFD232B4033E47d90003D41EC34EcaEda94", "HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk"];
    assert_eq!(made["addresses"], json!(known));
    let wallet = asked(&house, "get_wallet", &json!({"walletId": made["walletId"]}))["wallet"].clone();
    assert_eq!((&wallet["imported"], &wallet["exported"]), (&json!(true), &json!(false)));

    let closed = "invalid encrypted bundle: it opens with none";
    let again = import(&mut house, "again", &bundle, NOW).expect_err("the key is used up");
    assert!(again.starts_with(closed), "{again}");
    let other = house.import_bundle("WALLET", MNEMONIC.to_uppercase().as_bytes());
    let id = made["walletId"].as_str().expect("an id");
    let told = format!("seed for wallet {id} already imported in this organization");
    assert_eq!(import(&mut house, "again", &other, NOW), Err(told));

    let key = target();
    let parameters = json!({"walletId": id, "targetPublicKey": key.public().hex()});
    let done = house.agreed("ACTIVITY_TYPE_EXPORT_WALLET", &parameters);
    assert_eq!(opened(&done, "exportWalletResult", &key), MNEMONIC.as_bytes());
    let wallet = asked(&house, "get_wallet", &json!({"walletId": id}))["wallet"].clone();
    assert_eq!(wallet["exported"], true);
    // Of what was exported there is a copy: it goes without being asked twice.
    house.agreed("ACTIVITY_TYPE_DELETE_WALLETS", &json!({"walletIds": [id]}));
}

#[test]
fn a_passphrase_comes_and_goes_with_its_mnemonic() {
    let mut house = House::found(1);
    let text = format!("  {}\nTREZOR", MNEMONIC.replace(' ', "  "));
    let bundle = house.import_bundle("WALLET", text.as_bytes());
    let made = import(&mut house, "old", &bundle, NOW).expect("it is imported");
    // Computed with another implementation of BIP-39, BIP-32 and SLIP-10.
    let known = ["0x9c32F71D4DB8Fb9e1A58B0a80dF79935e7256FA6"];
    assert_eq!(made["addresses"][0], json!(known[0]));
    let key = target();
    let parameters = json!({"walletId": made["walletId"], "targetPublicKey": key.public().hex()});
    let done = house.agreed("ACTIVITY_TYPE_EXPORT_WALLET", &parameters);
    assert_eq!(opened(&done, "exportWalletResult", &key), format!("{MNEMONIC}\nTREZOR").as_bytes());
}

#[test]
fn a_passphrase_that_nobody_meant_is_refused() {
    let house = House::found(1);
    let white = "invalid passphrase: it is only white space";
    let control = "invalid passphrase: it holds a control character, such as a line break";
    let lines =
        "invalid mnemonic: it stands on several lines, of which those behind the first are its passphrase";
    // The first half of these 24 words is a mnemonic, too.
    let long =
        format!("{MNEMONIC}\nlegal winner thank year wave sausage worth useful legal winner thank auction");
    let broken = MNEMONIC.replace(" about", "\nabout");
    let behind = |passphrase: &str| format!("{MNEMONIC}\n{passphrase}");
    for (text, told) in [
        (behind(" "), white),
        (behind("\n"), white),
        (behind("\u{a0}\r\n"), white),
        (behind("TREZOR\n"), control),
        (behind("TREZOR\r\n"), control),
        (behind("TREZOR\nTREZOR"), control),
        (behind("TRE\tZOR"), control),
        (behind("TREZOR\0"), control),
        (long, lines),
        (broken, lines),
    ] {
        let mut house = house.clone();
        let bundle = house.import_bundle("WALLET", text.as_bytes());
        assert_eq!(import(&mut house, "old", &bundle, NOW), Err(told.to_owned()), "{text:?}");
    }
    let (without, with) =
        ("0x9858EfFD232B4033E47d90003D41EC34EcaEda94", "0x9c32F71D4DB8Fb9e1A58B0a80dF79935e7256FA6");
    for (text, address) in [
        (MNEMONIC.to_owned(), without),
        (behind(""), without),
        (format!("{MNEMONIC}\r\n"), without),
        (behind("TREZOR"), with),
        (format!("{MNEMONIC}\r\nTREZOR"), with),
    ] {
        let mut house = house.clone();
        let bundle = house.import_bundle("WALLET", text.as_bytes());
        let made = import(&mut house, "old", &bundle, NOW).expect("it is imported");
        assert_eq!(made["addresses"][0], address, "{text:?}");
    }
}

#[test]
fn import_keys_come_to_their_end() {
    let mut house = House::found(1);
    let bundle = house.import_bundle("WALLET", MNEMONIC.as_bytes());
    let late = import(&mut house, "late", &bundle, NOW + IMPORT_TARGET_LIFE_MILLIS);
    assert!(late.expect_err("too late").starts_with("invalid encrypted bundle"));
    import(&mut house, "in time", &bundle, NOW + IMPORT_TARGET_LIFE_MILLIS - 1).expect("it is taken");

    // The oldest makes room, the others stay.
    let mut house = House::found(1);
    let first = house.bundles[0].clone();
    let root = house.roots[0].clone();
    let mut made = (1..=IMPORT_TARGETS).map(|place| {
        let (user, at) = (json!({"userId": root.user}), NOW + u64::try_from(place).expect("a small number"));
        let answer = house.submit(&root, house.id, "ACTIVITY_TYPE_INIT_IMPORT_WALLET", &user, at);
        bundle_for(&answer.expect("it is made")["activity"], "WALLET", MNEMONIC.as_bytes())
    });
    let second = made.next().expect("there are several");
    assert_eq!(made.count(), IMPORT_TARGETS - 1);
    assert_eq!(house.memory.rows(b'r').filter(|(key, _)| key[33] == 1).count(), IMPORT_TARGETS);
    assert!(import(&mut house, "first", &first, NOW).is_err());
    import(&mut house, "second", &second, NOW).expect("it is still there");
    assert_eq!(house.memory.rows(b'r').filter(|(key, _)| key[33] == 1).count(), IMPORT_TARGETS - 1);
}

#[test]
fn what_is_wrong_keeps_the_import_key() {
    let mut house = House::found(1);
    for wrong in [&b"abandon about"[..], b"", &[0xff; 32], &MNEMONIC.as_bytes()[..40]] {
        let bundle = house.import_bundle("WALLET", wrong);
        assert_eq!(import(&mut house, "wrong", &bundle, NOW), Err("invalid mnemonic".to_owned()));
    }
    let root = house.roots[0].clone();
    for wrong in [&[0x46; 31][..], &[0x46; 33], &[0; 32], &[0xff; 32]] {
        let bundle = house.import_bundle("PRIVATE_KEY", wrong);
        let mut parameters = samples::parameters("IMPORT_PRIVATE_KEY", &house, &house.spare);
        (parameters["encryptedBundle"], parameters["curve"]) = (json!(bundle), json!("CURVE_SECP256K1"));
        parameters["addressFormats"] = json!([]);
        let answer = house.submit(&root, house.id, "ACTIVITY_TYPE_IMPORT_PRIVATE_KEY", &parameters, NOW);
        assert_eq!(answer.expect_err("no key").message, "invalid private key");
    }
    let before = house.memory.rows(b'r').count();
    let bundle = house.import_bundle("WALLET", MNEMONIC.as_bytes());
    import(&mut house, "wallet", &bundle, NOW).expect_err("the name is taken");
    assert!(house.memory.rows(b'r').count() >= before);
    import(&mut house, "fresh", &bundle, NOW).expect("the key is still there");
}

/// EIP-155 names the address of the key `46` 32 times.
#[test]
fn keys_alone_come_in_and_go_out() {
    let mut house = House::found(1);
    let bundle = house.import_bundle("PRIVATE_KEY", &[0x46; 32]);
    let parameters = json!({"userId": house.roots[0].user, "privateKeyName": "old", "encryptedBundle": bundle,
        "curve": "CURVE_SECP256K1", "addressFormats": ["ADDRESS_FORMAT_ETHEREUM"]});
    let done = house.agreed("ACTIVITY_TYPE_IMPORT_PRIVATE_KEY", &parameters);
    let made = &done["result"]["importPrivateKeyResult"];
    let address = "0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F";
    assert_eq!(made["addresses"], json!([{"format": "ADDRESS_FORMAT_ETHEREUM", "address": address}]));
    let id = made["privateKeyId"].clone();
    let mut again = parameters.clone();
    again["encryptedBundle"] = json!(house.import_bundle("PRIVATE_KEY", &[0x46; 32]));
    again["privateKeyName"] = json!("again");
    let root = house.roots[0].clone();
    let fault = house.submit(&root, house.id, "ACTIVITY_TYPE_IMPORT_PRIVATE_KEY", &again, NOW);
    let told = format!(
        "private key with ID {} has already been imported in this organization",
        id.as_str().expect("an id")
    );
    assert_eq!(fault.expect_err("imported already").message, told);

    let key = target();
    let parameters = json!({"privateKeyId": id, "targetPublicKey": key.public().hex()});
    let done = house.agreed("ACTIVITY_TYPE_EXPORT_PRIVATE_KEY", &parameters);
    assert_eq!(opened(&done, "exportPrivateKeyResult", &key), [0x46; 32]);
    let shown = asked(&house, "get_private_key", &json!({"privateKeyId": id}))["privateKey"].clone();
    assert_eq!((&shown["imported"], &shown["exported"]), (&json!(true), &json!(true)));
    house.agreed("ACTIVITY_TYPE_DELETE_PRIVATE_KEYS", &json!({"privateKeyIds": [id]}));
}

#[test]
fn an_account_that_was_taken_out_may_go() {
    let mut house = House::found(1);
    let root = house.roots[0].clone();
    let gone = json!({"walletAccountIds": [house.account]});
    let fault = house.submit(&root, house.id, "ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS", &gone, NOW);
    assert_eq!(
        fault.expect_err("no copy").turnkey_error_code.as_deref(),
        Some("WALLET_ACCOUNT_NOT_EXPORTED")
    );
    let key = target();
    let parameters = json!({"address": house.wallet.1, "targetPublicKey": key.public().hex()});
    let done = house.agreed("ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT", &parameters);
    assert_eq!(opened(&done, "exportWalletAccountResult", &key).len(), 32);
    house.agreed("ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS", &gone);
}

/// What is encrypted to a key of the service would count as taken out, and nobody outside could open it.
#[test]
fn nothing_is_taken_out_to_a_key_of_the_service() {
    let mut house = House::found(1);
    let user = json!({"userId": house.roots[0].user});
    let quorum = house.memory.public_key();
    let short = PublicKey::from_hex(Curve::P256, &quorum).expect("a point").compressed_hex();
    let told = "invalid target public key: it is the quorum key of this service";
    let mut own = vec![(quorum, told), (short, told)];
    let told = "invalid target public key: it is an import key of this user";
    for (kind, member) in
        [("WALLET", "initImportWalletResult"), ("PRIVATE_KEY", "initImportPrivateKeyResult")]
    {
        let made = house.agreed(&format!("ACTIVITY_TYPE_INIT_IMPORT_{kind}"), &user);
        own.push((seal_for(&made["result"][member]["importBundle"], b"").0, told));
    }
    let secret = secrets::sealed(&mut house, &[b"value"]).remove(0);
    own.push((secret["targetPublicKey"].as_str().expect("a text").to_owned(), told));
    let parameters = |house: &House, activity_type: &str, target: &str| {
        let mut parameters = samples::parameters(activity_type, house, &house.spare);
        let asked = match activity_type {
            "ACTIVITY_TYPE_EXPORT_SECRETS" => &mut parameters["secrets"][0],
            _ => &mut parameters,
        };
        asked["targetPublicKey"] = json!(target);
        parameters
    };
    let root = house.roots[0].clone();
    let before = house.memory.everything();
    for kind in ["WALLET", "WALLET_ACCOUNT", "PRIVATE_KEY", "SECRETS"] {
        let export = format!("ACTIVITY_TYPE_EXPORT_{kind}");
        for (target, told) in &own {
            let parameters = parameters(&house, &export, target);
            let fault = house.submit(&root, house.id, &export, &parameters, NOW).expect_err("it is refused");
            assert_eq!((fault.code, fault.message.as_str()), (Code::InvalidArgument, *told), "{kind}");
        }
    }
    assert!(house.memory.everything() == before, "a wrong request left something behind");
    // Only while somebody could still be told to import to it.
    let (target, _) = own.pop().expect("an import key");
    let parameters = parameters(&house, "ACTIVITY_TYPE_EXPORT_WALLET", &target);
    let late = NOW + IMPORT_TARGET_LIFE_MILLIS;
    house.submit(&root, house.id, "ACTIVITY_TYPE_EXPORT_WALLET", &parameters, late).expect("it is over");
}

/// Accounts of deleted wallets have their names until they are swept.
#[test]
fn of_many_accounts_of_one_key_the_oldest_live_one_signs() {
    let mut house = House::found(1);
    let formats = ["MAINNET", "TESTNET", "SIGNET", "REGTEST"].into_iter().flat_map(|network| {
        let kinds = ["P2PKH", "P2SH", "P2WPKH", "P2WSH", "P2TR"];
        kinds.map(|kind| format!("ADDRESS_FORMAT_BITCOIN_{network}_{kind}"))
    });
    let accounts: Vec<Value> =
        formats.map(|format| account("m/44'/0'/0'/0/0", "CURVE_SECP256K1", &format)).collect();
    let signer = |house: &House, public_key: &str| {
        let organization = house.memory.stored(house.id);
        let view = View::new(&house.memory, &organization, house.roots[0].user, None, NOW);
        let signer = signing::resolve(&view, public_key)?;
        let account = signer.account().expect("it is an account");
        Ok::<_, Refusal>((account.wallet.to_string(), account.ordinal))
    };
    for round in 0..4 {
        let bundle = house.import_bundle("WALLET", MNEMONIC.as_bytes());
        let parameters = json!({"userId": house.roots[0].user, "walletName": format!("wallet {round}"),
            "encryptedBundle": bundle, "accounts": accounts});
        let made = house.agreed(IMPORT, &parameters);
        let id = made["result"]["importWalletResult"]["walletId"].as_str().expect("an id").to_owned();
        let listed = asked(&house, "list_wallet_accounts", &json!({"walletId": id}));
        let public_key = listed["accounts"][0]["publicKey"].as_str().expect("a text").to_owned();
        assert_eq!(signer(&house, &public_key), Ok((id.clone(), 0)), "{round}");
        let gone = json!({"walletIds": [id], "deleteWithoutExport": true});
        house.agreed("ACTIVITY_TYPE_DELETE_WALLETS", &gone);
        assert_eq!(signer(&house, &public_key), Err(Missing::SigningResource.into()), "{round}");
    }
}
