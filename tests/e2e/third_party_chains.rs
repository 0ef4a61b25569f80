//! Unmodified libraries of each chain generate random transactions and payloads, and verify each signed
//! result.

use serde_json::Value;

use crate::third_party;

/// Number of transactions per chain.
const COUNT: u64 = 1_000;

/// Asserts that all signatures verify, and that each of these kinds occurred.
async fn assert_all_verified(program: &str, kinds: &[&str]) {
    let (_daemon, seen) = third_party::run("npm", &["node", program, &COUNT.to_string()]).await;
    assert_eq!(seen["failures"], Value::Array(Vec::new()), "{program}: {seen:#}");
    assert_eq!(seen["failed"], 0, "{program}: {seen:#}");
    assert_eq!(seen["verified"], COUNT, "{program}: {seen:#}");
    for kind in kinds {
        let count = seen["counts"][kind].as_u64().unwrap_or(0);
        assert!(count >= COUNT / 100, "{program}: {kind} {count} times: {seen:#}");
    }
}

#[tokio::test]
async fn ethereum_libraries_verify_signed_transactions() {
    let types = [
        "old", "legacy", "eip2930", "eip1559", "eip4844", "eip7702", "creation", "viem", "ethers", "refused",
    ];
    assert_all_verified("verify_ethereum.mjs", &types).await;
}

#[tokio::test]
async fn bitcoin_libraries_verify_signed_transactions() {
    let kinds = [
        "P2PKH",
        "P2SH",
        "P2WPKH",
        "P2WSH",
        "P2TR",
        "mixed",
        "other inputs",
        "shared",
        "several inputs",
        "refused",
    ];
    assert_all_verified("verify_bitcoin.mjs", &kinds).await;
}

#[tokio::test]
async fn solana_libraries_verify_signed_transactions() {
    let kinds =
        ["legacy", "versioned legacy", "v0", "several signers", "signed before", "lookups", "refused"];
    assert_all_verified("verify_solana.mjs", &kinds).await;
}

#[tokio::test]
async fn tron_libraries_verify_signed_transactions() {
    let contracts = [
        "TransferContract",
        "TriggerSmartContract",
        "FreezeBalanceV2Contract",
        "UnfreezeBalanceV2Contract",
        "DelegateResourceContract",
        "UnDelegateResourceContract",
        "AccountPermissionUpdateContract",
        "refused",
    ];
    assert_all_verified("verify_tron.mjs", &contracts).await;
}

#[tokio::test]
async fn libraries_verify_signed_payloads() {
    let kinds = ["typed data", "authorization", "viem", "ethers", "secp256k1", "p256", "ed25519"];
    assert_all_verified("verify_payloads.mjs", &kinds).await;
}

/// Returns all answers of a part, ordered by name.
fn answers(part: &Value) -> Vec<&Value> {
    match part {
        Value::Array(list) => list.iter().flat_map(answers).collect(),
        Value::Object(members) => members.values().flat_map(answers).collect(),
        other => vec![other],
    }
}

#[tokio::test]
async fn library_integrations_sign_through_the_daemon() {
    let (_daemon, seen) = third_party::run("npm", &["node", "accounts.mjs"]).await;
    let parts = seen.as_object().expect("parts");
    assert_eq!(parts.len(), 11, "three integrations over two clients, and waiting for votes: {seen:#}");
    for (name, part) in parts {
        let count = match name.split(',').next() {
            Some("viem") => 12,
            Some("ethers") => 9,
            Some("solana") => 7,
            _ => 3,
        };
        let answers = answers(part);
        assert_eq!(answers.len(), count, "{name}: {part:#}");
        assert!(answers.iter().all(|answer| **answer == true), "{name}: {part:#}");
    }
}
