//! Any bytes as a transaction of Solana, written in hexadecimal digits. What is read is signed in its place, and told.

use const_hex::encode;
use quorate_chain::contract::NoInterfaces;
use quorate_chain::transaction::solana::{Act, Instruction, LOOKED_UP, System};
use quorate_chain::transaction::{Signer, Solana, TransactionType, Unsigned, UnsignedFlaw};
use quorate_chain::{Curve, Message, PublicKey, Signature};
use quorate_policy::Value;

use crate::digits;

/// A key that signs most cases: of the mnemonic abandon (11 times) about, at m/44'/501'/0'/0'.
const KEY: &str = "f036276246a75b9de3349ed42b15e232f6518fc20f5fcd4f1d64e81f9bd258f7";
/// A signature of nothing.
const SIGNATURE: Signature = Signature { r: [0x11; 32], s: [0x22; 32], v: 0 };
/// Longest transaction, in bytes.
const LONGEST: usize = 1_232;

pub(crate) fn run(data: &[u8]) {
    let bytes = digits::bytes(data);
    read(&bytes);
    // Also as a message that this key alone signs, so that the places for signatures need not be guessed.
    read(&[&[1], [0; 64].as_slice(), &bytes].concat());
}

fn read(bytes: &[u8]) {
    let digits = encode(bytes);
    let read = Unsigned::read(TransactionType::Solana, &digits);
    assert_eq!(read, Unsigned::read(TransactionType::Solana, &digits), "reading twice comes to the same");
    match read {
        Ok(Unsigned::Solana(transaction)) => {
            assert!(bytes.len() <= LONGEST && bytes.ends_with(transaction.message()));
            transaction.instructions().for_each(|instruction| check_told(&transaction, &instruction));
            check_signed(transaction, bytes);
        }
        Ok(other) => unreachable!("{other:?}"),
        Err(flaw) => assert!(flaw.to_string().starts_with("failed to parse transaction: "), "{flaw}"),
    }
}

/// Programs are among the static accounts, and so are accounts that no table holds.
fn check_told(transaction: &Solana, instruction: &Instruction<'_>) {
    let keys = transaction.account_keys();
    assert!(keys.iter().skip(1).any(|key| key == instruction.program()), "no program, or the fee payer");
    let is_known = |account: &str| account == LOOKED_UP || keys.iter().any(|key| key == account);
    assert!(instruction.accounts().all(is_known));
    if let Act::System(System::Transfer { from, to, .. }) = instruction.act() {
        assert!(is_known(from) && is_known(to));
    }
}

fn check_signed(transaction: Solana, bytes: &[u8]) {
    let Ok(key) = PublicKey::from_hex(Curve::Ed25519, KEY) else { unreachable!("a point of the curve") };
    let (message, signers) = (transaction.message().to_vec(), transaction.signers().count());
    let signable = match Unsigned::Solana(transaction).for_signer(&Signer { key: &key, format: None }) {
        Ok(signable) => signable,
        Err(flaw) => return assert!(matches!(flaw, UnsignedFlaw::Solana(_)), "{flaw}"),
    };
    let mut messages = Vec::new();
    let signed = signable.sign(|message| {
        messages.push(message.clone());
        Ok::<_, ()>(SIGNATURE)
    });
    assert_eq!(messages, [Message::Bytes(message)]);
    // One place holds the signature; all else is as it was, byte for byte.
    let signature = [SIGNATURE.r, SIGNATURE.s].concat();
    let filled = |place: usize| {
        let (before, rest) = bytes.split_at_checked(1 + 64 * place)?;
        Some(encode([before, &signature, rest.get(64..)?].concat()))
    };
    let Ok(signed) = signed else { unreachable!("nothing fails") };
    assert!((0..signers).any(|place| filled(place).as_deref() == Some(&signed)));
    check_facts(&signable.facts(&NoInterfaces), &transaction_of(&signed));
}

fn transaction_of(signed: &str) -> Solana {
    match Unsigned::read(TransactionType::Solana, signed) {
        Ok(Unsigned::Solana(transaction)) => transaction,
        other => unreachable!("what is signed is read again: {other:?}"),
    }
}

fn check_facts((root, facts): &(&'static str, Value), transaction: &Solana) {
    assert_eq!(*root, "solana");
    let told = facts.member("tx").and_then(|tx| tx.member("instructions"));
    let Some(Value::List(told)) = told else { unreachable!("{facts:?}") };
    assert_eq!(told.len(), transaction.instructions().count());
    for (told, instruction) in told.iter().zip(transaction.instructions()) {
        let data = Value::text(encode(instruction.data()));
        assert_eq!(told.member("instruction_data_hex"), Some(&data));
    }
}
