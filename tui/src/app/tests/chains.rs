//! Transactions of each chain and typed data, of which the daemon says something else than what was signed.

use quorate_common::fingerprint::Fingerprint;
use serde_json::{Value, json};

use super::*;
use crate::proof::Mark;

/// What was signed, and the same to somebody else.
struct Swap {
    name: &'static str,
    activity_type: &'static str,
    intent: &'static str,
    signed: Value,
    other: Value,
    /// Who gets it, and who gets the other, as reviews tell it.
    recipients: [&'static str; 2],
}

/// The bytes of a published sample.
fn sample(file: &str, case: &str, member: &str) -> String {
    let file: Value = serde_json::from_str(file).unwrap();
    let row = file["rows"].as_array().unwrap().iter().find(|row| row["case"] == case).unwrap();
    row[member].as_str().unwrap().to_owned()
}

/// A transaction to a recipient, in hex, and to another in its place.
fn transaction(
    chain: &'static str,
    with: &str,
    unsigned: &str,
    [to, other]: [&str; 2],
    recipients: [&'static str; 2],
) -> Swap {
    let kind = format!("TRANSACTION_TYPE_{chain}");
    let parameters =
        |unsigned: &str| json!({"signWith": with, "unsignedTransaction": unsigned, "type": kind});
    assert_eq!(unsigned.matches(to).count(), 1, "{chain}");
    Swap {
        name: chain,
        activity_type: "ACTIVITY_TYPE_SIGN_TRANSACTION_V2",
        intent: "signTransactionIntentV2",
        signed: parameters(unsigned),
        other: parameters(&unsigned.replace(to, other)),
        recipients,
    }
}

/// A permit of tokens (EIP-2612), and one for another spender.
fn permit() -> Swap {
    let recipients =
        ["0x3535353535353535353535353535353535353535", "0x1111111111111111111111111111111111111111"];
    let members: Value = ["owner address", "spender address", "value uint256"]
        .map(|member| member.split_once(' ').unwrap())
        .iter()
        .map(|(name, solidity)| json!({"name": name, "type": solidity}))
        .collect();
    let parameters = |spender: &str| {
        let data = json!({
            "types": {"EIP712Domain": [{"name": "name", "type": "string"}], "Permit": members},
            "primaryType": "Permit",
            "domain": {"name": "USD Coin"},
            "message": {"owner": "0x9858effd232b4033e47d90003d41ec34ecaeda94", "spender": spender, "value": "5000000"}
        });
        json!({"signWith": "0x9858EfFD232B4033E47d90003D41EC34EcaEda94", "payload": data.to_string(),
            "encoding": "PAYLOAD_ENCODING_EIP712", "hashFunction": "HASH_FUNCTION_NO_OP"})
    };
    Swap {
        name: "typed data",
        activity_type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2",
        intent: "signRawPayloadIntentV2",
        signed: parameters(recipients[0]),
        other: parameters(recipients[1]),
        recipients,
    }
}

/// One of each chain. The other recipients' addresses are by @solana/web3.js's bs58, and bitcoinjs-lib.
fn swaps() -> [Swap; 5] {
    let (fives, ones) = ("35".repeat(20), "11".repeat(20));
    [
        transaction(
            "ETHEREUM",
            "0x9858EfFD232B4033E47d90003D41EC34EcaEda94",
            &sample(include_str!("../../../../assets/vectors/chain/ethereum.json"), "type 2", "unsigned"),
            [&fives, &ones],
            ["0x3535353535353535353535353535353535353535", "0x1111111111111111111111111111111111111111"],
        ),
        transaction(
            "SOLANA",
            "HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk",
            &sample(include_str!("../../../../assets/vectors/chain/solana.json"), "transfer", "transaction"),
            ["e9b6062841bb977ad21de71ec961900633c26f21384e015b014a637a61499547", &"09".repeat(32)],
            ["GjJyeC1r2RgkuoCWMyPYkCWSGSGLcz266EaAkLA27AhL", "cGfHiC6Kgg3FpFZvgwGcswsCRtp4aBP2fzuXRQPizuN"],
        ),
        transaction(
            "TRON",
            "TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH",
            &sample(include_str!("../../../../assets/vectors/chain/tron.json"), "a transfer", "unsigned"),
            ["4b7c80042579bbe4b467e90bf294b93568ab3200", &fives],
            ["TGrLpry8MNqMuMUTe2VXv5wYkRuFEsbKsE", "TEpYZAv4zzwchQvzCNAS7t9PdGSGZgbhUa"],
        ),
        transaction(
            "BITCOIN",
            "bc1ql3e9pgs3mmwuwrh95fecme0s0qtn2880lsvsd5",
            &sample(
                include_str!("../../../../assets/vectors/chain/psbt_signed.json"),
                "P2WPKH, one input",
                "psbt",
            ),
            [&fives, &ones],
            ["bc1qx56n2df4x56n2df4x56n2df4x56n2df4tyakx6", "bc1qzyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3h8ffkz"],
        ),
        permit(),
    ]
}

/// The console in front of a record, read to its end, after `a` was pressed: whether the review had a line marked
/// `[x]`, whether a decision began, and the notice.
fn approving(stage: &Stage, record: &ReviewRecord) -> (bool, bool, String) {
    let mut desk = Desk::new(stage, std::slice::from_ref(record), (120, 60));
    desk.open(record);
    let fails = desk.shown().lines().any(|line| line.contains("[x]") && !line.contains("marks:"));
    for _ in 0..20 {
        desk.press(Key::PageDown);
    }
    desk.press(Key::Char('a'));
    (fails, desk.model.decide.is_some(), desk.model.notice.clone())
}

/// Asserts that a lie fails this check, with a line marked `[x]`, and that nobody approves it.
fn found_out(stage: &Stage, record: &ReviewRecord, check: &str, swap: &Swap) {
    let (name, review) = (swap.name, stage.review(record, 0));
    let found = review.checks.iter().find(|found| found.id == check);
    assert_eq!(found.map(|check| check.mark), Some(Mark::Failed), "{name} {check}: {found:?}");
    assert!(review.blocked() && review.approve_refusal().is_some(), "{name} {check}");
    let (fails, decides, notice) = approving(stage, record);
    assert!(fails && !decides && notice.contains("a check failed"), "{name} {check}: {notice}");
}

/// All that a review tells of the signed bytes.
fn told(stage: &Stage, record: &ReviewRecord) -> String {
    let review = stage.review(record, 0);
    let fields = review.fields.iter().chain(&review.facts).map(|field| field.value.as_str());
    let mut all: Vec<&str> = fields.collect();
    all.push(&review.sentence);
    all.join("\n")
}

#[test]
fn what_was_signed_on_each_chain_is_approved_and_nothing_else() {
    let stage = Stage::new(3, 2);
    for swap in swaps() {
        let propose = |parameters: &Value| stage.propose(1, swap.activity_type, swap.intent, parameters);
        let (honest, other) = (propose(&swap.signed), propose(&swap.other));
        for (record, [to, not]) in [(&honest, [0, 1]), (&other, [1, 0])] {
            let told = told(&stage, record);
            assert!(told.contains(swap.recipients[to]), "{}: {told}", swap.name);
            assert!(!told.contains(swap.recipients[not]), "{}: {told}", swap.name);
            let (fails, decides, notice) = approving(&stage, record);
            assert!(decides && !fails, "{}: {notice}", swap.name);
        }

        // The rendering is of the other, and the review tells what was signed.
        let mut lie = honest.clone();
        lie.row.activity.intent.clone_from(&other.row.activity.intent);
        found_out(&stage, &lie, "K4", &swap);
        let told = told(&stage, &lie);
        assert!(told.contains(swap.recipients[0]) && !told.contains(swap.recipients[1]), "{}", swap.name);

        // The body is the other's, under the fingerprint of what was signed.
        lie.row.activity.votes[0].message.clone_from(&other.row.activity.votes[0].message);
        found_out(&stage, &lie, "K1", &swap);

        // All is the other's but the signature.
        let message = &lie.row.activity.votes[0].message;
        lie.row.activity.fingerprint = Fingerprint::of(message.as_bytes());
        found_out(&stage, &lie, "K5", &swap);
    }
}
