//! Bitcoin transactions.

use ::bitcoin::hashes::Hash;
use ::bitcoin::sighash::{EcdsaSighashType, SighashCache};
use ::bitcoin::{Amount, Psbt};
use secp256k1::{Message, SECP256K1};

use super::*;

#[tokio::test]
async fn outputs_decide_and_signatures_verify() {
    let all = "bitcoin.tx.fee <= 10000 && bitcoin.tx.outputs.count() == 2";
    let payments = Payments::with_policies(
        &format!("{all} && bitcoin.tx.outputs[0].value <= 60000000"),
        &format!("{all} && bitcoin.tx.outputs[0].value > 60000000"),
    )
    .await;
    let sample = row(include_str!("../../../assets/vectors/chain/psbt_signed.json"), "P2WPKH, one input");
    let address = payments.key(text(&sample["private"]), text(&sample["format"])).await;
    let sign = |unsigned: &str| transaction("BITCOIN", &address, unsigned);
    let small = text(&sample["psbt"]);
    assert_eq!(payments.pay(SIGN, &sign(small)).await, json!({"signedTransaction": sample["signed"]}));

    // Replaces 0.6 and 0.3999 bitcoin by 0.7 and 0.2999, in little endian.
    let large =
        small.replace("0087930300000000", "801d2c0400000000").replace("f032620200000000", "709cc90100000000");
    let (review, signed) = payments.pay_with_approval(SIGN, &sign(&large)).await;
    assert_sentence(&review, "send 0.70000000 BTC to bc1qx56n2df4x56n2df4x56n2df4x56n2df4tyakx6");
    assert_sentence(&review, "return 0.29990000 BTC to the key itself, and leave a fee of 0.00010000 BTC");

    let read = |hex: &str| Psbt::deserialize(&bytes(hex)).expect("a PSBT");
    let (unsigned_psbt, signed_psbt) = (read(&large), read(text(&signed["signedTransaction"])));
    assert_eq!(unsigned_psbt.unsigned_tx, signed_psbt.unsigned_tx);
    let script = &unsigned_psbt.inputs[0].witness_utxo.as_ref().expect("the spent output").script_pubkey;
    let digest = SighashCache::new(&unsigned_psbt.unsigned_tx)
        .p2wpkh_signature_hash(0, script, Amount::ONE_BTC, EcdsaSighashType::All)
        .expect("a digest");
    let (key, signature) = signed_psbt.inputs[0].partial_sigs.iter().next().expect("a signature");
    assert_eq!(signature.sighash_type, EcdsaSighashType::All);
    let program = key.wpubkey_hash().expect("a compressed key").to_byte_array();
    assert_eq!(script.as_bytes()[2..], program, "the key that the script commits to");
    let message = Message::from_digest(digest.to_byte_array());
    SECP256K1.verify_ecdsa(&message, &signature.signature, &key.inner).expect("a signature by the key");
}
