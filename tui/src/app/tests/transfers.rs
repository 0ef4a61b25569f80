//! Tests of the review of transactions: the amount first, whole addresses, earlier transfers, and the challenge.

use quorate_chain::address::Chain;
use quorate_common::console::Signer;
use quorate_common::ids::{ActivityId, OrganizationId, WalletAccountId, WalletId};
use quorate_common::wire::WalletAccount;
use serde_json::{Value, json};

use super::*;
use crate::book::{Book, Entry};
use crate::proof::{Challenge, Review};

const SIGN: &str = "ACTIVITY_TYPE_SIGN_TRANSACTION_V2";

/// Returns a member of a test vector that another implementation wrote.
fn sample(file: &str, case: &str, member: &str) -> String {
    let file: Value = serde_json::from_str(file).unwrap();
    let row = file["rows"].as_array().unwrap().iter().find(|row| row["case"] == case).unwrap();
    row[member].as_str().unwrap().to_owned()
}

/// Returns a chain, its signer, its unsigned transaction and the recipient.
fn transactions() -> [(Chain, &'static str, String, &'static str); 4] {
    let ethereum = include_str!("../../../../assets/vectors/chain/ethereum.json");
    let solana = include_str!("../../../../assets/vectors/chain/solana.json");
    let tron = include_str!("../../../../assets/vectors/chain/tron.json");
    let bitcoin = include_str!("../../../../assets/vectors/chain/psbt_signed.json");
    [
        (
            Chain::Ethereum,
            "0x9858EfFD232B4033E47d90003D41EC34EcaEda94",
            sample(ethereum, "type 2", "unsigned"),
            "0x3535353535353535353535353535353535353535",
        ),
        (
            Chain::Solana,
            "HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk",
            sample(solana, "transfer", "transaction"),
            "GjJyeC1r2RgkuoCWMyPYkCWSGSGLcz266EaAkLA27AhL",
        ),
        (
            Chain::Tron,
            "TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH",
            sample(tron, "a transfer", "unsigned"),
            "TGrLpry8MNqMuMUTe2VXv5wYkRuFEsbKsE",
        ),
        (
            Chain::Bitcoin,
            "bc1ql3e9pgs3mmwuwrh95fecme0s0qtn2880lsvsd5",
            sample(bitcoin, "P2WPKH, one input", "psbt"),
            "bc1qx56n2df4x56n2df4x56n2df4x56n2df4tyakx6",
        ),
    ]
}

/// Returns an account of the wallet of the fixture, with an address.
pub(super) fn account(address: &str) -> Signer {
    let day = Timestamp::from_millis(0);
    let account = WalletAccount {
        wallet_account_id: WalletAccountId::from_bytes([0x52; 16]),
        organization_id: OrganizationId::from_bytes([0x9f; 16]),
        wallet_id: WalletId::from_bytes([0x51; 16]),
        curve: "CURVE_SECP256K1".to_owned(),
        path_format: "PATH_FORMAT_BIP32".to_owned(),
        path: "m/44'/60'/0'/0/0".to_owned(),
        address_format: "ADDRESS_FORMAT_ETHEREUM".to_owned(),
        address: address.to_owned(),
        created_at: day.clone(),
        updated_at: day,
        public_key: None,
        wallet_details: None,
        name: Some("\u{8cc7}\u{91d1}".to_owned()),
    };
    Signer { wallet_account: Some(account), ..Signer::default() }
}

fn record(fixture: &Fixture, chain: Chain, with: &str, unsigned: &str) -> ReviewRecord {
    let kind = format!("TRANSACTION_TYPE_{}", chain.name().to_uppercase());
    let parameters = json!({"signWith": with, "unsignedTransaction": unsigned, "type": kind});
    let mut record = fixture.propose(1, SIGN, "signTransactionIntentV2", &parameters);
    let signers = &mut record.rule_inputs.as_mut().unwrap().signers;
    signers.insert(with.to_owned(), account(with));
    record
}

fn answer(rows: Vec<ActivityRow>, owners: BTreeMap<String, Signer>) -> EarlierTransfers {
    EarlierTransfers { rows, is_partial: false, owners }
}

#[test]
fn a_transfer_of_each_chain_begins_with_its_amount() {
    let fixture = Fixture::new(3, 2);
    for (chain, with, unsigned, to) in transactions() {
        let record = record(&fixture, chain, with, &unsigned);
        for size in [(120, 36), (80, 36)] {
            let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), size);
            console
                .model
                .shared
                .book
                .add(Entry::new(chain, to, "exchange cold", 20_000 * 86_400_000).unwrap())
                .unwrap();
            console.open(&record);
            let (shown, text) = (console.shown(), format!("transfer_{}_{}x{}", chain.name(), size.0, size.1));
            assert!(shown.contains(with) && shown.contains(to), "whole addresses: {shown}");
            snapshot(&text, &shown);
        }
    }
}

#[test]
fn unknown_recipients_and_own_accounts_differ() {
    let fixture = Fixture::new(3, 2);
    let (chain, with, unsigned, to) = transactions()[0].clone();
    let record = record(&fixture, chain, with, &unsigned);
    let id = record.row.activity.id;
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (80, 36));
    console.open(&record);
    assert!(console.shown().contains("to        unknown recipient"), "{}", console.shown());
    console.link(Answer::Transfers(
        id,
        Box::new(answer(Vec::new(), BTreeMap::from([(to.to_owned(), account(to))]))),
    ));
    let shown = console.shown().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        shown.contains("\"treasury-hot\" [s], account") && !shown.contains("unknown recipient"),
        "{shown}"
    );
    assert!(shown.contains("of this organization"), "{shown}");
}

/// Opens the review of a transfer, without its earlier transfers. Also returns its id and the effects of its record.
fn opened() -> (TestConsole, ActivityId, Vec<Effect>) {
    let fixture = Fixture::new(3, 2);
    let (chain, with, unsigned, _) = transactions()[0].clone();
    let record = record(&fixture, chain, with, &unsigned);
    let id = record.row.activity.id;
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (120, 60));
    console.press(Key::Enter);
    let effects = console.link(Answer::Record(id.to_string(), Box::new(record)));
    (console, id, effects)
}

/// Looks at the whole review and begins an approval.
fn approve(console: &mut TestConsole) {
    for _ in 0..5 {
        console.press(Key::PageDown);
    }
    console.press(Key::Char('a'));
    assert!(console.is_deciding(), "{}", console.model.notice);
}

#[test]
fn nothing_is_approved_before_earlier_transfers_are_known() {
    let (mut console, id, effects) = opened();
    let to = transactions()[0].3;
    let order = Order::Transfers(Fixture::id(), id, vec![to.to_owned()]);
    assert!(effects.contains(&Effect::Order(order)), "{effects:?}");
    console.press(Key::Char('a'));
    assert!(
        !console.is_deciding() && console.model.notice.contains("not loaded yet"),
        "{}",
        console.model.notice
    );
    // A failure is shown, and does not block the decision.
    let error = LinkError::Lost("gone".to_owned());
    console.link(Answer::Failed(Subject::Transfers, error));
    assert!(console.shown().contains("unknown: the daemon did not list"), "{}", console.shown());
    approve(&mut console);
}

/// Returns the answer of the challenge, and whether its prompt names the recipient.
fn challenge(review: &Review) -> (String, bool) {
    match review.challenge() {
        Challenge::Value(danger) => (danger.answer, danger.prompt.contains("payment order")),
        Challenge::LastFour(answer) => (answer, false),
        Challenge::Yes => ("y".to_owned(), false),
    }
}

#[test]
fn the_challenge_is_the_end_of_the_recipient() {
    let fixture = Fixture::new(3, 2);
    for (chain, with, unsigned, to) in transactions() {
        let mut review = fixture.review(&record(&fixture, chain, with, &unsigned), 0);
        assert_eq!(challenge(&review), (to[to.len() - 4..].to_owned(), true), "{chain:?}");
        review.risk = crate::kinds::Level::High;
        assert_eq!(challenge(&review), (to[to.len() - 8..].to_owned(), true), "{chain:?}");
    }
    let psbt = |case| sample(include_str!("../../../../assets/vectors/chain/psbt_signed.json"), case, "psbt");
    let with = transactions()[3].1;
    // A dangerous value of the kind comes before the recipient.
    let review = fixture.review(&record(&fixture, Chain::Bitcoin, with, &psbt("a high fee")), 0);
    assert_eq!(challenge(&review), ("FEE".to_owned(), false));
    // Nothing goes to others, so that there is no recipient.
    let own = "bc1p9fjtrm3nwhemkjek0wxtswz2glmneu33w9lcylrvd7alttk0psmq6cnwza";
    let review = fixture.review(&record(&fixture, Chain::Bitcoin, own, &psbt("everything comes back")), 0);
    let digits = review.proposal.as_ref().unwrap().fingerprint.hex();
    assert_eq!(challenge(&review), (digits[60..].to_owned(), false));
    // Of several outputs, the largest one counts.
    let unrelated = "88888888-7777-7777-7777-777777777777";
    let review = fixture.review(&record(&fixture, Chain::Bitcoin, unrelated, &psbt("P2WPKH, one input")), 0);
    assert_eq!(challenge(&review), ("akx6".to_owned(), true));
}

/// Earlier transfers that arrive during a decision stop it if they change the review.
#[test]
fn a_decision_does_not_outlive_the_comparison_that_it_is_based_on() {
    let (mut console, id, _) = opened();
    console.link(Answer::Failed(Subject::Transfers, LinkError::Lost("gone".to_owned())));
    approve(&mut console);
    console.link(Answer::Transfers(id, Box::new(answer(Vec::new(), BTreeMap::new()))));
    let open = console.model.review.as_ref().unwrap();
    assert_eq!(open.changed.as_deref(), Some("earlier transfers were loaded"));
}

/// A rejection can be started before earlier transfers were loaded, and does not depend on them.
#[test]
fn a_rejection_continues_while_earlier_transfers_are_loaded() {
    let (mut console, id, _) = opened();
    console.press(Key::Char('x'));
    assert!(console.is_deciding(), "{}", console.model.notice);
    console.link(Answer::Transfers(id, Box::new(answer(Vec::new(), BTreeMap::new()))));
    assert_eq!(console.model.review.as_ref().unwrap().changed, None);
    assert!(console.is_deciding() && console.shown().contains("never signed"), "{}", console.shown());
}

#[test]
fn what_an_approval_does_is_never_cut() {
    let (fixture, mut record) = threshold_proposal();
    fixture.approve(&mut record, 2);
    for columns in [120, 80, 60, 40] {
        let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (columns, 24));
        console.open(&record);
        assert!(console.shown().contains("yours EXECUTES it at once"), "{columns}: {}", console.shown());
    }
}

#[test]
fn long_rules_fold_and_unfold() {
    let fixture = Fixture::new(3, 2);
    let (chain, with, unsigned, _) = transactions()[0].clone();
    for (number, folds) in [(3, false), (25, true)] {
        let mut record = record(&fixture, chain, with, &unsigned);
        let policies = (1..=number).map(|byte| {
            let id = quorate_common::ids::PolicyId::from_bytes([byte; 16]);
            quorate_common::wire::Policy {
                policy_id: id,
                policy_name: format!("payouts {byte}"),
                effect: "EFFECT_ALLOW".to_owned(),
                created_at: Timestamp::from_millis(0),
                updated_at: Timestamp::from_millis(0),
                notes: String::new(),
                consensus: "approvers.count() >= 2".to_owned(),
                condition: "true".to_owned(),
                time: None,
            }
        });
        record.organization.policies = policies.collect();
        let waiting = record.row.waiting.as_mut().unwrap();
        waiting.rule = quorate_common::console::WaitingRule::Policy;
        let outcomes =
            record.organization.policies.iter().map(|policy| quorate_common::wire::PolicyOutcome {
                policy_id: policy.policy_id,
                outcome: "OUTCOME_REQUIRES_CONSENSUS".to_owned(),
            });
        waiting.policy_evaluations = outcomes.collect();
        let review = fixture.review(&record, 0);
        let needs = crate::proof::needs(&review);
        assert_eq!(needs.contains("any of 25 policies"), folds, "{needs}");
        assert_eq!(needs.contains("payouts 2"), !folds, "{needs}");
        let listed = crate::proof::policy_lines(&review);
        assert_eq!(listed.len(), usize::from(number), "{listed:?}");
        assert!(
            listed
                .iter()
                .any(|line| line.contains("payouts 2\" [s]") && line.ends_with("waits for approvals"))
        );
        assert!(crate::proof::plain_text(&review).contains("policy    \"payouts 2\" [s]"));
    }
}

#[test]
fn labels_of_any_length_share_a_column() {
    let fixture = Fixture::new(3, 2);
    let (chain, with, unsigned, _) = transactions()[0].clone();
    let record = record(&fixture, chain, with, &unsigned);
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (120, 90));
    console.open(&record);
    let shown = console.shown();
    let column = |label: &str, text: &str| {
        let line = shown.lines().find(|line| line.trim_start().starts_with(label) && line.contains(text));
        line.and_then(|line| line.find(text)).unwrap()
    };
    assert_eq!(column("signWith", with), column("unsignedTransaction", &unsigned[..20]));
    assert_eq!(column("signWith", with), column("type", "TRANSACTION_TYPE_ETHEREUM"));
}

#[test]
fn tokens_have_units_only_by_the_users_book() {
    let fixture = Fixture::new(3, 2);
    let tokens = |amount: &str| {
        let to = "1111111111111111111111111111111111111111";
        format!(
            "02f86d0107843b9aca008506fc23ac0082fde894353535353535353535353535353535353535353580b844a9059cbb000000000000000000000000{to}{amount}c0"
        )
    };
    let headline = |amount: &str, decimals: Option<u8>| {
        let with = transactions()[0].1;
        let record = record(&fixture, Chain::Ethereum, with, &tokens(amount));
        let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (120, 36));
        let token = "0x3535353535353535353535353535353535353535";
        let entry = Entry::new(Chain::Ethereum, token, "\u{901a}\u{8ca8}", 0).unwrap();
        console.model.shared.book = Book::EMPTY;
        console.model.shared.book.add(entry.with_decimals(decimals).unwrap()).unwrap();
        console.open(&record);
        let open = console.model.review.as_ref().unwrap();
        open.review.transfer.as_ref().unwrap().headline()
    };
    let (million, zero, most) = (format!("{:064x}", 1_500_000), "0".repeat(64), "f".repeat(64));
    let name = "\u{901a}\u{8ca8} [book]";
    let whole = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
    assert_eq!(headline(&million, Some(6)), format!("1.5 {name} (1500000 base units)"));
    assert_eq!(headline(&million, Some(18)), format!("0.0000000000015 {name} (1500000 base units)"));
    assert_eq!(headline(&zero, Some(6)), format!("0 {name} (0 base units)"));
    let point = format!("{}.{} {name} ({whole} base units)", &whole[..72], &whole[72..]);
    assert_eq!(headline(&most, Some(6)), point);
    let unknown = headline(&million, None);
    assert!(unknown.starts_with("1500000 base units of token 0x3535"), "{unknown}");
    assert!(unknown.ends_with("(decimals unknown)"), "{unknown}");
}
