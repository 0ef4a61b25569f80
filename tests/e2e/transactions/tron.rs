//! Tron transactions.

use k256::ecdsa::Signature;
use sha2::{Digest, Sha256};

use super::*;

#[tokio::test]
async fn amounts_decide_and_signatures_verify() {
    let all = "tron.tx.contract.count() == 1 && tron.tx.contract[0].type == 'TransferContract'";
    let payments = Payments::with_policies(
        &format!("{all} && tron.tx.contract[0].amount <= 1000000"),
        &format!("{all} && tron.tx.contract[0].amount > 1000000"),
    )
    .await;
    let address = payments.account("SECP256K1", "m/44'/195'/0'/0/0", "TRON").await;
    let sign = |unsigned: &str| transaction("TRON", &address, unsigned);
    let sample = row(include_str!("../../../assets/vectors/chain/tron.json"), "a transfer");
    let small = text(&sample["unsigned"]);
    assert_eq!(payments.pay(SIGN, &sign(small)).await, json!({"signedTransaction": sample["signed"]}));

    // Replaces one TRX by two, as a varint of Protocol Buffers.
    let large = small.replace("18c0843d", "1880897a");
    assert_ne!(small, large);
    let (review, signed) = payments.pay_with_approval(SIGN, &sign(&large)).await;
    assert_sentence(
        &review,
        &format!("send 2 TRX from {address} to TGrLpry8MNqMuMUTe2VXv5wYkRuFEsbKsE, on Tron"),
    );
    let (unsigned_bytes, signed_bytes) = (bytes(&large), bytes(text(&signed["signedTransaction"])));
    // The unsigned bytes are the first field, of more than 127 bytes. The signature is the second.
    let (head, rest) = signed_bytes.split_at(3);
    assert_eq!(head, [0x0a, u8::try_from(unsigned_bytes.len()).expect("few bytes") | 0x80, 1]);
    let (raw, rest) = rest.split_at(unsigned_bytes.len());
    assert_eq!((raw, &rest[..2]), (&unsigned_bytes[..], &[0x12, 65][..]));
    let signature = Signature::from_slice(&rest[2..66]).expect("a signature");
    let owner = ethereum::signer(&Sha256::digest(raw), &signature, rest[66]);
    assert_eq!(
        const_hex::encode(owner),
        "c8599111f29c1e1e061265b4af93ea1f274ad78a",
        "the owner in the bytes"
    );
}
