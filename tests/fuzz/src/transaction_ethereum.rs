//! Parses any bytes, in hexadecimal digits, as an Ethereum transaction. The parsed bytes are exactly the
//! signed bytes.

use const_hex::encode;
use quorate_chain::contract::NoInterfaces;
use quorate_chain::transaction::{Ethereum, Signer, TransactionType, Unsigned};
use quorate_chain::{Curve, Message, PublicKey, Signature};
use sha3::{Digest, Keccak256};

use crate::digits;

/// Public key of the mnemonic "abandon" (11 times) "about" at `m/44'/60'/0'/0/0`.
const KEY: &str = "0237b0bb7a8288d38ed49a524b5dc98cff3eb5ca824c9f9dc0dfdb3d9cd600f299";
/// A dummy signature.
const SIGNATURE: Signature = Signature { r: [0x11; 32], s: [0x22; 32], v: 1 };
/// First bytes of the supported typed transactions (EIP-2718). Legacy transactions begin with a list.
const TYPES: [u8; 4] = [1, 2, 3, 4];

pub(crate) fn run(data: &[u8]) {
    let bytes = digits::bytes(data);
    read(&bytes);
    // Also after each type byte, so that the fuzzer need not guess it.
    for number in TYPES {
        read(&[&[number], bytes.as_slice()].concat());
    }
}

fn read(bytes: &[u8]) {
    match Unsigned::read(TransactionType::Ethereum, &encode(bytes)) {
        Ok(Unsigned::Ethereum(transaction)) => check(&transaction, bytes),
        Ok(other) => unreachable!("{other:?}"),
        Err(error) => assert!(error.to_string().starts_with("failed to parse transaction: "), "{error}"),
    }
}

fn check(transaction: &Ethereum, bytes: &[u8]) {
    let digest: [u8; 32] = Keccak256::digest(bytes).into();
    assert_eq!(transaction.digest(), digest, "the signed digest is that of the parsed bytes");
    let Ok(key) = PublicKey::from_hex(Curve::Secp256k1, KEY) else { unreachable!("the key is on the curve") };
    let signable = Unsigned::Ethereum(transaction.clone()).for_signer(&Signer { key: &key, format: None });
    let Ok(signable) = signable else { unreachable!("any key on the curve can sign") };
    let mut messages = Vec::new();
    let signed = signable.sign(|message| {
        messages.push(message.clone());
        Ok::<_, ()>(SIGNATURE)
    });
    assert_eq!(messages, [Message::Digest(digest)]);
    let Ok(signed) = signed else { unreachable!("signing cannot fail") };
    // A signed transaction has three more members and is not accepted as unsigned.
    assert!(signed.len() >= encode(bytes).len() + 2 * 64, "{signed}");
    assert!(Unsigned::read(TransactionType::Ethereum, &signed).is_err(), "{signed}");
    let (root, facts) = signable.facts(&NoInterfaces);
    let tx = facts.member("tx");
    assert!(root == "eth" && tx.is_some_and(|tx| tx.member("to").is_some() && tx.member("data").is_some()));
}
