//! Tests of how reviews describe recipients: known ones, unknown ones, and addresses similar to a known one.
//! The similar addresses were found by search and have valid checksums where the chain defines them.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use quorate_chain::address::Chain;
use quorate_common::wire::{Address, PrivateKey};
use serde_json::{Value, json};

use super::*;
use crate::book::Entry;

/// Describes transactions with the recipient in the book, with an empty book, and with a similar address in
/// the book.
fn check_books(name: &str, chain: Chain, rows: &[(&str, &str, &str, &str)]) {
    let mut whole = Vec::new();
    for (with, unsigned, recipient, similar) in rows {
        let parameters = json!({
            "signWith": with,
            "unsignedTransaction": unsigned,
            "type": format!("TRANSACTION_TYPE_{}", chain.name().to_uppercase()),
        });
        for known in [Some(recipient), None, Some(similar)] {
            let mut book = Book::EMPTY;
            if let Some(address) = known {
                let day = 20_000 * 86_400_000;
                book.add(Entry::new(chain, address, "exchange cold", day).unwrap()).unwrap();
            }
            whole.push(described(
                "ACTIVITY_TYPE_SIGN_TRANSACTION_V2",
                &parameters,
                &sample_organization(),
                &book,
            ));
        }
    }
    snapshot(name, &whole);
}

fn sample(file: &str, case: &str, member: &str) -> String {
    let file: Value = serde_json::from_str(file).unwrap();
    let row = file["rows"].as_array().unwrap().iter().find(|row| row["case"] == case).unwrap();
    row[member].as_str().unwrap().to_owned()
}

const SIGNER: &str = "0xfd29c1148A76b673eEFCcfb82dcA00Bc7AAF471E";
// The sample of EIP-155, the transfer of tokens of `sign_transaction`, and an approval.
const ETHER: &str =
    "ec098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a764000080018080";
const TOKENS: &str = "02f86d0107843b9aca008506fc23ac0082fde894353535353535353535353535353535353535353580b844a9059cbb0000000000000000000000001111111111111111111111111111111111111111000000000000000000000000000000000000000000000000000000000016e360c0";
const APPROVES: &str = "f869098504a817c80082ea6094353535353535353535353535353535353535353580b844095ea7b30000000000000000000000001111111111111111111111111111111111111111ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff018080";

#[test]
fn recipients_of_ethereum() {
    let (contract, account) =
        ("0x3535353535353535353535353535353535353535", "0x1111111111111111111111111111111111111111");
    let similar = "0x1111000000000000000000000000000000001111";
    let rows = [
        (SIGNER, ETHER, contract, "0x3535000000000000000000000000000000003535"),
        (SIGNER, TOKENS, account, similar),
        (SIGNER, TOKENS, contract, "0x3535000000000000000000000000000000003535"),
        (SIGNER, APPROVES, account, similar),
    ];
    check_books("recipients_of_ethereum", Chain::Ethereum, &rows);
}

#[test]
fn recipients_of_solana() {
    let file = include_str!("../../../../assets/vectors/chain/solana.json");
    let of = |case| sample(file, case, "transaction");
    let with = "HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk";
    let rows = [
        (
            with,
            &*of("transfer"),
            "GjJyeC1r2RgkuoCWMyPYkCWSGSGLcz266EaAkLA27AhL",
            "GjJyeC1r2RgkuoCWMyPYkCWSGSGLcz266EaAkLA37AhL",
        ),
        // Tokens go to a new account; the book contains its wallet.
        (
            with,
            &*of("tokens to a new account, with a price and a memo"),
            "mBKqcnGotbsSb5vNrdyhzZ5EhqZdids9QYiTRckvi7v",
            "mBKqcnGotbsSb5vNrdyhzZ5EhqZdids9QYiTRbkvi7v",
        ),
    ];
    check_books("recipients_of_solana", Chain::Solana, &rows);
}

#[test]
fn recipients_of_tron() {
    let file = include_str!("../../../../assets/vectors/chain/tron.json");
    let of = |case| sample(file, case, "unsigned");
    let with = "TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH";
    let (known, similar) = ("TGrLpry8MNqMuMUTe2VXv5wYkRuFEsbKsE", "TGrLpry8MNqMX5Pf7DebbNoGDk16f5BKse");
    let rows = [
        (with, &*of("a transfer"), known, similar),
        (
            with,
            &*of("a transfer of tokens"),
            "TBXSw8fM4jpQkGc6zZjsVABFpVN7UvXPdV",
            "TBXSw8fM4jpQiANbL3nAYfwzQ7CJv7xpDV",
        ),
    ];
    check_books("recipients_of_tron", Chain::Tron, &rows);
}

#[test]
fn recipients_of_bitcoin() {
    let file = include_str!("../../../../assets/vectors/chain/psbt_signed.json");
    let payment = sample(file, "P2WPKH, one input", "psbt");
    let with = "bc1ql3e9pgs3mmwuwrh95fecme0s0qtn2880lsvsd5";
    let (known, similar) =
        ("bc1qx56n2df4x56n2df4x56n2df4x56n2df4tyakx6", "bc1qx56n2df4x56n2df4x56n2df4x56jhmaqkkakx6");
    check_books("recipients_of_bitcoin", Chain::Bitcoin, &[(with, &payment, known, similar)]);
}

#[test]
fn recipients_that_only_the_daemon_states() {
    let mut organization = sample_organization();
    let template: PrivateKey = organization.private_keys[0].clone();
    let held =
        |address: &str| Address { format: "ADDRESS_FORMAT_ETHEREUM".to_owned(), address: address.to_owned() };
    organization.private_keys.push(PrivateKey {
        private_key_name: "hot".to_owned(),
        addresses: vec![held("0x3535353535353535353535353535353535353535")],
        ..template
    });
    let by = |with: &str| json!({"signWith": with, "unsignedTransaction": ETHER, "type": "TRANSACTION_TYPE_ETHEREUM"});
    let parameters = by(SIGNER);
    // The signer's own address is in the signed bytes.
    let own = by("0x3535353535353535353535353535353535353535");
    let kind = "ACTIVITY_TYPE_SIGN_TRANSACTION_V2";
    let rows = [(&organization, &parameters), (&sample_organization(), &own)]
        .map(|(organization, parameters)| described(kind, parameters, organization, &Book::EMPTY));
    snapshot("recipients_that_only_the_daemon_knows", &rows);
}
