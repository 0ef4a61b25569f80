//! Transactions that an independent implementation wrote, and what becomes of them when they are damaged.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod rewritten;

use proptest::prelude::*;
use prost::Message as _;
use quorate_policy::{EvaluationReason, ExpressionKind, Program, Value};
use serde::Deserialize;
use serde_json::Value as Json;

use self::rewritten::rewritten;
use super::{Flaw, Transaction, proto};
use crate::curve::{Curve, SecretKey};
use crate::transaction::{Signer, TransactionType, Unsigned, UnsignedFlaw};
use crate::vectors::{rows, secret};

/// The key of the rows: of the mnemonic abandon (11 times) about, at m/44'/195'/0'/0/0.
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

/// The bytes of a row.
fn sample(case: &str) -> Vec<u8> {
    bytes(&samples().iter().find(|row| row.case == case).unwrap().unsigned)
}

fn key() -> SecretKey {
    secret(Curve::Secp256k1, PRIVATE)
}

fn signed(text: &str, by: &SecretKey) -> Result<String, UnsignedFlaw> {
    let signer = Signer { key: by.public(), format: None };
    let signable = Unsigned::read(TransactionType::Tron, text)?.for_signer(&signer)?;
    Ok(signable.sign(|message| by.sign(message)).unwrap())
}

/// Facts as they stand in the rows.
fn json(value: &Value) -> Json {
    match value {
        Value::Bool(value) => Json::Bool(*value),
        Value::Int(number) => number.to_string().parse::<u64>().unwrap().into(),
        Value::Text { text, folds_case } => {
            assert!(!folds_case, "{text}: everything of Tron compares exactly");
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
fn independent_transactions_are_read_and_signed_alike() {
    for row in samples() {
        let transaction = Transaction::decode(&bytes(&row.unsigned)).unwrap();
        assert_eq!(const_hex::encode(transaction.digest()), row.digest, "{}", row.case);
        assert_eq!(json(&transaction.facts()), row.facts, "{}", row.case);
        assert_eq!(signed(&row.unsigned, &key()).unwrap(), row.signed, "{}", row.case);
        let again = Transaction::decode(&bytes(&row.signed));
        assert!(again.is_err(), "{}: what is signed is not signed again", row.case);
    }
}

#[test]
fn others_sign_under_an_active_permission_only() {
    let other = secret(Curve::Secp256k1, &"11".repeat(32));
    for row in samples() {
        let named = row.case.contains("under an active permission");
        assert_eq!(signed(&row.unsigned, &other).is_ok(), named, "{}", row.case);
    }
    let transfer = &samples()[0].unsigned;
    assert_eq!(signed(transfer, &other), Err(UnsignedFlaw::Tron(Flaw::Owner)));
    // The permission of the witness is for blocks.
    let witness = changed("a transfer", |raw| raw.contract[0].permission_id = 1);
    assert_eq!(signed(&const_hex::encode(&witness), &other), Err(UnsignedFlaw::Tron(Flaw::Owner)));
    assert!(signed(&const_hex::encode(&witness), &key()).is_ok());
}

#[test]
fn policies_ask() {
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
        let found = program.evaluate(&Value::record([("tron", facts)])).map_err(|error| error.reason);
        assert!(matches!(&found, Ok(_) | Err(EvaluationReason::MissingField(_))), "{condition}: {found:?}");
        assert_eq!(found.map_err(|_| ()), expected, "{condition}");
    }
}

/// The bytes of a row after a change to what they say.
fn changed(case: &str, change: impl FnOnce(&mut proto::Raw)) -> Vec<u8> {
    let mut raw = proto::Raw::decode(sample(case).as_slice()).unwrap();
    change(&mut raw);
    raw.encode_to_vec()
}

/// The bytes of a row after a change to the parameter of its contract.
fn with_parameter<M: prost::Message + Default>(case: &str, change: impl FnOnce(&mut M)) -> Vec<u8> {
    changed(case, |raw| {
        let parameter = raw.contract[0].parameter.as_mut().unwrap();
        let mut message = M::decode(parameter.value.as_slice()).unwrap();
        change(&mut message);
        parameter.value = message.encode_to_vec();
    })
}

fn flaw(bytes: &[u8]) -> Flaw {
    Transaction::decode(bytes).unwrap_err()
}

#[test]
fn what_is_around_the_contract_is_checked() {
    assert_eq!(flaw(&[]), Flaw::Contracts(0));
    let twice = changed("a transfer", |raw| raw.contract.push(raw.contract[0].clone()));
    assert_eq!(flaw(&twice), Flaw::Contracts(2));
    // The vote for a witness, and a number that stands for nothing.
    for number in [0, 4, 59, -1, i32::MAX] {
        let other = changed("a transfer", |raw| raw.contract[0].r#type = number);
        assert_eq!(flaw(&other), Flaw::Type(number));
    }
    let other = changed("a transfer", |raw| raw.contract[0].r#type = 31);
    assert_eq!(flaw(&other), Flaw::Parameter);
    let none = changed("a transfer", |raw| raw.contract[0].parameter = None);
    assert_eq!(flaw(&none), Flaw::Parameter);
    for url in ["", "protocol.TransferContract", "type.googleapis.com/protocol.TransferAssetContract"] {
        let other = changed("a transfer", |raw| {
            raw.contract[0].parameter.as_mut().unwrap().type_url = url.to_owned();
        });
        assert_eq!(flaw(&other), Flaw::Parameter, "{url}");
    }
    let negative = changed("a transfer", |raw| raw.fee_limit = -1);
    assert_eq!(flaw(&negative), Flaw::Negative("fee_limit"));
    let negative = changed("a transfer", |raw| raw.contract[0].permission_id = -2);
    assert_eq!(flaw(&negative), Flaw::Negative("Permission_id"));
}

#[test]
fn members_of_the_contract_are_checked() {
    let pays = |change: &dyn Fn(&mut proto::TransferContract)| with_parameter("a transfer", change);
    assert_eq!(flaw(&pays(&|transfer| transfer.amount = -1)), Flaw::Negative("amount"));
    for bad in [vec![], vec![0x41; 20], vec![0x41; 22], vec![0xa0; 21]] {
        let to = pays(&|transfer| transfer.to_address.clone_from(&bad));
        assert_eq!(flaw(&to), Flaw::Address("to_address"));
        let owner = pays(&|transfer| transfer.owner_address.clone_from(&bad));
        assert_eq!(flaw(&owner), Flaw::Address("owner_address"));
    }
    let stakes =
        |change: fn(&mut proto::FreezeBalanceV2Contract)| with_parameter("a stake for energy", change);
    assert_eq!(flaw(&stakes(|stake| stake.resource = 2)), Flaw::Resource(2));
    let most = Transaction::decode(&stakes(|stake| stake.frozen_balance = i64::MAX)).unwrap();
    assert_eq!(json(&most.facts())["contract"][0]["frozen_balance"], i64::MAX);
}

#[test]
fn permissions_are_checked() {
    let case = "permissions with a witness, given away";
    let with = |change: fn(&mut proto::AccountPermissionUpdateContract)| with_parameter(case, change);
    let owner = with(|update| update.owner.as_mut().unwrap().r#type = 2);
    assert_eq!(flaw(&owner), Flaw::Permission("owner"));
    let keys = with(|update| {
        let witness = update.witness.as_mut().unwrap();
        witness.keys = vec![witness.keys[0].clone(); 6];
    });
    assert_eq!(flaw(&keys), Flaw::Permission("witness"));
    let operations = with(|update| update.actives[0].operations.push(0));
    assert_eq!(flaw(&operations), Flaw::Permission("actives"));
    let many = with(|update| update.actives = vec![update.actives[0].clone(); 9]);
    assert_eq!(flaw(&many), Flaw::Actives(9));
    let weight = with(|update| update.actives[0].keys[0].weight = -1);
    assert_eq!(flaw(&weight), Flaw::Negative("weight"));
    let address = with(|update| update.actives[0].keys[0].address.clear());
    assert_eq!(flaw(&address), Flaw::Address("address"));
    // The network numbers permissions by their place.
    let numbered = with(|update| update.actives[0].id = 7);
    let facts = json(&Transaction::decode(&numbered).unwrap().facts());
    assert_eq!(facts["contract"][0]["actives"][0]["id"], 2);
}

/// Where a protocol buffer says the same in more than one way (its encoding guide), one is taken.
#[test]
fn one_way_of_writing_is_taken() {
    let sample = sample("a transfer");
    let after = |more: &[u8]| [&sample, more].concat();
    let replaced = |from: &str, to: &str| {
        let hex = const_hex::encode(&sample);
        assert!(hex.contains(from), "{from}");
        bytes(&hex.replacen(from, to, 1))
    };
    let ways: [(&str, Vec<u8>); 11] = [
        ("a member that is not known", after(&[0x1a, 0x01, 0x00])),
        ("a known member of the protocol that is not read", after(&[0x18, 0x01])),
        ("nothing written out", after(&[0x90, 0x01, 0x00])),
        ("no memo written out", replaced("5a67", "52005a67")),
        ("a number twice", after(&[0x90, 0x01, 0x01, 0x90, 0x01, 0x01])),
        (
            "members in another order",
            replaced("0a02abcd22080102030405060708", "220801020304050607080a02abcd"),
        ),
        ("a number that is longer than it need be", after(&[0x90, 0x01, 0x81, 0x00])),
        ("a length that is longer than it need be", replaced("0a02abcd", "0a8200abcd")),
        ("a tag that is longer than it need be", replaced("0a02abcd", "8a0002abcd")),
        ("a type beyond its 32 bits", replaced("5a670801", "5a6b088180808010")),
        (
            "nothing written out in the parameter",
            changed("a call without data", |raw| {
                raw.contract[0].parameter.as_mut().unwrap().value.extend([0x28, 0x00]);
            }),
        ),
    ];
    for (way, bytes) in ways {
        let found = flaw(&bytes);
        assert!(matches!(found, Flaw::NotCanonical | Flaw::Malformed(_)), "{way}: {found:?}");
    }
}

proptest! {
    #[test]
    fn anything_is_answered(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = Transaction::decode(&bytes);
    }

    #[test]
    fn what_is_read_is_what_is_signed(row in 0_usize..15, place in 0_usize..400, put in prop::collection::vec(any::<u8>(), 0..4), cut in 0_usize..4) {
        let mut damaged = bytes(&samples()[row].unsigned);
        let start = place % damaged.len();
        let end = (start + cut).min(damaged.len());
        damaged.splice(start..end, put);
        if let Ok(read) = Transaction::decode(&damaged) {
            prop_assert_eq!(rewritten(&json(&read.facts()), &numbers(&damaged)), damaged);
        }
    }
}

#[test]
fn facts_tell_everything() {
    for row in samples() {
        let sample = bytes(&row.unsigned);
        assert_eq!(rewritten(&row.facts, &numbers(&sample)), sample, "{}", row.case);
    }
}

/// The numbers that permissions give themselves.
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
