//! Libraries of the chains, unmodified, make transactions and payloads by chance, and find each right that was signed.

use serde_json::Value;

use crate::foreign;

/// How many of each chain.
const COUNT: u64 = 1_000;

/// Asserts that as many as were asked for hold, and that each of these kinds was among them.
async fn all_hold(program: &str, kinds: &[&str]) {
    let (_daemon, seen) = foreign::run("npm", &["node", program, &COUNT.to_string()]).await;
    assert_eq!(seen["failures"], Value::Array(Vec::new()), "{program}: {seen:#}");
    assert_eq!(seen["failed"], 0, "{program}: {seen:#}");
    assert_eq!(seen["verified"], COUNT, "{program}: {seen:#}");
    for kind in kinds {
        let count = seen["counts"][kind].as_u64().unwrap_or(0);
        assert!(count >= COUNT / 100, "{program}: {kind} {count} times: {seen:#}");
    }
}

#[tokio::test]
async fn ethereum() {
    let types = [
        "old", "legacy", "eip2930", "eip1559", "eip4844", "eip7702", "creation", "viem", "ethers", "refused",
    ];
    all_hold("verify_ethereum.mjs", &types).await;
}

#[tokio::test]
async fn bitcoin() {
    let kinds = [
        "P2PKH",
        "P2SH",
        "P2WPKH",
        "P2WSH",
        "P2TR",
        "mixed",
        "foreign",
        "shared",
        "several inputs",
        "refused",
    ];
    all_hold("verify_bitcoin.mjs", &kinds).await;
}

#[tokio::test]
async fn solana() {
    let kinds =
        ["legacy", "versioned legacy", "v0", "several signers", "signed before", "lookups", "refused"];
    all_hold("verify_solana.mjs", &kinds).await;
}

#[tokio::test]
async fn tron() {
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
    all_hold("verify_tron.mjs", &contracts).await;
}

#[tokio::test]
async fn payloads() {
    let kinds = ["typed data", "authorization", "viem", "ethers", "secp256k1", "p256", "ed25519"];
    all_hold("verify_payloads.mjs", &kinds).await;
}

/// Every answer that a part gave, in order of their names.
fn answers(part: &Value) -> Vec<&Value> {
    match part {
        Value::Array(list) => list.iter().flat_map(answers).collect(),
        Value::Object(members) => members.values().flat_map(answers).collect(),
        other => vec![other],
    }
}

#[tokio::test]
async fn integrations_of_libraries() {
    let (_daemon, seen) = foreign::run("npm", &["node", "accounts.mjs"]).await;
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
