//! Parses any bytes, in hexadecimal digits, as a Tron transaction. The parsed bytes are signed unchanged, and
//! the facts contain the contract.

use const_hex::encode;
use quorate_chain::contract::NoInterfaces;
use quorate_chain::transaction::{Signer, TransactionType, Tron, TronContract, Unsigned, UnsignedError};
use quorate_chain::{Curve, Message, PublicKey, Signature};

use crate::digits;

/// Public key of the account in most cases: mnemonic "abandon" (11 times) "about" at `m/44'/195'/0'/0/0`.
const KEY: &str = "03ff21f8e64d3a3c0198edfbb7afdc79be959432e92e2f8a1984bb436a414b8edc";
/// A dummy signature.
const SIGNATURE: Signature = Signature { r: [0x11; 32], s: [0x22; 32], v: 1 };

/// Numbers and names of the supported contract types.
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
    // Also as the content of each contract type, so that the fuzzer need not guess the enclosing lengths.
    for (number, name) in TYPES {
        let url = format!("type.googleapis.com/protocol.{name}");
        let parameter = [member(1, url.as_bytes()), member(2, &bytes)].concat();
        read(&member(11, &[vec![0x08, number], member(2, &parameter)].concat()));
    }
}

fn read(bytes: &[u8]) {
    let digits = encode(bytes);
    let parsed = Unsigned::read(TransactionType::Tron, &digits);
    assert_eq!(parsed, Unsigned::read(TransactionType::Tron, &digits), "parsing is deterministic");
    match parsed {
        Ok(Unsigned::Tron(transaction)) => check(&transaction, bytes),
        Ok(other) => unreachable!("{other:?}"),
        Err(error) => assert!(error.to_string().starts_with("failed to parse transaction: "), "{error}"),
    }
}

fn check(transaction: &Tron, bytes: &[u8]) {
    let Ok(key) = PublicKey::from_hex(Curve::Secp256k1, KEY) else { unreachable!("the key is on the curve") };
    let holder = Signer { key: &key, format: None };
    let signable = match Unsigned::Tron(transaction.clone()).for_signer(&holder) {
        Ok(signable) => signable,
        Err(error) => {
            assert!(matches!(error, UnsignedError::Tron(_)) && transaction.permission_id() < 2, "{error}");
            return;
        }
    };
    let mut messages = Vec::new();
    let signed = signable.sign(|message| {
        messages.push(message.clone());
        Ok::<_, ()>(SIGNATURE)
    });
    assert_eq!(messages, [Message::Digest(transaction.digest())]);
    // The parsed bytes precede the signature unchanged.
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

/// Encodes a length-delimited field of a protocol buffer: text, bytes or a message.
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
