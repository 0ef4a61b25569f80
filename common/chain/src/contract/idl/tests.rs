//! Instructions encoded by independent implementations, and invalid interfaces and data.

#![allow(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::super::InterfaceError;
use super::{Idl, Instruction};
use crate::vectors::{policy_map, rows};

#[derive(Deserialize)]
struct Row {
    case: String,
    idl: Json,
    data: String,
    accounts: Vec<String>,
    name: String,
    discriminator: String,
    named: serde_json::Map<String, Json>,
    arguments: serde_json::Map<String, Json>,
    lines: Vec<(String, String, String)>,
}

fn samples() -> Vec<Row> {
    rows(include_str!("../../../../../assets/vectors/chain/contract_idl.json"))
}

fn idl(json: &Json) -> Idl {
    Idl::parse(&json.to_string()).unwrap()
}

fn error(json: &Json) -> String {
    Idl::parse(&json.to_string()).unwrap_err().to_string()
}

impl Row {
    fn read(&self, data: &[u8]) -> Result<Instruction, InterfaceError> {
        let accounts: Vec<&str> = self.accounts.iter().map(String::as_str).collect();
        idl(&self.idl).instruction(data, &accounts)
    }
}

#[test]
fn instructions_match_other_implementations() {
    for row in samples() {
        let read = row.read(&const_hex::decode(&row.data).unwrap()).unwrap();
        assert_eq!((&read.name, &const_hex::encode(&read.discriminator)), (&row.name, &row.discriminator));
        assert_eq!(read.arguments(), policy_map(&row.arguments), "{}", row.case);
        let facts = read.facts();
        assert_eq!(facts.member("named_accounts"), Some(&policy_map(&row.named)), "{}", row.case);
        let lines = read.lines().lines.into_iter().map(|line| (line.path, line.kind, line.text));
        assert_eq!(lines.collect::<Vec<_>>(), row.lines, "{}", row.case);
    }
}

#[test]
fn data_and_accounts_must_be_complete() {
    for row in samples() {
        let data = const_hex::decode(&row.data).unwrap();
        for length in 0..data.len() {
            assert!(row.read(data.get(..length).unwrap()).is_err(), "{} {length}", row.case);
        }
        let longer = row.read(&[data.as_slice(), &[0]].concat());
        assert_eq!(longer, Err(InterfaceError::Arguments("bytes follow the arguments")), "{}", row.case);
        if !row.named.is_empty() {
            let few: Vec<&str> = row.accounts.iter().map(String::as_str).take(row.named.len() - 1).collect();
            assert_eq!(idl(&row.idl).instruction(&data, &few), Err(InterfaceError::TooFewAccounts));
        }
    }
}

/// Decodes this data with an instruction `f` that has one argument of this type.
fn decoded(kind: &Json, types: &Json, data: &str) -> Result<Instruction, String> {
    let instruction = json!({"name": "f", "discriminator": [7], "accounts": [],
        "args": [{"name": "a", "type": kind}]});
    let data = const_hex::decode(format!("07{data}")).unwrap();
    let read = idl(&json!({"instructions": [instruction], "types": types})).instruction(&data, &[]);
    read.map_err(|error| error.to_string())
}

#[test]
fn rejects_non_canonical_borsh_and_unsupported_types() {
    let none = json!([]);
    for (kind, data, expected) in [
        (json!("bool"), "02", "a byte is neither 0 nor 1"),
        (json!({"option": "u8"}), "0205", "a byte is neither 0 nor 1"),
        (json!("string"), "01000000ff", "a text is not UTF-8"),
        (json!("f32"), "0000c07f", "a floating-point number is NaN"),
        (json!("f64"), "000000000000f8ff", "a floating-point number is NaN"),
        (json!("bytes"), "ffffffff", "the data ends too early"),
        (json!({"vec": "u8"}), "ffffffff", "the data describes too many values to decode"),
        (json!("u16"), "01", "the data ends too early"),
        (json!("u256"), &"00".repeat(32), "a type of the interface is not supported"),
        (json!({"hashMap": ["u8", "u8"]}), "00000000", "a type of the interface is not supported"),
        (json!({"defined": "Gone"}), "", "a type of the interface is not supported"),
        (json!({"array": ["u8", {"generic": "N"}]}), "", "a type of the interface is not supported"),
    ] {
        assert_eq!(decoded(&kind, &none, data).unwrap_err(), expected, "{kind}");
    }
    let side = json!([{"name": "Side", "type": {"kind": "enum", "variants": [{"name": "Bid"}]}}]);
    let defined = json!({"defined": "Side"});
    assert!(decoded(&defined, &side, "00").is_ok());
    assert_eq!(decoded(&defined, &side, "01").unwrap_err(), "an enum has no such variant");
    let raw = json!([{"name": "Side", "serialization": "bytemuck", "type": {"kind": "struct"}}]);
    assert_eq!(decoded(&defined, &raw, "").unwrap_err(), "a type of the interface is not supported");
}

#[test]
fn values_without_bytes_are_bounded() {
    let unit = json!([{"name": "Unit", "type": {"kind": "struct"}}]);
    let array = |size: u64| json!({"array": [{"defined": "Unit"}, size]});
    assert!(decoded(&array(1000), &unit, "").is_ok());
    let more = "the data describes too many values to decode";
    assert_eq!(decoded(&array(1233), &unit, "").unwrap_err(), more);
    assert_eq!(decoded(&array(u64::MAX), &unit, "").unwrap_err(), more);
    // Ten structs of a hundred fields each, the last without any.
    let mut types = vec![json!({"name": "T0", "type": {"kind": "struct"}})];
    for index in 1..10 {
        let fields: Vec<Json> = (0..100)
            .map(|field| json!({"name": format!("f{field}"), "type": {"defined": format!("T{}", index - 1)}}))
            .collect();
        types.push(json!({"name": format!("T{index}"), "type": {"kind": "struct", "fields": fields}}));
    }
    assert_eq!(decoded(&json!({"defined": "T9"}), &json!(types), "").unwrap_err(), more);
    let long = "00".repeat(1232);
    assert!(decoded(&json!("bytes"), &json!([]), &long).unwrap_err().ends_with("longer than 1232 bytes"));
}

#[test]
fn first_matching_discriminator_is_used() {
    let instruction =
        |name: &str, bytes: Json| json!({"name": name, "discriminator": bytes, "accounts": [], "args": []});
    let idl = idl(&json!({"types": [], "instructions": [
        instruction("long", json!([1, 2])), instruction("short", json!([1])), instruction("never", json!([1, 3]))]}));
    let named = |data: &[u8]| idl.instruction(data, &[]).map(|read| read.name);
    assert_eq!(named(&[1, 2]), Ok("long".to_owned()));
    assert_eq!(named(&[1]), Ok("short".to_owned()));
    assert_eq!(named(&[1, 3]), Err(InterfaceError::Arguments("bytes follow the arguments")));
    assert_eq!(named(&[2]), Err(InterfaceError::UnknownInstruction));
    assert_eq!(named(&[]), Err(InterfaceError::UnknownInstruction));
}

#[test]
fn rejects_invalid_idls() {
    assert_eq!(error(&json!([])), "not an IDL: the list `instructions` is missing");
    assert_eq!(error(&json!({"instructions": []})), "not an IDL: the list `types` is missing");
    assert_eq!(
        error(&json!({"instructions": {}, "types": []})),
        "not an IDL: the list `instructions` is missing"
    );
    let with = |entry: Json| error(&json!({"instructions": [entry], "types": []}));
    assert_eq!(with(json!({"name": "a b"})), "instruction 1: a name is not a valid identifier");
    assert_eq!(with(json!({"name": "a"})), "instruction 1: its accounts are not a list");
    assert_eq!(with(json!({"name": "a", "accounts": []})), "instruction 1: its arguments are not a list");
    for discriminator in [json!([]), json!([256]), json!("01"), json!([1, -1])] {
        let entry = json!({"name": "a", "discriminator": discriminator});
        assert_eq!(with(entry), "instruction 1: its discriminator is not a list of bytes");
    }
    let twice = json!([{"name": "x"}, {"name": "x"}]);
    let entry = json!({"name": "a", "accounts": twice, "args": []});
    assert_eq!(with(entry), "instruction 1: two of its accounts have the same name");
    let twice = json!([{"name": "x", "type": "u8"}, {"name": "x", "type": "u8"}]);
    let entry = json!({"name": "a", "accounts": [], "args": twice});
    assert_eq!(with(entry), "instruction 1: two of its fields have the same name");
    let types = |types: Json| error(&json!({"instructions": [], "types": types}));
    let unit = json!({"name": "A", "type": {"kind": "struct"}});
    assert_eq!(types(json!([unit, unit])), "type 2: another type has the same name");
}

#[test]
fn rejects_recursive_and_deeply_nested_types() {
    let struct_of = |name: &str, kind: Json| json!({"name": name, "type": {"kind": "struct", "fields": [{"name": "x", "type": kind}]}});
    let types = |types: Vec<Json>| Idl::parse(&json!({"instructions": [], "types": types}).to_string());
    let itself = types(vec![struct_of("A", json!({"vec": {"defined": "A"}}))]).unwrap_err();
    assert_eq!(itself.to_string(), "type 1: it contains itself, or nests too deep");
    let cycle = vec![
        struct_of("A", json!("u8")),
        struct_of("B", json!({"option": {"defined": "C"}})),
        json!({"name": "C", "type": {"kind": "alias", "value": {"defined": "B"}}}),
    ];
    assert_eq!(types(cycle).unwrap_err().to_string(), "type 2: it contains itself, or nests too deep");
    let chain = |length: usize| -> Vec<Json> {
        let link =
            |index: usize| struct_of(&format!("T{index}"), json!({"defined": format!("T{}", index + 1)}));
        (0..length).map(link).collect()
    };
    assert!(types(chain(11)).is_ok());
    assert!(types(chain(12)).is_err());
    let mut deep = json!("u8");
    for _ in 0..11 {
        deep = json!({"vec": deep});
    }
    assert_eq!(types(vec![struct_of("A", deep)]).unwrap_err().to_string(), "type 1: a type nests too deep");
}

proptest! {
    #[test]
    fn damaged_instructions_never_panic(row in 0_usize..6, index in 0_usize..200, byte in any::<u8>()) {
        let row = samples().into_iter().nth(row).unwrap();
        let mut data = const_hex::decode(&row.data).unwrap();
        let length = data.len();
        *data.get_mut(index % length).unwrap() = byte;
        let _ = row.read(&data);
    }
}
