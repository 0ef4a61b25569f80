//! Tests of the descriptions of Ethereum transactions, with bytes from an independent implementation.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use serde_json::{Value, json};

use super::check;

fn check_samples(name: &str, is_wanted: impl Fn(&str) -> bool) {
    let file = include_str!("../../../../assets/vectors/chain/ethereum_reviewed.json");
    let file: Value = serde_json::from_str(file).unwrap();
    let rows = file["rows"].as_array().unwrap().iter().filter(|row| is_wanted(row["case"].as_str().unwrap()));
    let sign = |row: &Value| {
        let with = "0x9858EfFD232B4033E47d90003D41EC34EcaEda94";
        let unsigned = &row["unsigned"];
        let parameters =
            json!({"signWith": with, "unsignedTransaction": unsigned, "type": "TRANSACTION_TYPE_ETHEREUM"});
        ("SIGN_TRANSACTION_V2", parameters)
    };
    check(name, &rows.map(sign).collect::<Vec<_>>());
}

#[test]
fn ethereum_delegations() {
    check_samples("ethereum_delegations", |case| case.contains("delegat"));
}

#[test]
fn ethereum_approvals() {
    check_samples("ethereum_approvals", |case| case.contains("tokens") || case.contains("approval"));
}

#[test]
fn ethereum_fees() {
    check_samples("ethereum_fees", |case| case.contains("fee") || case.contains("blobs"));
}

#[test]
fn ethereum_coins() {
    check_samples("ethereum_coins", |case| case.contains("coin"));
}
