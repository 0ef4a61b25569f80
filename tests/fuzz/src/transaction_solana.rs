//! Parses any bytes, in hexadecimal digits, as a Solana transaction. Signing fills one signature slot and
//! changes nothing else, and the facts contain all instructions.

use const_hex::encode;
use quorate_chain::contract::NoInterfaces;
use quorate_chain::transaction::solana::{Act, Instruction, LOOKED_UP, System};
use quorate_chain::transaction::{Signer, Solana, TransactionType, Unsigned, UnsignedError};
use quorate_chain::{Curve, Message, PublicKey, Signature};
use quorate_policy::Value;

use crate::digits;

/// Public key that signs most cases: mnemonic "abandon" (11 times) "about" at `m/44'/501'/0'/0'`.
const KEY: &str = "f036276246a75b9de3349ed42b15e232f6518fc20f5fcd4f1d64e81f9bd258f7";
/// A dummy signature.
const SIGNATURE: Signature = Signature { r: [0x11; 32], s: [0x22; 32], v: 0 };
/// Maximum length of a transaction in bytes.
const LONGEST: usize = 1_232;

pub(crate) fn run(data: &[u8]) {
    let bytes = digits::bytes(data);
    read(&bytes);
    // Also as a message with one signer, so that the fuzzer need not guess the signature slots.
    read(&[&[1], [0; 64].as_slice(), &bytes].concat());
}

fn read(bytes: &[u8]) {
    let digits = encode(bytes);
    let parsed = Unsigned::read(TransactionType::Solana, &digits);
    assert_eq!(parsed, Unsigned::read(TransactionType::Solana, &digits), "parsing is deterministic");
    match parsed {
        Ok(Unsigned::Solana(transaction)) => {
            assert!(bytes.len() <= LONGEST && bytes.ends_with(transaction.message()));
            transaction.instructions().for_each(|instruction| check_accounts(&transaction, &instruction));
            check_signed(transaction, bytes);
        }
        Ok(other) => unreachable!("{other:?}"),
        Err(error) => assert!(error.to_string().starts_with("failed to parse transaction: "), "{error}"),
    }
}

/// Asserts that programs, and accounts that are not in a lookup table, are static accounts.
fn check_accounts(transaction: &Solana, instruction: &Instruction<'_>) {
    let keys = transaction.account_keys();
    assert!(
        keys.iter().skip(1).any(|key| key == instruction.program()),
        "the program is a static account other than the fee payer"
    );
    let is_known = |account: &str| account == LOOKED_UP || keys.iter().any(|key| key == account);
    assert!(instruction.accounts().all(is_known));
    if let Act::System(System::Transfer { from, to, .. }) = instruction.act() {
        assert!(is_known(from) && is_known(to));
    }
}

fn check_signed(transaction: Solana, bytes: &[u8]) {
    let Ok(key) = PublicKey::from_hex(Curve::Ed25519, KEY) else { unreachable!("the key is on the curve") };
    let (message, signers) = (transaction.message().to_vec(), transaction.signers().count());
    let signable = match Unsigned::Solana(transaction).for_signer(&Signer { key: &key, format: None }) {
        Ok(signable) => signable,
        Err(error) => return assert!(matches!(error, UnsignedError::Solana(_)), "{error}"),
    };
    let mut messages = Vec::new();
    let signed = signable.sign(|message| {
        messages.push(message.clone());
        Ok::<_, ()>(SIGNATURE)
    });
    assert_eq!(messages, [Message::Bytes(message)]);
    // One slot contains the signature; all other bytes are unchanged.
    let signature = [SIGNATURE.r, SIGNATURE.s].concat();
    let filled = |slot: usize| {
        let (before, rest) = bytes.split_at_checked(1 + 64 * slot)?;
        Some(encode([before, &signature, rest.get(64..)?].concat()))
    };
    let Ok(signed) = signed else { unreachable!("signing cannot fail") };
    assert!((0..signers).any(|slot| filled(slot).as_deref() == Some(&signed)));
    check_facts(&signable.facts(&NoInterfaces), &transaction_of(&signed));
}

fn transaction_of(signed: &str) -> Solana {
    match Unsigned::read(TransactionType::Solana, signed) {
        Ok(Unsigned::Solana(transaction)) => transaction,
        other => unreachable!("a signed transaction can be parsed: {other:?}"),
    }
}

fn check_facts((root, facts): &(&'static str, Value), transaction: &Solana) {
    assert_eq!(*root, "solana");
    let records = facts.member("tx").and_then(|tx| tx.member("instructions"));
    let Some(Value::List(records)) = records else { unreachable!("{facts:?}") };
    assert_eq!(records.len(), transaction.instructions().count());
    for (record, instruction) in records.iter().zip(transaction.instructions()) {
        let data = Value::text(encode(instruction.data()));
        assert_eq!(record.member("instruction_data_hex"), Some(&data));
    }
}
