//! Transactions encoded by the libraries of the network, and transactions that validators reject.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::cell::Cell;
use std::sync::Arc;

use proptest::prelude::*;
use quorate_policy::Value;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use solana_transaction::versioned::VersionedTransaction;

use super::{Act, ComputeBudget, SolanaError, System, Token, Transaction};
use crate::contract::{Abi, Idl, Interfaces, NoInterfaces};
use crate::curve::{Curve, Message};
use crate::transaction::Signer;
use crate::vectors::{rows, secret};

/// Signer of most of the transactions: the key of the mnemonic abandon (11 times) about, at m/44'/501'/0'/0'.
const PAYER: &str = "HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk";

#[derive(Deserialize)]
struct Row {
    case: String,
    private: Option<String>,
    transaction: String,
    signed: Option<String>,
    facts: Json,
}

fn samples() -> Vec<Row> {
    rows(include_str!("../../../../../assets/vectors/chain/solana.json"))
}

fn sample(case: &str) -> Vec<u8> {
    let row = samples().into_iter().find(|row| row.case == case).unwrap();
    const_hex::decode(row.transaction).unwrap()
}

fn read(case: &str) -> Transaction {
    Transaction::decode(&sample(case)).unwrap()
}

/// Returns facts as the vectors write them.
fn written(value: &Value) -> Json {
    match value {
        Value::Bool(truth) => json!(truth),
        Value::Int(number) => number.to_string().parse().map(Json::Number).unwrap(),
        Value::Text { text, folds_case } => {
            assert!(!folds_case, "base58 is exact");
            json!(text)
        }
        Value::List(elements) => elements.iter().map(written).collect(),
        Value::Struct(members) => {
            Json::Object(members.iter().map(|(name, value)| (name.to_string(), written(value))).collect())
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn transactions_match_the_vectors() {
    for row in samples() {
        let bytes = const_hex::decode(&row.transaction).unwrap();
        let transaction = Transaction::decode(&bytes).unwrap();
        assert_eq!(written(&transaction.facts(&NoInterfaces)), row.facts, "{}", row.case);
        assert_eq!(transaction.signed(&[]), bytes, "{}", row.case);
        let (Some(private), Some(signed)) = (row.private, row.signed) else { continue };
        let key = secret(Curve::Ed25519, &private);
        let slots = transaction.slots(&Signer { key: key.public(), format: None }).unwrap();
        let [slot] = slots.as_slice() else { panic!("{slots:?}") };
        assert_eq!(slot.message, Message::Bytes(transaction.message().to_vec()));
        let signature = key.sign(&slot.message).unwrap();
        let done = transaction.signed(&[(slot.index, signature)]);
        assert_eq!(const_hex::encode(&done), signed, "{}", row.case);
        // Signing a signed transaction again returns the same bytes.
        let again = Transaction::decode(&done).unwrap();
        assert_eq!(again.signed(&[(slot.index, signature)]), done, "{}", row.case);
        assert!(again.signers().all(|(_, is_filled)| is_filled), "{}", row.case);
        let other_key = secret(Curve::Ed25519, &"5a".repeat(32));
        let slots = again.slots(&Signer { key: other_key.public(), format: None });
        assert_eq!(slots, Err(SolanaError::Signer));
    }
}

#[test]
fn other_signatures_are_preserved() {
    let transaction = read("paid by another, who has signed");
    let signers: Vec<_> = transaction.signers().collect();
    assert_eq!(signers.len(), 2);
    assert_eq!(signers[1], (PAYER, false));
    assert!(signers[0].1);
    assert_eq!(transaction.version(), None);
    assert_eq!(read("sample of web3.js").version(), Some(0));
}

fn acts(transaction: &Transaction) -> Vec<Act<'_>> {
    transaction.instructions().map(|instruction| instruction.act()).collect()
}

#[test]
fn decodes_known_programs() {
    let transaction = read("tokens to a new account, with a price and a memo");
    let [limit, price, created, Act::Token(Token::Transfer(moved)), memo] = &acts(&transaction)[..] else {
        panic!("{:?}", acts(&transaction));
    };
    assert_eq!(*limit, Act::ComputeBudget(ComputeBudget::SetComputeUnitLimit(80_000)));
    assert_eq!(*price, Act::ComputeBudget(ComputeBudget::SetComputeUnitPrice(2_500)));
    assert_eq!(*memo, Act::Memo("Invoice 42"));
    let Act::CreateAssociatedTokenAccount { from, account, mint, .. } = *created else {
        panic!("{created:?}")
    };
    assert_eq!((from, account, Some((mint, 6))), (PAYER, moved.to, moved.mint));
    assert_eq!((moved.amount, moved.owner, moved.fee), (1_500_000, PAYER, None));

    let transaction = read("approval and authorities");
    let acts = acts(&transaction);
    let [Act::Token(Token::Approve { amount: u64::MAX, mint: None, .. }), rest @ ..] = &acts[..] else {
        panic!("{acts:?}");
    };
    assert!(matches!(rest[0], Act::Token(Token::Approve { amount: 250, mint: Some((_, 2)), .. })));
    assert!(matches!(rest[1], Act::Token(Token::SetAuthority { kind: 2, authority: Some(_), .. })));
    assert!(matches!(rest[2], Act::Token(Token::SetAuthority { kind: 0, authority: None, .. })));
    assert!(matches!(rest[3], Act::Token(Token::Revoke { .. })));
    assert!(matches!(rest[4], Act::Token(Token::CloseAccount { .. })));
}

#[test]
fn decodes_system_instructions() {
    let transaction = read("accounts and their owners");
    let acts: Vec<_> = acts(&transaction)
        .into_iter()
        .map(|act| if let Act::System(system) = act { system } else { panic!("{act:?}") })
        .collect();
    let [System::CreateAccount { from: PAYER, lamports: 2_039_280, owner, .. }, rest @ ..] = &acts[..] else {
        panic!("{acts:?}");
    };
    assert_eq!(owner, "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA");
    assert!(matches!(rest[0], System::Assign { account: PAYER, .. }));
    assert!(matches!(rest[1], System::Allocate { account: PAYER, space: 100 }));
    assert!(matches!(rest[2], System::CreateAccount { lamports: 1, .. }));
    assert!(matches!(rest[3], System::TransferWithSeed { lamports: 3, .. }));
    assert!(matches!(rest[4], System::Assign { .. }));
    assert!(read("nonce").uses_durable_nonce() && !read("keeping a nonce").uses_durable_nonce());
}

/// Encodes a transaction with a header, static keys, instructions (program, accounts and data) and lookup
/// tables.
fn encoded(
    header: [u8; 3],
    keys: &[u8],
    instructions: &[(u8, &[u8], &[u8])],
    tables: &[(u8, &[u8], &[u8])],
) -> Vec<u8> {
    let list = |bytes: &[u8]| [&[u8::try_from(bytes.len()).unwrap()], bytes].concat();
    let mut bytes = vec![header[0]];
    bytes.extend(vec![0; 64 * usize::from(header[0])]);
    bytes.push(0x80);
    bytes.extend(header);
    bytes.push(u8::try_from(keys.len()).unwrap());
    for key in keys {
        bytes.extend([*key; 32]);
    }
    bytes.extend([7; 32]);
    bytes.push(u8::try_from(instructions.len()).unwrap());
    for (program, accounts, data) in instructions {
        bytes.extend([vec![*program], list(accounts), list(data)].concat());
    }
    bytes.push(u8::try_from(tables.len()).unwrap());
    for (key, writable, readonly) in tables {
        bytes.extend([vec![*key; 32], list(writable), list(readonly)].concat());
    }
    bytes
}

#[test]
fn rejects_what_validators_reject() {
    const TRANSFER: &[u8] = &[2, 0, 0, 0, 232, 3, 0, 0, 0, 0, 0, 0];
    let decode_error = |bytes: &[u8]| Transaction::decode(bytes).unwrap_err();
    let call = |program: u8, accounts: &'static [u8]| vec![(program, accounts, &[1_u8][..])];
    assert!(Transaction::decode(&encoded([1, 0, 1], &[1, 2, 9], &call(2, &[0, 1]), &[])).is_ok());
    // The key of zeros is that of the System program.
    let system = |accounts: &[u8], data: &[u8]| encoded([1, 0, 1], &[1, 2, 0], &[(2, accounts, data)], &[]);
    assert!(Transaction::decode(&system(&[0, 1], TRANSFER)).is_ok());
    assert!(
        Transaction::decode(&encoded(
            [1, 0, 1],
            &[1, 2, 0],
            &[(2, &[0, 1, 1], &[TRANSFER, &[9]].concat())],
            &[]
        ))
        .is_ok()
    );
    for (error, bytes) in [
        (SolanaError::TooLong, vec![1; 1_233]),
        (SolanaError::UnexpectedEnd, Vec::new()),
        (SolanaError::UnexpectedEnd, sample("transfer")[..200].to_vec()),
        (SolanaError::Version(1), vec![0x81; 200]),
        (SolanaError::Version(1), [&[1], &[0; 64][..], &[0x81; 60]].concat()),
        (SolanaError::Version(127), [&[1], &[0; 64][..], b"\xffsolana offchain"].concat()),
        (SolanaError::Trailing, [sample("transfer"), vec![0]].concat()),
        (
            SolanaError::SignatureCount { slots: 0, signers: 1 },
            [vec![0], sample("transfer")[65..].to_vec()].concat(),
        ),
        (SolanaError::Header, encoded([1, 0, 3], &[1, 2, 9], &[], &[])),
        (SolanaError::Header, encoded([3, 0, 0], &[1, 2], &[], &[])),
        (SolanaError::FeePayer, encoded([1, 1, 1], &[1, 2, 9], &[], &[])),
        (SolanaError::FeePayer, encoded([0, 0, 1], &[1, 2, 9], &[], &[])),
        (SolanaError::DuplicateKey(2), encoded([1, 0, 1], &[1, 2, 1], &[], &[])),
        (SolanaError::CallsFeePayer(0), encoded([1, 0, 1], &[1, 2, 9], &call(0, &[1]), &[])),
        (SolanaError::Program(0), encoded([1, 0, 1], &[1, 2, 9], &call(3, &[1]), &[(5, &[1], &[])])),
        (SolanaError::Account(0), encoded([1, 0, 1], &[1, 2, 9], &call(2, &[0, 3]), &[])),
        (SolanaError::Account(0), encoded([1, 0, 1], &[1, 2, 9], &call(2, &[4]), &[(5, &[1], &[])])),
        (SolanaError::EmptyTable(1), encoded([1, 0, 1], &[1, 2, 9], &[], &[(5, &[1], &[]), (6, &[], &[])])),
        (
            SolanaError::DuplicateTable(1),
            encoded([1, 0, 1], &[1, 2, 9], &[], &[(5, &[1], &[]), (5, &[2], &[])]),
        ),
        (SolanaError::Accounts, encoded([1, 0, 1], &[1, 2, 9], &[], &[(5, &[0; 127], &[1; 127])])),
        (SolanaError::Instruction(0), system(&[0], TRANSFER)),
        (SolanaError::Instruction(0), system(&[0, 1], &[2, 0, 0, 0, 1])),
        (SolanaError::Instruction(0), system(&[0, 1], &[14, 0, 0, 0])),
        (SolanaError::Instruction(0), system(&[], &[])),
    ] {
        assert_eq!(decode_error(&bytes), error);
    }
}

#[test]
fn rejects_truncated_and_non_canonical_transactions() {
    for row in samples() {
        let bytes = const_hex::decode(&row.transaction).unwrap();
        for length in 0..bytes.len() {
            assert!(Transaction::decode(&bytes[..length]).is_err(), "{} {length}", row.case);
        }
        // The number of keys in two bytes instead of one.
        let keys = 1
            + 64 * usize::from(bytes[0])
            + if bytes[1 + 64 * usize::from(bytes[0])] == 0x80 { 4 } else { 3 };
        let mut longer = bytes.clone();
        longer.splice(keys..=keys, [bytes[keys] | 0x80, 0]);
        assert!(matches!(Transaction::decode(&longer), Err(SolanaError::Malformed(_))), "{}", row.case);
    }
    // This number of keys would need two mebibytes.
    let many = [&[1], &[0; 64][..], &[1, 0, 0, 0xff, 0xff, 0x03]].concat();
    assert!(matches!(Transaction::decode(&many), Err(SolanaError::Malformed(_))));
}

/// Checks that a decoded transaction is also valid for the library of the validators.
fn check(bytes: &[u8]) {
    let Ok(read) = Transaction::decode(bytes) else { return };
    let theirs: VersionedTransaction = wincode::deserialize(bytes).unwrap();
    assert_eq!(theirs.sanitize(), Ok(()));
    assert_eq!(theirs.message.serialize(), read.message());
    assert_eq!(theirs.uses_durable_nonce(), read.uses_durable_nonce());
    assert_eq!(read.signed(&[]), bytes);
    let _ = read.facts(&NoInterfaces);
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), slots in 0_u8..4) {
        check(&bytes);
        let slots = [vec![slots], vec![0; 64 * usize::from(slots)]].concat();
        check(&[slots, bytes].concat());
    }

    #[test]
    fn decoded_bytes_are_the_signed_bytes(changes in prop::collection::vec((65_usize..700, any::<u8>()), 1..4)) {
        for row in samples() {
            let mut bytes = const_hex::decode(&row.transaction).unwrap();
            for (index, byte) in &changes {
                if let Some(changed) = bytes.get_mut(*index) {
                    *changed = *byte;
                }
            }
            check(&bytes);
        }
    }
}

/// Implementation of [`Interfaces`] that finds none and counts the lookups.
#[derive(Default)]
struct Counted(Cell<usize>);

impl Interfaces for Counted {
    fn abi(&self, _: &[u8; 20]) -> Option<Arc<Abi>> {
        None
    }

    fn idl(&self, program: &str) -> Option<Arc<Idl>> {
        assert_eq!(program, bs58::encode([3; 32]).into_string());
        self.0.set(self.0.get() + 1);
        None
    }
}

#[test]
fn interface_of_a_program_is_looked_up_once() {
    // Version 0: a payer, an account, and a program that is called a hundred times.
    let keys = [[1; 32], [2; 32], [3; 32], [4; 32]].concat();
    let calls: Vec<u8> = (0..100).flat_map(|number| [2, 2, 0, 1, 4, number, 0, 0, 0]).collect();
    let bytes = [&[1][..], &[0; 64], &[0x80, 1, 0, 1, 3], &keys, &[100], &calls, &[0]].concat();
    let transaction = Transaction::decode(&bytes).unwrap();
    assert_eq!(transaction.instructions().count(), 100);
    let interfaces = Counted::default();
    let _ = transaction.facts(&interfaces);
    assert_eq!(interfaces.0.get(), 1);
}
