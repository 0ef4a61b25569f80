//! Ethereum transactions, and contract calls with an uploaded interface.

use k256::ecdsa::{RecoveryId, Signature, VerifyingKey};
use sha3::{Digest, Keccak256};

use super::*;

/// Type 2 transactions on chain 1 to the address of twenty bytes `35`: one ether and two.
pub(super) const ONE: &str =
    "02f00180843b9aca008506fc23ac00825208943535353535353535353535353535353535353535880de0b6b3a764000080c0";
const TWO: &str =
    "02f00101843b9aca008506fc23ac00825208943535353535353535353535353535353535353535881bc16d674ec8000080c0";

/// Type 2 transactions by viem 2 at the contract `0xa0b8…eb48`: `transfer(0x3535…, 5000000)`, and ten times
/// as much.
const FIVE_TOKENS: &str = "02f86d0180843b9aca008506fc23ac0082ea6094a0b86991c6218b36c1d19d4a2e9eb0ce3606eb4880b844a9059cbb000000000000000000000000353535353535353535353535353535353535353500000000000000000000000000000000000000000000000000000000004c4b40c0";
const FIFTY_TOKENS: &str = "02f86d0180843b9aca008506fc23ac0082ea6094a0b86991c6218b36c1d19d4a2e9eb0ce3606eb4880b844a9059cbb00000000000000000000000035353535353535353535353535353535353535350000000000000000000000000000000000000000000000000000000002faf080c0";

/// Returns the account of a recoverable signature: the last 20 bytes of Keccak-256 of the point, as in
/// Ethereum and Tron.
pub(super) fn signer(digest: &[u8], signature: &Signature, parity: u8) -> [u8; 20] {
    let recovery = RecoveryId::from_byte(parity).expect("0 or 1");
    let key = VerifyingKey::recover_from_prehash(digest, signature, recovery).expect("a key");
    let hash = Keccak256::digest(&key.to_sec1_point(false).as_bytes()[1..]);
    hash[12..].try_into().expect("20 bytes")
}

/// Returns the items of an RLP list of at most 255 bytes (Yellow Paper, appendix B).
fn members(list: &[u8]) -> Vec<Vec<u8>> {
    let mut rest = match list {
        [short @ 0xc0..=0xf7, rest @ ..] if rest.len() == usize::from(*short - 0xc0) => rest,
        [0xf8, length, rest @ ..] if rest.len() == usize::from(*length) => rest,
        other => panic!("{} is not a list", const_hex::encode(other)),
    };
    let mut members = Vec::new();
    while let [first, after @ ..] = rest {
        let (member, remaining) = match *first {
            byte @ ..0x80 => (vec![byte], after),
            length @ 0x80..=0xb7 => {
                let (member, remaining) = after.split_at(usize::from(length - 0x80));
                (member.to_vec(), remaining)
            }
            0xb8 => {
                let (length, after) = after.split_first().expect("a length");
                let (member, remaining) = after.split_at(usize::from(*length));
                (member.to_vec(), remaining)
            }
            0xc0 => (Vec::new(), after),
            other => panic!("{other:x} does not start an item"),
        };
        members.push(member);
        rest = remaining;
    }
    members
}

/// Asserts that this address signed a transaction and nothing else of it changed.
fn signed_by(address: &str, unsigned: &str, result: &Value) {
    let (before, after) = (bytes(unsigned), bytes(text(&result["signedTransaction"])));
    assert_eq!(after[0], 2);
    let (expected, all) = (members(&before[1..]), members(&after[1..]));
    assert_eq!(all[..expected.len()], expected[..]);
    let [parity, r, s] = &all[expected.len()..] else { panic!("a signature has three parts: {result:#}") };
    let wide = |number: &[u8]| -> [u8; 32] {
        assert_ne!(number.first(), Some(&0), "numbers have no leading zeroes");
        let mut wide = [0; 32];
        wide[32 - number.len()..].copy_from_slice(number);
        wide
    };
    let signature = Signature::from_scalars(wide(r), wide(s)).expect("a signature");
    let parity = parity.first().copied().unwrap_or(0);
    let signer = signer(&Keccak256::digest(&before), &signature, parity);
    assert_eq!(address.to_lowercase(), const_hex::encode_prefixed(signer));
}

#[tokio::test]
async fn values_decide_and_signatures_verify() {
    let all = "eth.tx.chain_id == 1 && eth.tx.data == '0x'";
    let payments = Payments::with_policies(
        &format!("eth.tx.value <= 1000000000000000000 && {all}"),
        &format!("eth.tx.value > 1000000000000000000 && {all}"),
    )
    .await;
    let address = payments.account("SECP256K1", "m/44'/60'/0'/0/0", "ETHEREUM").await;
    let sign = |unsigned: &str| transaction("ETHEREUM", &address, unsigned);
    signed_by(&address, ONE, &payments.pay(SIGN, &sign(ONE)).await);
    signed_by(&address, ONE, &payments.pay(SIGN, &sign(&format!("0x{ONE}"))).await);

    let (review, signed) = payments.pay_with_approval(SIGN, &sign(TWO)).await;
    assert_sentence(&review, "send 2 ETH to 0x3535353535353535353535353535353535353535, on chain 1");
    signed_by(&address, TWO, &signed);
}

#[tokio::test]
async fn decoded_calls_decide_and_signatures_verify() {
    let all = "eth.tx.function_name == 'transfer' && eth.tx.value == 0 \
               && eth.tx.contract_call_args['_to'] == '0x3535353535353535353535353535353535353535'";
    let payments = Payments::with_policies(
        &format!("{all} && eth.tx.contract_call_args['_amount'] <= 5000000"),
        &format!("{all} && eth.tx.contract_call_args['_amount'] > 5000000"),
    )
    .await;
    let address = payments.account("SECP256K1", "m/44'/60'/0'/0/0", "ETHEREUM").await;
    let sign = |unsigned: &str| transaction("ETHEREUM", &address, unsigned);
    let unknown = payments.payer.submit(SIGN, &sign(FIVE_TOKENS)).await;
    unknown.expect_error(403, 7, "REQUEST_NOT_AUTHORIZED");

    let abi = &row(include_str!("../../../assets/vectors/chain/contract_abi.json"), "ERC-20 transfer")["abi"];
    let interface = json!({"smartContractAddress": "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
        "smartContractInterface": abi.to_string(), "type": "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM",
        "label": "USDC", "notes": ""});
    payments.root.completed("ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE", &interface).await;
    signed_by(&address, FIVE_TOKENS, &payments.pay(SIGN, &sign(FIVE_TOKENS)).await);

    let (review, signed) = payments.pay_with_approval(SIGN, &sign(FIFTY_TOKENS)).await;
    assert_sentence(
        &review,
        "call 0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48 as a token contract, to move 50000000",
    );
    assert_sentence(&review, "of the token's smallest units to 0x3535353535353535353535353535353535353535");
    assert_field(&review, "calls", "transfer (0xa9059cbb)");
    assert_field(&review, "_to", "0x3535353535353535353535353535353535353535 (address)");
    assert_field(&review, "_amount", "50000000 (uint256)");
    signed_by(&address, FIFTY_TOKENS, &signed);
}
