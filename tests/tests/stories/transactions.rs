//! Transactions of Ethereum: judged by what stands in them, shown by it, and signed so that anybody can check it.

use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::keys::Key;
use quorate_tests::operator::Operator;
use quorate_tests::requests::{CREATE_WALLET, make_user};
use serde_json::{Value, json};
use sha3::{Digest, Keccak256};

use crate::rulings::{approve, text, waiting};

const SIGN: &str = "ACTIVITY_TYPE_SIGN_TRANSACTION_V2";
/// Type 2, on chain 1, to `35` twenty times: one ether and two.
const ONE: &str =
    "02f00180843b9aca008506fc23ac00825208943535353535353535353535353535353535353535880de0b6b3a764000080c0";
const TWO: &str =
    "02f00101843b9aca008506fc23ac00825208943535353535353535353535353535353535353535881bc16d674ec8000080c0";

fn transaction(address: &str, unsigned: &str) -> Value {
    json!({"signWith": address, "unsignedTransaction": unsigned, "type": "TRANSACTION_TYPE_ETHEREUM"})
}

/// The members of a list of RLP whose members are no longer than 55 bytes, as the yellow paper has it.
fn members(list: &[u8]) -> Vec<Vec<u8>> {
    let mut rest = match list {
        [short @ 0xc0..=0xf7, rest @ ..] if rest.len() == usize::from(*short - 0xc0) => rest,
        [0xf8, length, rest @ ..] if rest.len() == usize::from(*length) => rest,
        other => panic!("{} is no list", const_hex::encode(other)),
    };
    let mut members = Vec::new();
    while let [first, behind @ ..] = rest {
        let (member, left) = match *first {
            byte @ ..0x80 => (vec![byte], behind),
            length @ 0x80..=0xb7 => {
                let (member, left) = behind.split_at(usize::from(length - 0x80));
                (member.to_vec(), left)
            }
            0xc0 => (Vec::new(), behind),
            other => panic!("{other:x} begins no short member"),
        };
        members.push(member);
        rest = left;
    }
    members
}

/// Asserts that a transaction was signed by this address and nothing else of it was changed.
fn signed_by(address: &str, unsigned: &str, result: &Value) {
    let bytes = |text: &str| const_hex::decode(text).expect("hex");
    let (before, after) = (bytes(unsigned), bytes(text(&result["signedTransaction"])));
    assert_eq!(after[0], 2);
    let (asked, all) = (members(&before[1..]), members(&after[1..]));
    assert_eq!(all[..asked.len()], asked[..]);
    let [parity, r, s] = &all[asked.len()..] else { panic!("a signature has three parts: {result:#}") };
    let wide = |number: &[u8]| -> [u8; 32] {
        assert_ne!(number.first(), Some(&0), "numbers are as short as they can be");
        let mut wide = [0; 32];
        wide[32 - number.len()..].copy_from_slice(number);
        wide
    };
    let signature = k256::ecdsa::Signature::from_scalars(wide(r), wide(s)).expect("a signature");
    let recovery = k256::ecdsa::RecoveryId::from_byte(parity.first().copied().unwrap_or(0)).expect("0 or 1");
    let digest = Keccak256::digest(&before);
    let key = k256::ecdsa::VerifyingKey::recover_from_prehash(&digest, &signature, recovery).expect("a key");
    let account = Keccak256::digest(&key.to_sec1_point(false).as_bytes()[1..]);
    assert_eq!(address.to_lowercase(), const_hex::encode_prefixed(&account[12..]));
}

#[tokio::test]
async fn judged_by_their_value_and_signed() {
    let daemon = Daemon::start(Options::quorum(1, 2)).await;
    let root = daemon.root(0);
    let account = json!({"curve": "CURVE_SECP256K1", "pathFormat": "PATH_FORMAT_BIP32", "path": "m/44'/60'/0'/0/0",
        "addressFormat": "ADDRESS_FORMAT_ETHEREUM"});
    let wallet = root.result(CREATE_WALLET, &json!({"walletName": "hot", "accounts": [account]})).await;
    let address = text(&wallet["addresses"][0]);
    let key = Key::named("payer");
    let payer = make_user(&root, "payer", &key).await;
    for (name, condition, consensus) in [
        (
            "small",
            "eth.tx.value <= 1000000000000000000",
            format!("approvers.any(user, user.id == '{payer}')"),
        ),
        ("large", "eth.tx.value > 1000000000000000000", "approvers.count() >= 2".to_owned()),
    ] {
        let condition = format!("{condition} && eth.tx.chain_id == 1 && eth.tx.data == '0x'");
        let policy = json!({"policyName": name, "effect": "EFFECT_ALLOW", "condition": condition,
            "consensus": consensus, "notes": ""});
        root.completed("ACTIVITY_TYPE_CREATE_POLICY_V3", &policy).await;
    }
    let payer = root.with_key(&key);
    signed_by(address, ONE, &payer.result(SIGN, &transaction(address, ONE)).await);
    signed_by(address, ONE, &payer.result(SIGN, &transaction(address, &format!("0x{ONE}"))).await);

    // Two ether wait for somebody else, who sees them for what they are.
    let pending = payer.waiting(SIGN, &transaction(address, TWO)).await;
    let bob = Operator::root(&daemon, 1);
    let why = waiting(&bob, &pending["id"]).await;
    assert_eq!(why["reason"], "POLICY_CONSENSUS", "{why:#}");
    let review = bob.run(&["review", text(&pending["id"])]).await.with(0).json();
    let sentence = text(&review["sentence"]);
    assert!(
        sentence.contains("send 2 ETH to 0x3535353535353535353535353535353535353535, on chain 1"),
        "{sentence}"
    );
    assert_eq!(approve(&bob, &pending["id"]).await.with(0).json()["outcome"], "executed");
    let done = root.activity(&pending["id"]).await;
    signed_by(address, TWO, &done["result"]["signTransactionResult"]);
}

#[tokio::test]
async fn what_is_no_transaction_is_refused() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    let accounts: Vec<Value> = [("SECP256K1", "ETHEREUM"), ("P256", "COMPRESSED")]
        .map(|(curve, format)| {
            json!({"curve": format!("CURVE_{curve}"), "pathFormat": "PATH_FORMAT_BIP32", "path": "m/44'/60'/0'/0/0",
                "addressFormat": format!("ADDRESS_FORMAT_{format}")})
        })
        .to_vec();
    let wallet = root.result(CREATE_WALLET, &json!({"walletName": "hot", "accounts": accounts})).await;
    let (address, other) = (text(&wallet["addresses"][0]), text(&wallet["addresses"][1]));
    let signed = root.result(SIGN, &transaction(address, ONE)).await;
    for (with, unsigned) in [
        (address, ""),
        (address, "0"),
        (address, "zz"),
        (address, "c0"),
        (address, &ONE[..ONE.len() - 2]),
        (address, &format!("{ONE}00")),
        (address, text(&signed["signedTransaction"])),
        (other, ONE),
    ] {
        let told =
            root.submit(SIGN, &transaction(with, unsigned)).await.refusal(400, 3, "INVALID_TRANSACTION");
        assert!(told.starts_with("failed to parse transaction"), "{unsigned}: {told}");
    }
    let mut tempo = transaction(address, ONE);
    tempo["type"] = json!("TRANSACTION_TYPE_TEMPO");
    root.submit(SIGN, &tempo).await.refusal(400, 3, "UNSUPPORTED_TRANSACTION_TYPE");
}
