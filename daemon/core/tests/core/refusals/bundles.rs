//! Refusals of kinds that bring keys in.

use quorate_common::fault::Code;
use serde_json::json;

use super::{From, Row};
use crate::house::House;

/// The rows.
pub(super) fn refusals(house: &House) -> Vec<Row> {
    use Code::{AlreadyExists, InvalidArgument, PermissionDenied};
    let text = str::to_owned;
    let not_yours = || ("request not authorized".to_owned(), Some("REQUEST_NOT_AUTHORIZED"));
    let of_another = json!({"userId": house.spare.user});
    let mut changed = house.bundles[0].clone();
    let last = changed.len() - 3;
    changed.replace_range(last..=last, if &changed[last..=last] == "0" { "1" } else { "0" });
    let mut rows: Vec<Row> = Vec::new();
    for kind in ["INIT_IMPORT_WALLET", "INIT_IMPORT_PRIVATE_KEY", "IMPORT_WALLET", "IMPORT_PRIVATE_KEY"] {
        let (message, reason) = not_yours();
        rows.push((kind, From::Root, of_another.clone(), PermissionDenied, reason, message));
    }
    let form = "invalid encrypted bundle: it is no JSON object";
    let closed = "invalid encrypted bundle: it opens with none of the import keys of this user";
    // What is meant for a wallet opens as nothing else.
    let bundles = [("IMPORT_WALLET", &changed, closed), ("IMPORT_WALLET", &house.bundles[1], closed)];
    for (kind, bundle, message) in bundles.into_iter().chain([
        ("IMPORT_PRIVATE_KEY", &house.bundles[0], closed),
        ("IMPORT_WALLET", &"{}".to_owned(), form),
        ("IMPORT_PRIVATE_KEY", &"no JSON".to_owned(), form),
    ]) {
        let bundle = json!({"encryptedBundle": bundle});
        rows.push((kind, From::Root, bundle, InvalidArgument, None, text(message)));
    }
    let name = json!({"walletName": "wallet"});
    rows.push(("IMPORT_WALLET", From::Root, name, AlreadyExists, None, text("wallet name must be unique")));
    let name = json!({"privateKeyName": "key"});
    let message = text("private key name must be unique");
    rows.push(("IMPORT_PRIVATE_KEY", From::Root, name, AlreadyExists, None, message));
    let format = json!({"addressFormats": ["ADDRESS_FORMAT_ETHEREUM"]});
    let message = text("invalid address format");
    rows.push(("IMPORT_PRIVATE_KEY", From::Root, format, InvalidArgument, None, message));
    rows
}
