//! Transactions encoded by an independent implementation, and damaged variants of them.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod rewritten;

use proptest::prelude::*;
use prost::Message as _;
use quorate_policy::{EvaluationReason, ExpressionKind, Program, Value};
use serde::Deserialize;
use serde_json::Value as Json;

use self::rewritten::rewritten;
use super::{Transaction, TronError, proto};
use crate::curve::{Curve, SecretKey};
use crate::transaction::{Signer, TransactionType, Unsigned, UnsignedError};
use crate::vectors::{rows, secret};

/// Key of the rows: that of the mnemonic abandon (11 times) about, at m/44'/195'/0'/0/0.
const PRIVATE: &str = "b5a4cea271ff424d7c31dc12a3e43e401df7a40d7412a15750f3f0b6b5449a28";

#[derive(Deserialize)]
struct Row {
    case: String,
    unsigned: String,
    digest: String,
    signed: String,
    facts: Json,
}

fn samples() -> Vec<Row> {
    rows(include_str!("../../../../../assets/vectors/chain/tron.json"))
}

fn bytes(text: &str) -> Vec<u8> {
    const_hex::decode(text).unwrap()
}

/// Returns the bytes of a row.
fn sample(case: &str) -> Vec<u8> {
    bytes(&samples().iter().find(|row| row.case == case).unwrap().unsigned)
}

fn key() -> SecretKey {
    secret(Curve::Secp256k1, PRIVATE)
}

fn signed(text: &str, by: &SecretKey) -> Result<String, UnsignedError> {
    let signer = Signer { key: by.public(), format: None };
    let signable = Unsigned::read(TransactionType::Tron, text)?.for_signer(&signer)?;
    Ok(signable.sign(|message| by.sign(message)).unwrap())
}

/// Returns facts as the rows write them.
fn json(value: &Value) -> Json {
    match value {
        Value::Bool(value) => Json::Bool(*value),
        Value::Int(number) => number.to_string().parse::<u64>().unwrap().into(),
        Value::Text { text, folds_case } => {
            assert!(!folds_case, "{text}: all texts of Tron compare exactly");
            text.as_ref().into()
        }
        Value::List(values) => values.iter().map(json).collect(),
        Value::Struct(members) => {
            members.iter().map(|(name, value)| (name.to_string(), json(value))).collect()
        }
        other => unreachable!("{other:?}"),
    }
}

#[test]
fn transactions_match_the_vectors() {
    for row in samples() {
        let transaction = Transaction::decode(&bytes(&row.unsigned)).unwrap();
        assert_eq!(const_hex::encode(transaction.digest()), row.digest, "{}", row.case);
        assert_eq!(json(&transaction.facts()), row.facts, "{}", row.case);
        assert_eq!(signed(&row.unsigned, &key()).unwrap(), row.signed, "{}", row.case);
        let again = Transaction::decode(&bytes(&row.signed));
        assert!(again.is_err(), "{}: a signed transaction is rejected", row.case);
    }
}

#[test]
fn other_keys_sign_only_under_an_active_permission() {
    let other = secret(Curve::Secp256k1, &"11".repeat(32));
    for row in samples() {
        let named = row.case.contains("under an active permission");
        assert_eq!(signed(&row.unsigned, &other).is_ok(), named, "{}", row.case);
    }
    let transfer = &samples()[0].unsigned;
    assert_eq!(signed(transfer, &other), Err(UnsignedError::Tron(TronError::Owner)));
    // The witness permission is for block production only.
    let witness = changed("a transfer", |raw| raw.contract[0].permission_id = 1);
    assert_eq!(signed(&const_hex::encode(&witness), &other), Err(UnsignedError::Tron(TronError::Owner)));
    assert!(signed(&const_hex::encode(&witness), &key()).is_ok());
}

#[test]
fn policies_query_the_facts() {
    let (transfer, call) = (sample("a transfer"), sample("a transfer of tokens"));
    for (bytes, condition, expected) in [
        (
            &transfer,
            "tron.tx.contract[0].type == 'TransferContract' && tron.tx.contract[0].amount < 10000000",
            Ok(true),
        ),
        (&transfer, "tron.tx.contract[0].to_address == 'TGrLpry8MNqMuMUTe2VXv5wYkRuFEsbKsE'", Ok(true)),
        (&transfer, "tron.tx.contract[0].to_address == 'tgrlpry8mnqmumute2vxv5wykrufesbkse'", Ok(false)),
        (&transfer, "tron.tx.contract[0].data[0..8] == 'a9059cbb'", Err(())),
        (&call, "tron.tx.contract[0].data[0..8] == 'a9059cbb'", Ok(true)),
        (&call, "tron.tx.contract.count() == 1 && tron.tx.fee_limit <= 100000000", Ok(true)),
    ] {
        let program = Program::parse(ExpressionKind::Condition, condition).unwrap();
        let facts = Value::record([("tx", Transaction::decode(bytes).unwrap().facts())]);
        let result = program.evaluate(&Value::record([("tron", facts)])).map_err(|error| error.reason);
        assert!(matches!(&result, Ok(_) | Err(EvaluationReason::MissingField(_))), "{condition}: {result:?}");
        assert_eq!(result.map_err(|_| ()), expected, "{condition}");
    }
}

/// Returns the bytes of a row after a change of the decoded message.
fn changed(case: &str, change: impl FnOnce(&mut proto::Raw)) -> Vec<u8> {
    let mut raw = proto::Raw::decode(sample(case).as_slice()).unwrap();
    change(&mut raw);
    raw.encode_to_vec()
}

/// Returns the bytes of a row after a change of the contract parameter.
fn with_parameter<M: prost::Message + Default>(case: &str, change: impl FnOnce(&mut M)) -> Vec<u8> {
    changed(case, |raw| {
        let parameter = raw.contract[0].parameter.as_mut().unwrap();
        let mut message = M::decode(parameter.value.as_slice()).unwrap();
        change(&mut message);
        parameter.value = message.encode_to_vec();
    })
}

fn error(bytes: &[u8]) -> TronError {
    Transaction::decode(bytes).unwrap_err()
}

#[test]
fn rejects_invalid_transaction_fields() {
    assert_eq!(error(&[]), TronError::Contracts(0));
    let twice = changed("a transfer", |raw| raw.contract.push(raw.contract[0].clone()));
    assert_eq!(error(&twice), TronError::Contracts(2));
    // The vote for a witness, and undefined numbers.
    for number in [0, 4, 59, -1, i32::MAX] {
        let other = changed("a transfer", |raw| raw.contract[0].r#type = number);
        assert_eq!(error(&other), TronError::Type(number));
    }
    let other = changed("a transfer", |raw| raw.contract[0].r#type = 31);
    assert_eq!(error(&other), TronError::Parameter);
    let none = changed("a transfer", |raw| raw.contract[0].parameter = None);
    assert_eq!(error(&none), TronError::Parameter);
    for url in ["", "protocol.TransferContract", "type.googleapis.com/protocol.TransferAssetContract"] {
        let other = changed("a transfer", |raw| {
            raw.contract[0].parameter.as_mut().unwrap().type_url = url.to_owned();
        });
        assert_eq!(error(&other), TronError::Parameter, "{url}");
    }
    let negative = changed("a transfer", |raw| raw.fee_limit = -1);
    assert_eq!(error(&negative), TronError::Negative("fee_limit"));
    let negative = changed("a transfer", |raw| raw.contract[0].permission_id = -2);
    assert_eq!(error(&negative), TronError::Negative("Permission_id"));
}

#[test]
fn rejects_invalid_contract_fields() {
    let pays = |change: &dyn Fn(&mut proto::TransferContract)| with_parameter("a transfer", change);
    assert_eq!(error(&pays(&|transfer| transfer.amount = -1)), TronError::Negative("amount"));
    for bad in [vec![], vec![0x41; 20], vec![0x41; 22], vec![0xa0; 21]] {
        let to = pays(&|transfer| transfer.to_address.clone_from(&bad));
        assert_eq!(error(&to), TronError::Address("to_address"));
        let owner = pays(&|transfer| transfer.owner_address.clone_from(&bad));
        assert_eq!(error(&owner), TronError::Address("owner_address"));
    }
    let stakes =
        |change: fn(&mut proto::FreezeBalanceV2Contract)| with_parameter("a stake for energy", change);
    assert_eq!(error(&stakes(|stake| stake.resource = 2)), TronError::Resource(2));
    let most = Transaction::decode(&stakes(|stake| stake.frozen_balance = i64::MAX)).unwrap();
    assert_eq!(json(&most.facts())["contract"][0]["frozen_balance"], i64::MAX);
}

#[test]
fn rejects_invalid_permissions() {
    let case = "permissions with a witness, given away";
    let with = |change: fn(&mut proto::AccountPermissionUpdateContract)| with_parameter(case, change);
    let owner = with(|update| update.owner.as_mut().unwrap().r#type = 2);
    assert_eq!(error(&owner), TronError::Permission("owner"));
    let keys = with(|update| {
        let witness = update.witness.as_mut().unwrap();
        witness.keys = vec![witness.keys[0].clone(); 6];
    });
    assert_eq!(error(&keys), TronError::Permission("witness"));
    let operations = with(|update| update.actives[0].operations.push(0));
    assert_eq!(error(&operations), TronError::Permission("actives"));
    let many = with(|update| update.actives = vec![update.actives[0].clone(); 9]);
    assert_eq!(error(&many), TronError::Actives(9));
    let weight = with(|update| update.actives[0].keys[0].weight = -1);
    assert_eq!(error(&weight), TronError::Negative("weight"));
    let address = with(|update| update.actives[0].keys[0].address.clear());
    assert_eq!(error(&address), TronError::Address("address"));
    // The network numbers permissions by their position.
    let numbered = with(|update| update.actives[0].id = 7);
    let facts = json(&Transaction::decode(&numbered).unwrap().facts());
    assert_eq!(facts["contract"][0]["actives"][0]["id"], 2);
}

/// The encoding guide of protocol buffers allows several encodings of a message. Only one is accepted.
#[test]
fn accepts_only_the_canonical_encoding() {
    let sample = sample("a transfer");
    let after = |more: &[u8]| [&sample, more].concat();
    let replaced = |from: &str, to: &str| {
        let hex = const_hex::encode(&sample);
        assert!(hex.contains(from), "{from}");
        bytes(&hex.replacen(from, to, 1))
    };
    let ways: [(&str, Vec<u8>); 11] = [
        ("an unknown field", after(&[0x1a, 0x01, 0x00])),
        ("a field of the protocol that is not supported", after(&[0x18, 0x01])),
        ("an explicit default value", after(&[0x90, 0x01, 0x00])),
        ("an explicit empty memo", replaced("5a67", "52005a67")),
        ("a repeated number", after(&[0x90, 0x01, 0x01, 0x90, 0x01, 0x01])),
        ("fields out of order", replaced("0a02abcd22080102030405060708", "220801020304050607080a02abcd")),
        ("a number longer than necessary", after(&[0x90, 0x01, 0x81, 0x00])),
        ("a length longer than necessary", replaced("0a02abcd", "0a8200abcd")),
        ("a tag longer than necessary", replaced("0a02abcd", "8a0002abcd")),
        ("a type beyond its 32 bits", replaced("5a670801", "5a6b088180808010")),
        (
            "an explicit default value in the parameter",
            changed("a call without data", |raw| {
                raw.contract[0].parameter.as_mut().unwrap().value.extend([0x28, 0x00]);
            }),
        ),
    ];
    for (way, bytes) in ways {
        let error = error(&bytes);
        assert!(matches!(error, TronError::NotCanonical | TronError::Malformed(_)), "{way}: {error:?}");
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = Transaction::decode(&bytes);
    }

    #[test]
    fn decoded_bytes_are_the_signed_bytes(row in 0_usize..15, index in 0_usize..400, put in prop::collection::vec(any::<u8>(), 0..4), cut in 0_usize..4) {
        let mut damaged = bytes(&samples()[row].unsigned);
        let start = index % damaged.len();
        let end = (start + cut).min(damaged.len());
        damaged.splice(start..end, put);
        if let Ok(read) = Transaction::decode(&damaged) {
            prop_assert_eq!(rewritten(&json(&read.facts()), &numbers(&damaged)), damaged);
        }
    }
}

#[test]
fn facts_are_complete() {
    for row in samples() {
        let sample = bytes(&row.unsigned);
        assert_eq!(rewritten(&row.facts, &numbers(&sample)), sample, "{}", row.case);
    }
}

/// Returns the ids that the transaction states for its permissions.
fn numbers(bytes: &[u8]) -> Vec<i32> {
    let raw = proto::Raw::decode(bytes).unwrap();
    let parameter = raw.contract[0].parameter.as_ref().unwrap();
    if raw.contract[0].r#type != 46 {
        return Vec::new();
    }
    let update = proto::AccountPermissionUpdateContract::decode(parameter.value.as_slice()).unwrap();
    let all = update.owner.iter().chain(&update.witness).chain(&update.actives);
    all.map(|permission| permission.id).collect()
}
