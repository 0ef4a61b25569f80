//! Any bytes as a transaction of Tron, written in hexadecimal digits. What is read is signed as it stands, and told.

use const_hex::encode;
use quorate_chain::contract::NoInterfaces;
use quorate_chain::transaction::{Signer, TransactionType, Tron, TronContract, Unsigned, UnsignedFlaw};
use quorate_chain::{Curve, Message, PublicKey, Signature};

use crate::digits;

/// The key of the account in most cases: of the mnemonic abandon (11 times) about, at m/44'/195'/0'/0/0.
const KEY: &str = "03ff21f8e64d3a3c0198edfbb7afdc79be959432e92e2f8a1984bb436a414b8edc";
/// A signature of nothing.
const SIGNATURE: Signature = Signature { r: [0x11; 32], s: [0x22; 32], v: 1 };

/// The types of contracts that are read.
const TYPES: [(u8, &str); 7] = [
    (1, "TransferContract"),
    (31, "TriggerSmartContract"),
    (46, "AccountPermissionUpdateContract"),
    (54, "FreezeBalanceV2Contract"),
    (55, "UnfreezeBalanceV2Contract"),
    (57, "DelegateResourceContract"),
    (58, "UnDelegateResourceContract"),
];

pub(crate) fn run(data: &[u8]) {
    let bytes = digits::bytes(data);
    read(&bytes);
    // Also as what a contract holds, so that lengths around it need not be guessed.
    for (number, name) in TYPES {
        let url = format!("type.googleapis.com/protocol.{name}");
        let parameter = [member(1, url.as_bytes()), member(2, &bytes)].concat();
        read(&member(11, &[vec![0x08, number], member(2, &parameter)].concat()));
    }
}

fn read(bytes: &[u8]) {
    let digits = encode(bytes);
    let read = Unsigned::read(TransactionType::Tron, &digits);
    assert_eq!(read, Unsigned::read(TransactionType::Tron, &digits), "reading twice comes to the same");
    match read {
        Ok(Unsigned::Tron(transaction)) => check(&transaction, bytes),
        Ok(other) => unreachable!("{other:?}"),
        Err(flaw) => assert!(flaw.to_string().starts_with("failed to parse transaction: "), "{flaw}"),
    }
}

fn check(transaction: &Tron, bytes: &[u8]) {
    let Ok(key) = PublicKey::from_hex(Curve::Secp256k1, KEY) else { unreachable!("a point of the curve") };
    let holder = Signer { key: &key, format: None };
    let signable = match Unsigned::Tron(transaction.clone()).for_signer(&holder) {
        Ok(signable) => signable,
        Err(flaw) => {
            assert!(matches!(flaw, UnsignedFlaw::Tron(_)) && transaction.permission_id() < 2, "{flaw}");
            return;
        }
    };
    let mut messages = Vec::new();
    let signed = signable.sign(|message| {
        messages.push(message.clone());
        Ok::<_, ()>(SIGNATURE)
    });
    assert_eq!(messages, [Message::Digest(transaction.digest())]);
    // What was read stands before the signature, byte for byte.
    let signature = [&SIGNATURE.r[..], &SIGNATURE.s, &[SIGNATURE.v]].concat();
    assert_eq!(signed, Ok(encode([member(1, bytes), member(2, &signature)].concat())));
    let (root, facts) = signable.facts(&NoInterfaces);
    assert_eq!(root, "tron");
    let contracts = facts.member("tx").and_then(|tx| tx.member("contract"));
    assert!(contracts.is_some(), "{facts:?}");
    if let TronContract::Permissions { actives, .. } = transaction.contract() {
        assert!(actives.iter().all(|active| active.id >= 2 && active.operations.len() == 32));
    }
}

/// A member of a protocol buffer that is a text, bytes or a message.
fn member(number: u8, content: &[u8]) -> Vec<u8> {
    const LENGTH_DELIMITED: u8 = 2;
    let mut member = vec![number << 3 | LENGTH_DELIMITED];
    let mut length = content.len();
    while length > 0x7f {
        member.extend(length.to_le_bytes().first().map(|low| low | 0x80));
        length >>= 7;
    }
    member.extend(u8::try_from(length));
    member.extend(content);
    member
}
