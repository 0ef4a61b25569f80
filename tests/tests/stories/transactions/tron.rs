//! Transactions of Tron.

use k256::ecdsa::Signature;
use sha2::{Digest, Sha256};

use super::*;

#[tokio::test]
async fn judged_by_their_amount_and_signed() {
    let all = "tron.tx.contract.count() == 1 && tron.tx.contract[0].type == 'TransferContract'";
    let purse = Purse::judged_by(
        &format!("{all} && tron.tx.contract[0].amount <= 1000000"),
        &format!("{all} && tron.tx.contract[0].amount > 1000000"),
    )
    .await;
    let address = purse.account("SECP256K1", "m/44'/195'/0'/0/0", "TRON").await;
    let sign = |unsigned: &str| transaction("TRON", &address, unsigned);
    let sample = row(include_str!("../../../../assets/vectors/chain/tron.json"), "a transfer");
    let small = text(&sample["unsigned"]);
    assert_eq!(purse.pays(SIGN, &sign(small)).await, json!({"signedTransaction": sample["signed"]}));

    // Of one TRX, two, as a varint of Protocol Buffers.
    let large = small.replace("18c0843d", "1880897a");
    assert_ne!(small, large);
    let (review, signed) = purse.pays_with_another(SIGN, &sign(&large)).await;
    tells(&review, &format!("send 2 TRX from {address} to TGrLpry8MNqMuMUTe2VXv5wYkRuFEsbKsE, on Tron"));
    let (asked, made) = (bytes(&large), bytes(text(&signed["signedTransaction"])));
    // The bytes as asked for are the first member, of more than 127 bytes, and the signature is the second.
    let (head, rest) = made.split_at(3);
    assert_eq!(head, [0x0a, u8::try_from(asked.len()).expect("few bytes") | 0x80, 1]);
    let (raw, rest) = rest.split_at(asked.len());
    assert_eq!((raw, &rest[..2]), (&asked[..], &[0x12, 65][..]));
    let signature = Signature::from_slice(&rest[2..66]).expect("a signature");
    let owner = ethereum::signer(&Sha256::digest(raw), &signature, rest[66]);
    assert_eq!(
        const_hex::encode(owner),
        "c8599111f29c1e1e061265b4af93ea1f274ad78a",
        "the owner in the bytes"
    );
}
