//! Any bytes as a transaction of Ethereum, written in hexadecimal digits. What is read is what is signed.

use const_hex::encode;
use quorate_chain::contract::NoInterfaces;
use quorate_chain::transaction::{Ethereum, Signer, TransactionType, Unsigned};
use quorate_chain::{Curve, Message, PublicKey, Signature};
use sha3::{Digest, Keccak256};

use crate::digits;

/// The key of the mnemonic abandon (11 times) about, at m/44'/60'/0'/0/0.
const KEY: &str = "0237b0bb7a8288d38ed49a524b5dc98cff3eb5ca824c9f9dc0dfdb3d9cd600f299";
/// A signature of nothing.
const SIGNATURE: Signature = Signature { r: [0x11; 32], s: [0x22; 32], v: 1 };
/// The first bytes of the types that are read (EIP-2718); others begin a list.
const TYPES: [u8; 4] = [1, 2, 3, 4];

pub(crate) fn run(data: &[u8]) {
    let bytes = digits::bytes(data);
    read(&bytes);
    // Also behind each type, so that the first byte need not be guessed.
    for number in TYPES {
        read(&[&[number], bytes.as_slice()].concat());
    }
}

fn read(bytes: &[u8]) {
    match Unsigned::read(TransactionType::Ethereum, &encode(bytes)) {
        Ok(Unsigned::Ethereum(transaction)) => check(&transaction, bytes),
        Ok(other) => unreachable!("{other:?}"),
        Err(flaw) => assert!(flaw.to_string().starts_with("failed to parse transaction: "), "{flaw}"),
    }
}

fn check(transaction: &Ethereum, bytes: &[u8]) {
    let digest: [u8; 32] = Keccak256::digest(bytes).into();
    assert_eq!(transaction.digest(), digest, "what is signed is what was read");
    let Ok(key) = PublicKey::from_hex(Curve::Secp256k1, KEY) else { unreachable!("a point of the curve") };
    let signable = Unsigned::Ethereum(transaction.clone()).for_signer(&Signer { key: &key, format: None });
    let Ok(signable) = signable else { unreachable!("any key of the curve signs") };
    let mut messages = Vec::new();
    let signed = signable.sign(|message| {
        messages.push(message.clone());
        Ok::<_, ()>(SIGNATURE)
    });
    assert_eq!(messages, [Message::Digest(digest)]);
    let Ok(signed) = signed else { unreachable!("nothing refused") };
    // Three members more, and it is no unsigned transaction any more.
    assert!(signed.len() >= encode(bytes).len() + 2 * 64, "{signed}");
    assert!(Unsigned::read(TransactionType::Ethereum, &signed).is_err(), "{signed}");
    let (root, facts) = signable.facts(&NoInterfaces);
    let tx = facts.member("tx");
    assert!(root == "eth" && tx.is_some_and(|tx| tx.member("to").is_some() && tx.member("data").is_some()));
}
