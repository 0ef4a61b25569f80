//! Tests of the descriptions of Bitcoin transactions.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use serde_json::{Value, json};

use super::check;

/// Returns the PSBT of a published sample.
fn sample(case: &str) -> String {
    let file = include_str!("../../../../assets/vectors/chain/psbt_signed.json");
    let file: Value = serde_json::from_str(file).unwrap();
    let rows = file["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["case"] == case).unwrap();
    row["psbt"].as_str().unwrap().to_owned()
}

fn signed(with: &str, psbt: &str) -> (&'static str, Value) {
    let parameters =
        json!({"signWith": with, "unsignedTransaction": psbt, "type": "TRANSACTION_TYPE_BITCOIN"});
    ("SIGN_TRANSACTION_V2", parameters)
}

// Addresses and public key of the private key with 32 bytes 0x11, computed by another library.
const P2WPKH: &str = "bc1ql3e9pgs3mmwuwrh95fecme0s0qtn2880lsvsd5";
const P2TR: &str = "bc1p9fjtrm3nwhemkjek0wxtswz2glmneu33w9lcylrvd7alttk0psmq6cnwza";
const TESTNET: &str = "tb1ql3e9pgs3mmwuwrh95fecme0s0qtn28804khrk8";
const KEY: &str = "034f355bdcb7cc0af728ef3cceb9615d90684bb5b2ca5f859ab0f0b704075871aa";

#[test]
fn bitcoin_payments() {
    check(
        "bitcoin_payments",
        &[
            signed(P2WPKH, &sample("P2WPKH, one input")),
            signed(KEY, &sample("P2PKH, one input")),
            signed(P2TR, &sample("everything comes back")),
            signed(TESTNET, &sample("P2WPKH beside an input of somebody else")),
            signed(KEY, &sample("P2SH, 2 of 2")),
            signed(P2TR, &sample("P2TR without its internal key")),
        ],
    );
}

#[test]
fn bitcoin_dangers() {
    let fine = sample("P2WPKH, one input");
    check(
        "bitcoin_dangers",
        &[
            signed(P2WPKH, &sample("a high fee")),
            signed(P2WPKH, &sample("an input that does not say what it spends")),
            signed(P2WPKH, &sample("outputs that nobody is known to spend")),
            signed("77777777-7777-7777-7777-777777777777", &fine),
            signed("88888888-7777-7777-7777-777777777777", &fine),
            signed(P2TR, &fine),
            signed(P2WPKH, &fine[..100]),
            signed(P2WPKH, &format!("{fine}00")),
        ],
    );
}
