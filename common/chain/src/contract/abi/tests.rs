//! Calls encoded by independent implementations, and invalid interfaces and calls.

#![allow(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::*;
use crate::vectors::{policy_map, rows};

#[derive(Deserialize)]
struct Row {
    case: String,
    abi: Json,
    data: String,
    name: String,
    selector: String,
    arguments: serde_json::Map<String, Json>,
    lines: Vec<(String, String, String)>,
}

fn samples() -> Vec<Row> {
    rows(include_str!("../../../../../assets/vectors/chain/contract_abi.json"))
}

fn abi(json: &Json) -> Abi {
    Abi::parse(&json.to_string()).unwrap()
}

fn error(json: &Json) -> String {
    Abi::parse(&json.to_string()).unwrap_err().to_string()
}

fn function(inputs: &Json) -> Json {
    json!([{"type": "function", "name": "f", "inputs": inputs}])
}

#[test]
fn calls_match_other_implementations() {
    for row in samples() {
        let data = const_hex::decode(&row.data).unwrap();
        let call = abi(&row.abi).call(&data).unwrap();
        assert_eq!((call.name.as_str(), const_hex::encode(call.selector)), (&*row.name, row.selector));
        assert_eq!(call.arguments(), Some(policy_map(&row.arguments)), "{}", row.case);
        let read = call.lines().unwrap();
        let lines = read.lines.into_iter().map(|line| (line.path, line.kind, line.text));
        assert_eq!(lines.collect::<Vec<_>>(), row.lines, "{}", row.case);
        assert_eq!(read.left_out, 0);
    }
}

#[test]
fn truncated_and_extended_calls_have_no_arguments() {
    for row in samples() {
        let (abi, data) = (abi(&row.abi), const_hex::decode(&row.data).unwrap());
        for length in 0..data.len() {
            let call = abi.call(data.get(..length).unwrap());
            assert_eq!(call.is_some(), length >= 4, "{} {length}", row.case);
            assert!(call.is_none_or(|call| call.arguments().is_none()), "{} {length}", row.case);
        }
        for more in [1, 31, 32, 64] {
            let call = abi.call(&[data.as_slice(), &vec![0; more]].concat()).unwrap();
            assert_eq!((call.name, call.arguments), (row.name.clone(), None), "{}", row.case);
        }
    }
}

/// Returns whether the arguments of a call with these words after its selector are decoded.
fn is_decoded(inputs: &Json, words: &[&str]) -> bool {
    let abi = abi(&function(inputs));
    let mut data: Vec<u8> = abi.functions.keys().next().unwrap().to_vec();
    for word in words {
        data.extend(const_hex::decode(format!("{word:0>64}")).unwrap());
    }
    abi.call(&data).unwrap().arguments.is_some()
}

#[test]
fn out_of_range_values_are_not_decoded() {
    let kind = |kind: &str| json!([{"type": kind}]);
    let full = |digit: &str, length: usize| digit.repeat(length);
    for (given, word, expected) in [
        ("uint8", "ff", true),
        ("uint8", "100", false),
        ("bool", "1", true),
        ("bool", "2", false),
        ("address", &full("f", 40), true),
        ("address", &full("f", 41), false),
        ("int8", "7f", true),
        ("int8", "80", false),
        ("int8", &(full("f", 62) + "80"), true),
        ("int8", &(full("f", 62) + "7f"), false),
        ("int256", &full("f", 64), true),
        ("bytes1", &("ff".to_owned() + &full("0", 62)), true),
        ("bytes1", &("ff01".to_owned() + &full("0", 60)), false),
        ("function", &(full("1", 48) + &full("0", 16)), true),
        ("function", &(full("1", 49) + &full("0", 15)), false),
    ] {
        assert_eq!(is_decoded(&kind(given), &[word]), expected, "{given} {word}");
    }
}

#[test]
fn offsets_must_point_to_the_next_part() {
    let bytes = json!([{"type": "bytes"}, {"type": "bytes"}]);
    let x = &("11".to_owned() + &"0".repeat(62));
    assert!(is_decoded(&bytes, &["40", "80", "1", x, "1", x]));
    assert!(!is_decoded(&bytes, &["40", "40", "1", x]), "two offsets to one part");
    assert!(!is_decoded(&bytes, &["80", "40", "1", x, "1", x]), "in another order");
    assert!(!is_decoded(&bytes, &["60", "a0", "0", "1", x, "1", x]), "with a gap");
    assert!(!is_decoded(&bytes, &["40", "80", "1", &"1".repeat(64), "1", x]), "nonzero padding");
    assert!(!is_decoded(&bytes, &[&"f".repeat(64), "80", "1", x, "1", x]));
    let text = json!([{"type": "string"}]);
    assert!(!is_decoded(&text, &["20", "1", &("ff".to_owned() + &"0".repeat(62))]), "not UTF-8");
    let lists = json!([{"type": "uint8[][]"}]);
    assert!(is_decoded(&lists, &["20", "2", "40", "60", "0", "0"]));
    assert!(!is_decoded(&lists, &["20", "2", "40", "40", "0"]));
    assert!(!is_decoded(&lists, &["20", "ffffffff"]));
}

#[test]
fn expanding_data_is_not_decoded() {
    // Each of the empty lists would make the decoder allocate 4000 numbers.
    let inputs = json!([{"type": "uint256[4000][][]"}]);
    let offsets: Vec<String> = (0..100).map(|index| format!("{:x}", (100 + index) * 32)).collect();
    let mut words = vec!["20", "64"];
    words.extend(offsets.iter().map(String::as_str));
    words.extend(["0"; 100]);
    assert!(!is_decoded(&inputs, &words));
}

#[test]
fn rejects_invalid_abis() {
    let uint = json!([{"name": "a", "type": "uint256"}]);
    assert_eq!(error(&json!({"abi": []})), "not an ABI: expected a list");
    for name in ["", "1", "a b", "\u{202e}a", "a-b", &"a".repeat(257)] {
        let named = json!([{"type": "event"}, {"type": "function", "name": name, "inputs": uint}]);
        assert_eq!(error(&named), "entry 2: its name is not a valid function name");
    }
    let inputs = |inputs: Json| error(&function(&inputs));
    assert_eq!(inputs(json!(null)), "entry 1: its inputs are not a list");
    assert_eq!(inputs(json!([{"name": "a"}])), "entry 1: a parameter has no type");
    assert_eq!(inputs(json!([{"type": "bool", "name": "a b"}])), "entry 1: a parameter has an invalid name");
    let twice = json!([{"type": "bool", "name": "a"}, {"type": "bool", "name": "a"}]);
    assert_eq!(inputs(twice), "entry 1: two of its parameters have the same name");
    for kind in [
        "",
        "uint7",
        "uint08",
        "uint264",
        "bytes33",
        "bytes0",
        "Kind",
        "L.Kind",
        "(bool)",
        "bool ",
        "bool[",
        "bool]",
        "bool[]]",
        "bool[-1]",
        "bool[0]",
        "bool[01]",
        "bool[1",
        "fixed128x18",
        "uint256[1]a",
        "tuple2",
    ] {
        assert_eq!(inputs(json!([{"type": kind}])), "entry 1: a parameter has an unknown type", "{kind}");
    }
    assert_eq!(inputs(json!([{"type": "tuple[]", "components": []}])), "entry 1: a tuple has no parts");
    let deep = "entry 1: a parameter has a type that nests too deep";
    assert_eq!(inputs(json!([{"type": format!("bool{}", "[]".repeat(8))}])), deep);
    let mut tuple = json!({"type": "bool"});
    for _ in 0..8 {
        tuple = json!({"type": "tuple", "components": [tuple]});
    }
    assert_eq!(inputs(json!([tuple])), deep);
    let many = "entry 1: it takes more values than a transaction can hold";
    assert_eq!(inputs(json!([{"type": "uint256[4096]"}])), many);
    assert_eq!(inputs(json!([{"type": "uint256[64][65][]"}])), many);
    assert_eq!(inputs(json!([{"type": "bool[99999999999999999][99999999999999999]"}])), many);
    let types = vec![json!({"type": "bool"}); 2048];
    let functions: Vec<_> =
        (0..5).map(|n| json!({"type": "function", "name": format!("f{n}"), "inputs": types})).collect();
    assert_eq!(error(&json!(functions)), "entry 5: the functions have too many types in total");
}

#[test]
fn a_selector_belongs_to_one_function() {
    let one = json!({"type": "function", "name": "f", "inputs": [{"name": "a", "type": "uint"}]});
    let same =
        json!({"type": "function", "name": "f", "inputs": [{"name": "a", "type": "uint256"}], "outputs": []});
    assert_eq!(abi(&json!([one, same])).functions.len(), 1);
    let other = json!({"type": "function", "name": "f", "inputs": [{"name": "b", "type": "uint256"}]});
    assert_eq!(error(&json!([one, other])), "two different functions have the selector 0xb3de648b");
    // Known to collide with `transfer(address,uint256)`.
    let transfer =
        json!({"type": "function", "name": "transfer", "inputs": [{"type": "address"}, {"type": "uint256"}]});
    let colliding = json!({"type": "function", "name": "many_msg_babbage", "inputs": [{"type": "bytes1"}]});
    assert_eq!(error(&json!([transfer, colliding])), "two different functions have the selector 0xa9059cbb");
}

#[test]
fn lines_for_people_are_bounded() {
    let abi = abi(&function(&json!([{"name": "a", "type": "uint8[300]"}])));
    let mut data = abi.functions.keys().next().unwrap().to_vec();
    data.resize(4 + 300 * 32, 0);
    let lines = abi.call(&data).unwrap().lines().unwrap();
    assert_eq!((lines.lines.len(), lines.left_out), (256, 44));
}

proptest! {
    #[test]
    fn damaged_calls_never_panic(row in 0_usize..18, index in 0_usize..700, byte in any::<u8>()) {
        let row = samples().into_iter().nth(row).unwrap();
        let mut data = const_hex::decode(&row.data).unwrap();
        let length = data.len();
        *data.get_mut(index % length).unwrap() = byte;
        let _ = abi(&row.abi).call(&data);
    }
}
