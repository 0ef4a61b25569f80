//! Tests with transactions of each chain and typed data for which the daemon states something else than what
//! was signed.

use quorate_common::fingerprint::Fingerprint;
use serde_json::{Value, json};

use super::*;
use crate::proof::Mark;

/// A signed request, and the same request for another recipient.
struct Swap {
    name: &'static str,
    activity_type: &'static str,
    intent: &'static str,
    signed: Value,
    other: Value,
    /// Recipients of the signed and of the other request, as reviews show them.
    recipients: [&'static str; 2],
}

/// Returns a member of a published test vector.
fn sample(file: &str, row_name: &str, member: &str) -> String {
    let file: Value = serde_json::from_str(file).unwrap();
    let row = file["rows"].as_array().unwrap().iter().find(|row| row["case"] == row_name).unwrap();
    row[member].as_str().unwrap().to_owned()
}

/// Returns a transaction to a recipient, in hex, and the same transaction to another recipient.
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

/// Returns a token permit (EIP-2612), and the same permit for another spender.
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

/// Returns one swap per chain. The addresses of the other recipients were computed with bs58 of
/// @solana/web3.js and with bitcoinjs-lib.
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

/// Reads a record to its end in the console and presses `a`. Returns whether the review had a line marked
/// `[x]`, whether a decision started, and the notice.
fn approving(fixture: &Fixture, record: &ReviewRecord) -> (bool, bool, String) {
    let mut console = TestConsole::new(fixture, std::slice::from_ref(record), (120, 60));
    console.open(record);
    let fails = console.shown().lines().any(|line| line.contains("[x]") && !line.contains("marks:"));
    for _ in 0..20 {
        console.press(Key::PageDown);
    }
    console.press(Key::Char('a'));
    (fails, console.is_deciding(), console.model.notice.clone())
}

/// Asserts that a forged record fails this check, shows a line marked `[x]` and cannot be approved.
fn assert_detected(fixture: &Fixture, record: &ReviewRecord, check: &str, swap: &Swap) {
    let (name, review) = (swap.name, fixture.review(record, 0));
    let found = review.checks.iter().find(|candidate| candidate.id == check);
    assert_eq!(found.map(|check| check.mark), Some(Mark::Failed), "{name} {check}: {found:?}");
    assert!(review.blocked() && review.approval_error().is_some(), "{name} {check}");
    let (fails, decides, notice) = approving(fixture, record);
    assert!(fails && !decides && notice.contains("a check failed"), "{name} {check}: {notice}");
}

/// Returns all text that a review shows about the signed bytes.
fn shown_text(fixture: &Fixture, record: &ReviewRecord) -> String {
    let review = fixture.review(record, 0);
    let fields = review.fields.iter().chain(&review.facts).map(|field| field.value.as_str());
    let mut all: Vec<&str> = fields.collect();
    all.push(&review.sentence);
    all.join("\n")
}

#[test]
fn only_the_signed_recipient_is_approved_on_each_chain() {
    let fixture = Fixture::new(3, 2);
    for swap in swaps() {
        let propose = |parameters: &Value| fixture.propose(1, swap.activity_type, swap.intent, parameters);
        let (honest, other) = (propose(&swap.signed), propose(&swap.other));
        for (record, [to, not]) in [(&honest, [0, 1]), (&other, [1, 0])] {
            let shown = shown_text(&fixture, record);
            assert!(shown.contains(swap.recipients[to]), "{}: {shown}", swap.name);
            assert!(!shown.contains(swap.recipients[not]), "{}: {shown}", swap.name);
            let (fails, decides, notice) = approving(&fixture, record);
            assert!(decides && !fails, "{}: {notice}", swap.name);
        }

        // The stated intent is the other request; the review shows what was signed.
        let mut forged = honest.clone();
        forged.row.activity.intent.clone_from(&other.row.activity.intent);
        assert_detected(&fixture, &forged, "K4", &swap);
        let shown = shown_text(&fixture, &forged);
        assert!(shown.contains(swap.recipients[0]) && !shown.contains(swap.recipients[1]), "{}", swap.name);

        // The body is the other request, with the fingerprint of the signed one.
        forged.row.activity.votes[0].message.clone_from(&other.row.activity.votes[0].message);
        assert_detected(&fixture, &forged, "K1", &swap);

        // Everything except the signature is from the other request.
        let message = &forged.row.activity.votes[0].message;
        forged.row.activity.fingerprint = Fingerprint::of(message.as_bytes());
        assert_detected(&fixture, &forged, "K5", &swap);
    }
}
