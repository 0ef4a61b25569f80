//! Tests of the descriptions of Tron transactions, with bytes from an independent implementation.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use serde_json::{Value, json};

use super::check;

/// Returns the case name and the bytes of all rows.
fn samples() -> Vec<(String, String)> {
    let file: Value =
        serde_json::from_str(include_str!("../../../../assets/vectors/chain/tron.json")).unwrap();
    let rows = file["rows"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    rows.iter().map(|row| (text(&row["case"]), text(&row["unsigned"]))).collect()
}

fn sign(unsigned: &str) -> (&'static str, Value) {
    let parameters = json!({
        "signWith": "TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH",
        "unsignedTransaction": unsigned,
        "type": "TRANSACTION_TYPE_TRON",
    });
    ("SIGN_TRANSACTION_V2", parameters)
}

fn check_samples(name: &str, is_wanted: impl Fn(&str) -> bool) {
    let samples = samples();
    let rows: Vec<_> =
        samples.iter().filter(|(case, _)| is_wanted(case)).map(|(_, bytes)| sign(bytes)).collect();
    check(name, &rows);
}

#[test]
fn tron_transfers() {
    check_samples("tron_transfers", |case| case.contains("transfer"));
}

#[test]
fn tron_calls() {
    check_samples("tron_calls", |case| case.contains("call") || case.contains("approval"));
}

#[test]
fn tron_stakes() {
    check_samples("tron_stakes", |case| case.contains("stake") || case.contains("delegation"));
}

#[test]
fn tron_permissions() {
    check_samples("tron_permissions", |case| case.starts_with("permissions"));
}

#[test]
fn tron_hostile() {
    let transfer = &samples()[0].1;
    // A memo that reverses the text and moves the cursor, and one that is not text.
    let memo = |hex: &str| {
        let written = format!("52{:02x}{hex}5a67", hex.len() / 2);
        transfer.replacen("5a67", &written, 1)
    };
    check(
        "tron_hostile",
        &[
            sign(&memo("e280ae746e657322201b5b324a")),
            sign(&memo("fffefd")),
            // A vote for a witness, an unknown member, a truncated transaction, and an empty one.
            sign(&transfer.replacen("5a670801", "5a670804", 1)),
            sign(&format!("{transfer}1801")),
            sign(&transfer[..120]),
            sign("00"),
        ],
    );
}
