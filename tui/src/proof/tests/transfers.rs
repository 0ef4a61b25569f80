//! Tests of the comparison with earlier transfers: what counts, and near misses of the flag `largest-so-far`.

use std::collections::BTreeMap;

use quorate_common::activity::Status;
use quorate_common::console::ActivityRow;
use quorate_common::wire::Timestamp;
use serde_json::json;

use super::*;
use crate::kinds::Sent;

const WITH: &str = "0x9858EfFD232B4033E47d90003D41EC34EcaEda94";
const OTHER: &str = "0xfd29c1148A76b673eEFCcfb82dcA00Bc7AAF471E";
const DAY: u64 = 86_400_000;

/// Returns a request to send this amount of wei, as 16 hex digits, with a nonce on a chain. The layout is that of the
/// sample of EIP-155.
fn payment(with: &str, wei: &str, nonce: u8, chain: u8) -> ReviewRecord {
    let unsigned = format!(
        "ec{nonce:02x}8504a817c80082520894353535353535353535353535353535353535353588{wei}80{chain:02x}8080"
    );
    let parameters =
        json!({"signWith": with, "unsignedTransaction": unsigned, "type": "TRANSACTION_TYPE_ETHEREUM"});
    let fixture = Fixture::new(3, 2);
    fixture.propose(1, "ACTIVITY_TYPE_SIGN_TRANSACTION_V2", "signTransactionIntentV2", &parameters)
}

const ETHER: &str = "0de0b6b3a7640000";
const ETHER_AND_ONE: &str = "0de0b6b3a7640001";

/// Returns an executed activity.
fn executed(record: &ReviewRecord, at: u64) -> ActivityRow {
    let mut row = record.row.clone();
    row.activity.status = Status::Completed;
    row.activity.updated_at = Timestamp::from_millis(at);
    row
}

/// Returns the description of earlier transfers and whether the flag is raised.
fn compared(current: &ReviewRecord, rows: &[ActivityRow], journal: Vec<Sent>) -> (String, bool) {
    let mut review = Fixture::new(3, 2).review(current, 0);
    let before = review.flags.len();
    let past = Past::of(&review, (rows, false), BTreeMap::new(), journal);
    review.compare_with(&past);
    let is_flagged = review.flags.iter().any(|flag| flag.name == "largest-so-far");
    // Comparing again changes nothing.
    let first = review.flags.clone();
    review.compare_with(&past);
    assert_eq!(review.flags, first);
    assert_eq!(review.flags.len(), before + usize::from(is_flagged));
    (review.transfer.unwrap().before.join("\n"), is_flagged)
}

#[test]
fn an_amount_above_all_earlier_ones_is_flagged() {
    let earlier = [
        executed(&payment(WITH, ETHER, 1, 1), 20_000 * DAY),
        executed(&payment(WITH, "000000000000000a", 2, 1), 20_001 * DAY),
    ];
    // Leading zeros are no canonical integer, so the second one cannot be decoded and counts as examined only.
    let (text, flagged) = compared(&payment(WITH, ETHER_AND_ONE, 3, 1), &earlier, Vec::new());
    assert!(flagged, "{text}");
    assert_eq!(
        text,
        "signed 1 time, last 2024-10-04, at most 1 ETH (1000000000000000000 wei), among the 2 executed \
         transactions that the daemon lists [s]; not in your journal"
    );
    let (_, flagged) = compared(&payment(WITH, ETHER, 3, 1), &earlier, Vec::new());
    assert!(!flagged, "the same amount");
}

#[test]
fn only_executed_transfers_of_the_same_account_and_asset_count() {
    let current = payment(WITH, ETHER_AND_ONE, 9, 1);
    let none = "never signed: not among the";
    let of_other = executed(&payment(OTHER, ETHER, 1, 1), DAY);
    let (text, flagged) = compared(&current, &[of_other], Vec::new());
    assert!(text.starts_with(none) && !flagged, "{text}");

    let mut failed = executed(&payment(WITH, ETHER, 1, 1), DAY);
    failed.activity.status = Status::Failed;
    let (text, flagged) = compared(&current, &[failed], Vec::new());
    assert!(text.contains("the 0 executed") && !flagged, "{text}");

    // The daemon states other bytes than those of the fingerprint.
    let mut forged = executed(&payment(WITH, ETHER, 1, 1), DAY);
    forged.activity.votes[0].message.push(' ');
    let (text, flagged) = compared(&current, &[forged], Vec::new());
    assert!(text.starts_with(none) && !flagged, "{text}");

    // On another chain, the same number of base units is another asset.
    let (text, flagged) = compared(&current, &[executed(&payment(WITH, ETHER, 1, 10), DAY)], Vec::new());
    assert!(text.contains("signed 1 time") && text.contains("always another asset") && !flagged, "{text}");

    // The activity itself is no earlier one.
    let (text, flagged) = compared(&current, &[executed(&current, DAY)], Vec::new());
    assert!(text.starts_with(none) && !flagged, "{text}");
}

#[test]
fn the_own_journal_counts_when_the_daemon_lists_nothing() {
    let fixture = Fixture::new(3, 2);
    let current = payment(WITH, ETHER_AND_ONE, 9, 1);
    let earlier = fixture.review(&payment(WITH, ETHER, 1, 1), 0);
    let sent: Vec<Sent> = earlier.transfer.as_ref().unwrap().sent(20_000 * DAY).collect();
    let (text, flagged) = compared(&current, &[], sent.clone());
    assert!(flagged && text.contains("in your journal 1 time, last 2024-10-04, at most 1 ETH"), "{text}");
    // An entry about the activity itself does not count.
    let own = Some(current.row.activity.id);
    let own: Vec<Sent> = sent.into_iter().map(|sent| Sent { activity: own, ..sent }).collect();
    let (text, flagged) = compared(&current, &[], own);
    assert!(!flagged && text.ends_with("not in your journal"), "{text}");
}

#[test]
fn an_account_is_the_same_by_each_of_its_names() {
    let fixture = Fixture::new(3, 2);
    let (id, public_key) = ("52525252-5252-5252-5252-525252525252", "02aa".to_owned() + &"1".repeat(62));
    let account = json!({
        "walletAccountId": id, "organizationId": Fixture::id(), "walletId": "51515151-5151-5151-5151-515151515151",
        "curve": "CURVE_SECP256K1", "pathFormat": "PATH_FORMAT_BIP32", "path": "m/44'/60'/0'/0/0",
        "addressFormat": "ADDRESS_FORMAT_ETHEREUM", "address": WITH, "publicKey": public_key,
        "createdAt": {"seconds": "0", "nanos": "0"}, "updatedAt": {"seconds": "0", "nanos": "0"},
    });
    let signer: quorate_common::console::Signer =
        serde_json::from_value(json!({"walletAccount": account})).unwrap();
    for (now, before) in [(WITH, id), (id, WITH), (WITH, public_key.as_str()), (id, public_key.as_str())] {
        let mut current = payment(now, ETHER_AND_ONE, 9, 1);
        current.rule_inputs.as_mut().unwrap().signers.insert(now.to_owned(), signer.clone());
        let transfer = fixture.review(&current, 0).transfer.unwrap();
        assert_eq!(transfer.payer.from, WITH, "the address, whatever the request names");
        let (text, flagged) = compared(&current, &[executed(&payment(before, ETHER, 1, 1), DAY)], Vec::new());
        assert!(flagged && text.starts_with("signed 1 time"), "{now} {before}: {text}");
    }
}

#[test]
fn recipients_that_are_not_compared_are_counted() {
    let current = payment(WITH, ETHER, 1, 1);
    let mut review = Fixture::new(3, 2).review(&current, 0);
    let transfer = review.transfer.as_mut().unwrap();
    let first = transfer.payments[0].clone();
    let other =
        |number: u8| crate::kinds::Payment { address: format!("recipient {number}"), ..first.clone() };
    transfer.payments.extend((1..=9).map(other));
    let past = Past::of(&review, (&[], false), BTreeMap::new(), Vec::new());
    review.compare_with(&past);
    let before = review.transfer.unwrap().before;
    assert_eq!(before.len(), 9, "{before:?}");
    assert_eq!(before[8], "[!] 2 more, of smaller payments: not compared with earlier transfers");
}
