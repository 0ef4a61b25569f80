//! Transactions of Solana.

use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};

use super::*;

#[tokio::test]
async fn judged_by_their_transfers_and_signed() {
    let all = "solana.tx.instructions.count() == 1 && solana.tx.transfers.count() == 1";
    let purse = Purse::judged_by(
        &format!("{all} && solana.tx.transfers.all(transfer, transfer.amount <= 1000)"),
        &format!("{all} && solana.tx.transfers.any(transfer, transfer.amount > 1000)"),
    )
    .await;
    let address = purse.account("ED25519", "m/44'/501'/0'/0'", "SOLANA").await;
    let sign = |unsigned: &str| transaction("SOLANA", &address, unsigned);
    let sample = row(include_str!("../../../../assets/vectors/chain/solana.json"), "transfer");
    let small = text(&sample["transaction"]);
    assert_eq!(purse.pays(SIGN, &sign(small)).await, json!({"signedTransaction": sample["signed"]}));

    // Of 1000 lamports, two SOL, in little endian.
    let large = small.replace("e803000000000000", "0094357700000000");
    assert_ne!(small, large);
    let (review, signed) = purse.pays_with_another(SIGN, &sign(&large)).await;
    tells(&review, &format!("send 2 SOL from {address} to GjJyeC1r2RgkuoCWMyPYkCWSGSGLcz266EaAkLA27AhL"));
    let (asked, made) = (bytes(&large), bytes(text(&signed["signedTransaction"])));
    let (signature, message) = made[1..].split_at(64);
    assert_eq!((made[0], message), (1, &asked[65..]), "nothing but the signature is new");
    // The first account pays, behind the header and the number of accounts.
    let key = UnparsedPublicKey::new(&ED25519, &message[4..36]);
    key.verify(message, signature).expect("a signature by the payer");
}
