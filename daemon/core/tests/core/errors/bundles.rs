//! Samples and expected errors of kinds that import keys.

use quorate_common::api_error::Code;
use serde_json::{Value, json};

use super::{Row, Sender};
use crate::fixture::{Fixture, Person, account};

/// Returns valid parameters of a type of this module. The user whose credentials change is the last argument.
pub(super) fn sample(name: &str, fixture: &Fixture, _: &Person) -> Option<Value> {
    Some(match name {
        "IMPORT_PRIVATE_KEY" => json!({"userId": fixture.roots[0].user, "privateKeyName": "fresh",
            "encryptedBundle": fixture.bundles[1], "curve": "CURVE_ED25519",
            "addressFormats": ["ADDRESS_FORMAT_SOLANA"]}),
        "IMPORT_WALLET" => json!({"userId": fixture.roots[0].user, "walletName": "fresh",
            "encryptedBundle": fixture.bundles[0],
            "accounts": [account("m/44'/60'/0'/0/0", "CURVE_SECP256K1", "ADDRESS_FORMAT_ETHEREUM")]}),
        "INIT_IMPORT_PRIVATE_KEY" | "INIT_IMPORT_WALLET" => json!({"userId": fixture.roots[0].user}),
        _ => return None,
    })
}

/// Returns the table rows of this module.
pub(super) fn rows(fixture: &Fixture) -> Vec<Row> {
    use Code::{AlreadyExists, InvalidArgument, PermissionDenied};
    let text = str::to_owned;
    let not_authorized = || ("request not authorized".to_owned(), Some("REQUEST_NOT_AUTHORIZED"));
    let other_user = json!({"userId": fixture.spare.user});
    let mut changed = fixture.bundles[0].clone();
    let last = changed.len() - 3;
    changed.replace_range(last..=last, if &changed[last..=last] == "0" { "1" } else { "0" });
    let mut rows: Vec<Row> = Vec::new();
    for kind in ["INIT_IMPORT_WALLET", "INIT_IMPORT_PRIVATE_KEY", "IMPORT_WALLET", "IMPORT_PRIVATE_KEY"] {
        let (message, reason) = not_authorized();
        rows.push((kind, Sender::Root, other_user.clone(), PermissionDenied, reason, message));
    }
    let not_json = "invalid encrypted bundle: not a JSON object";
    let not_decryptable = "invalid encrypted bundle: no import key of this user decrypts it";
    // A bundle for a wallet cannot be imported as anything else.
    let bundles = [
        ("IMPORT_WALLET", &changed, not_decryptable),
        ("IMPORT_WALLET", &fixture.bundles[1], not_decryptable),
    ];
    for (kind, bundle, message) in bundles.into_iter().chain([
        ("IMPORT_PRIVATE_KEY", &fixture.bundles[0], not_decryptable),
        ("IMPORT_WALLET", &"{}".to_owned(), not_json),
        ("IMPORT_PRIVATE_KEY", &"no JSON".to_owned(), not_json),
    ]) {
        let bundle = json!({"encryptedBundle": bundle});
        rows.push((kind, Sender::Root, bundle, InvalidArgument, None, text(message)));
    }
    let name = json!({"walletName": "wallet"});
    rows.push(("IMPORT_WALLET", Sender::Root, name, AlreadyExists, None, text("wallet name must be unique")));
    let name = json!({"privateKeyName": "key"});
    let message = text("private key name must be unique");
    rows.push(("IMPORT_PRIVATE_KEY", Sender::Root, name, AlreadyExists, None, message));
    let format = json!({"addressFormats": ["ADDRESS_FORMAT_ETHEREUM"]});
    let message = text("invalid address format");
    rows.push(("IMPORT_PRIVATE_KEY", Sender::Root, format, InvalidArgument, None, message));
    rows
}
