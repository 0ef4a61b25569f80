//! Tests of the descriptions of Solana transactions.

use serde_json::{Value, json};

use super::check;

/// Returns a transaction that another library wrote.
fn sample(case: &str) -> String {
    let file = include_str!("../../../../assets/vectors/chain/solana.json");
    let file: Value = serde_json::from_str(file).unwrap();
    let row = file["rows"].as_array().unwrap().iter().find(|row| row["case"] == case).unwrap();
    row["transaction"].as_str().unwrap().to_owned()
}

fn sign(unsigned: &str) -> (&'static str, Value) {
    let with = "HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk";
    let parameters =
        json!({"signWith": with, "unsignedTransaction": unsigned, "type": "TRANSACTION_TYPE_SOLANA"});
    ("SIGN_TRANSACTION_V2", parameters)
}

fn check_samples(name: &str, cases: &[&str]) {
    let rows: Vec<_> = cases.iter().map(|case| sign(&sample(case))).collect();
    check(name, &rows);
}

#[test]
fn solana_transfers() {
    check_samples(
        "solana_transfers",
        &[
            "transfer",
            "tokens to a new account, with a price and a memo",
            "every transfer of tokens",
            "paid by another, who has signed",
            "no instructions",
        ],
    );
}

#[test]
fn solana_dangers() {
    let cases = ["approval and authorities", "accounts and their owners", "nonce", "keeping a nonce"];
    let mut rows: Vec<_> = cases.iter().map(|case| sign(&sample(case))).collect();
    // A compute unit price of 2,500 micro-lamports, and of 2,500 lamports.
    let priced = sample("tokens to a new account, with a price and a memo");
    let price = |millionths: u64| format!("0903{}", const_hex::encode(millionths.to_le_bytes()));
    let dear = priced.replace(&price(2_500), &price(2_500_000_000));
    assert_ne!(dear, priced);
    rows.push(sign(&dear));
    check("solana_dangers", &rows);
}

#[test]
fn solana_unknown() {
    let mut rows: Vec<_> = ["sample of solana-transaction", "recipient from a table", "sample of web3.js"]
        .map(|case| sign(&sample(case)))
        .into();
    // A memo that would reverse the line, and a truncated transaction.
    let memo = sample("tokens to a new account, with a price and a memo");
    rows.push(sign(
        &memo.replace(&const_hex::encode("Invoice 42"), &const_hex::encode("a\u{202e}b\u{200b}\nc")),
    ));
    rows.push(sign(&sample("transfer")[..200]));
    check("solana_unknown", &rows);
}
