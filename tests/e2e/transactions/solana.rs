//! Solana transactions.

use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};

use super::*;

#[tokio::test]
async fn transfers_decide_and_signatures_verify() {
    let all = "solana.tx.instructions.count() == 1 && solana.tx.transfers.count() == 1";
    let payments = Payments::with_policies(
        &format!("{all} && solana.tx.transfers.all(transfer, transfer.amount <= 1000)"),
        &format!("{all} && solana.tx.transfers.any(transfer, transfer.amount > 1000)"),
    )
    .await;
    let address = payments.account("ED25519", "m/44'/501'/0'/0'", "SOLANA").await;
    let sign = |unsigned: &str| transaction("SOLANA", &address, unsigned);
    let sample = row(include_str!("../../../assets/vectors/chain/solana.json"), "transfer");
    let small = text(&sample["transaction"]);
    assert_eq!(payments.pay(SIGN, &sign(small)).await, json!({"signedTransaction": sample["signed"]}));

    // Replaces 1000 lamports by two SOL, in little endian.
    let large = small.replace("e803000000000000", "0094357700000000");
    assert_ne!(small, large);
    let (review, signed) = payments.pay_with_approval(SIGN, &sign(&large)).await;
    assert_sentence(
        &review,
        &format!("send 2 SOL from {address} to GjJyeC1r2RgkuoCWMyPYkCWSGSGLcz266EaAkLA27AhL"),
    );
    let (unsigned_bytes, signed_bytes) = (bytes(&large), bytes(text(&signed["signedTransaction"])));
    let (signature, message) = signed_bytes[1..].split_at(64);
    assert_eq!((signed_bytes[0], message), (1, &unsigned_bytes[65..]), "nothing but the signature is new");
    // The first account is the payer. It follows the header and the number of accounts.
    let key = UnparsedPublicKey::new(&ED25519, &message[4..36]);
    key.verify(message, signature).expect("a signature by the payer");
}
