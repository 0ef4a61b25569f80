//! Transactions of Bitcoin.

use ::bitcoin::hashes::Hash;
use ::bitcoin::sighash::{EcdsaSighashType, SighashCache};
use ::bitcoin::{Amount, Psbt};
use secp256k1::{Message, SECP256K1};

use super::*;

#[tokio::test]
async fn judged_by_their_outputs_and_signed() {
    let all = "bitcoin.tx.fee <= 10000 && bitcoin.tx.outputs.count() == 2";
    let purse = Purse::judged_by(
        &format!("{all} && bitcoin.tx.outputs[0].value <= 60000000"),
        &format!("{all} && bitcoin.tx.outputs[0].value > 60000000"),
    )
    .await;
    let sample = row(include_str!("../../../../assets/vectors/chain/psbt_signed.json"), "P2WPKH, one input");
    let address = purse.key(text(&sample["private"]), text(&sample["format"])).await;
    let sign = |unsigned: &str| transaction("BITCOIN", &address, unsigned);
    let small = text(&sample["psbt"]);
    assert_eq!(purse.pays(SIGN, &sign(small)).await, json!({"signedTransaction": sample["signed"]}));

    // Of 0.6 and 0.3999 bitcoin, 0.7 and 0.2999, in little endian.
    let large =
        small.replace("0087930300000000", "801d2c0400000000").replace("f032620200000000", "709cc90100000000");
    let (review, signed) = purse.pays_with_another(SIGN, &sign(&large)).await;
    tells(&review, "send 0.70000000 BTC to bc1qx56n2df4x56n2df4x56n2df4x56n2df4tyakx6");
    tells(&review, "return 0.29990000 BTC to the key itself, and leave a fee of 0.00010000 BTC");

    let read = |hex: &str| Psbt::deserialize(&bytes(hex)).expect("a PSBT");
    let (asked, made) = (read(&large), read(text(&signed["signedTransaction"])));
    assert_eq!(asked.unsigned_tx, made.unsigned_tx);
    let script = &asked.inputs[0].witness_utxo.as_ref().expect("what is spent").script_pubkey;
    let digest = SighashCache::new(&asked.unsigned_tx)
        .p2wpkh_signature_hash(0, script, Amount::ONE_BTC, EcdsaSighashType::All)
        .expect("a digest");
    let (key, signature) = made.inputs[0].partial_sigs.iter().next().expect("a signature");
    assert_eq!(signature.sighash_type, EcdsaSighashType::All);
    let program = key.wpubkey_hash().expect("a compressed key").to_byte_array();
    assert_eq!(script.as_bytes()[2..], program, "the key that the script names");
    let message = Message::from_digest(digest.to_byte_array());
    SECP256K1.verify_ecdsa(&message, &signature.signature, &key.inner).expect("a signature by the key");
}
