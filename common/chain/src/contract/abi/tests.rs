//! Calls as independent implementations write them, and what is refused.

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

fn flaw(json: &Json) -> String {
    Abi::parse(&json.to_string()).unwrap_err().to_string()
}

fn function(inputs: &Json) -> Json {
    json!([{"type": "function", "name": "f", "inputs": inputs}])
}

#[test]
fn calls_are_read_as_others_write_them() {
    for row in samples() {
        let data = const_hex::decode(&row.data).unwrap();
        let call = abi(&row.abi).call(&data).unwrap();
        assert_eq!((call.name.as_str(), const_hex::encode(call.selector)), (&*row.name, row.selector));
        assert_eq!(call.arguments(), Some(policy_map(&row.arguments)), "{}", row.case);
        let told = call.lines().unwrap();
        let lines = told.lines.into_iter().map(|line| (line.path, line.kind, line.text));
        assert_eq!(lines.collect::<Vec<_>>(), row.lines, "{}", row.case);
        assert_eq!(told.left_out, 0);
    }
}

#[test]
fn calls_of_other_lengths_have_a_name_and_no_arguments() {
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

/// Whether a call with these words after its first bytes has arguments.
fn is_read(inputs: &Json, words: &[&str]) -> bool {
    let abi = abi(&function(inputs));
    let mut data: Vec<u8> = abi.functions.keys().next().unwrap().to_vec();
    for word in words {
        data.extend(const_hex::decode(format!("{word:0>64}")).unwrap());
    }
    abi.call(&data).unwrap().arguments.is_some()
}

#[test]
fn values_beyond_their_types_are_not_told() {
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
        assert_eq!(is_read(&kind(given), &[word]), expected, "{given} {word}");
    }
}

#[test]
fn offsets_lead_to_the_next_part_only() {
    let bytes = json!([{"type": "bytes"}, {"type": "bytes"}]);
    let x = &("11".to_owned() + &"0".repeat(62));
    assert!(is_read(&bytes, &["40", "80", "1", x, "1", x]));
    assert!(!is_read(&bytes, &["40", "40", "1", x]), "one part for two");
    assert!(!is_read(&bytes, &["80", "40", "1", x, "1", x]), "in another order");
    assert!(!is_read(&bytes, &["60", "a0", "0", "1", x, "1", x]), "with a gap");
    assert!(!is_read(&bytes, &["40", "80", "1", &"1".repeat(64), "1", x]), "bytes behind the end");
    assert!(!is_read(&bytes, &[&"f".repeat(64), "80", "1", x, "1", x]));
    let text = json!([{"type": "string"}]);
    assert!(!is_read(&text, &["20", "1", &("ff".to_owned() + &"0".repeat(62))]), "no UTF-8");
    let lists = json!([{"type": "uint8[][]"}]);
    assert!(is_read(&lists, &["20", "2", "40", "60", "0", "0"]));
    assert!(!is_read(&lists, &["20", "2", "40", "40", "0"]));
    assert!(!is_read(&lists, &["20", "ffffffff"]));
}

#[test]
fn data_that_would_grow_is_not_read() {
    // Each of the empty lists would have room for 4000 numbers made for it.
    let inputs = json!([{"type": "uint256[4000][][]"}]);
    let offsets: Vec<String> = (0..100).map(|place| format!("{:x}", (100 + place) * 32)).collect();
    let mut words = vec!["20", "64"];
    words.extend(offsets.iter().map(String::as_str));
    words.extend(["0"; 100]);
    assert!(!is_read(&inputs, &words));
}

#[test]
fn what_is_no_abi_is_told() {
    let uint = json!([{"name": "a", "type": "uint256"}]);
    assert_eq!(flaw(&json!({"abi": []})), "an ABI is a list");
    for name in ["", "1", "a b", "\u{202e}a", "a-b", &"a".repeat(257)] {
        let named = json!([{"type": "event"}, {"type": "function", "name": name, "inputs": uint}]);
        assert_eq!(flaw(&named), "entry 2: its name is none that a function can have");
    }
    let inputs = |inputs: Json| flaw(&function(&inputs));
    assert_eq!(inputs(json!(null)), "entry 1: its inputs are not a list");
    assert_eq!(inputs(json!([{"name": "a"}])), "entry 1: a parameter has no type");
    assert_eq!(
        inputs(json!([{"type": "bool", "name": "a b"}])),
        "entry 1: a parameter has a name that none can have"
    );
    let twice = json!([{"type": "bool", "name": "a"}, {"type": "bool", "name": "a"}]);
    assert_eq!(inputs(twice), "entry 1: two of its parameters have one name");
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
        assert_eq!(
            inputs(json!([{"type": kind}])),
            "entry 1: a parameter has a type that no ABI has",
            "{kind}"
        );
    }
    assert_eq!(inputs(json!([{"type": "tuple[]", "components": []}])), "entry 1: a tuple has no parts");
    let deep = "entry 1: a parameter has a type that is nested too deep";
    assert_eq!(inputs(json!([{"type": format!("bool{}", "[]".repeat(8))}])), deep);
    let mut tuple = json!({"type": "bool"});
    for _ in 0..8 {
        tuple = json!({"type": "tuple", "components": [tuple]});
    }
    assert_eq!(inputs(json!([tuple])), deep);
    let many = "entry 1: it takes more values than a transaction has room for";
    assert_eq!(inputs(json!([{"type": "uint256[4096]"}])), many);
    assert_eq!(inputs(json!([{"type": "uint256[64][65][]"}])), many);
    assert_eq!(inputs(json!([{"type": "bool[99999999999999999][99999999999999999]"}])), many);
    let types = vec![json!({"type": "bool"}); 2048];
    let functions: Vec<_> =
        (0..5).map(|n| json!({"type": "function", "name": format!("f{n}"), "inputs": types})).collect();
    assert_eq!(flaw(&json!(functions)), "entry 5: the functions have too many types together");
}

#[test]
fn a_selector_belongs_to_one_function() {
    let one = json!({"type": "function", "name": "f", "inputs": [{"name": "a", "type": "uint"}]});
    let same =
        json!({"type": "function", "name": "f", "inputs": [{"name": "a", "type": "uint256"}], "outputs": []});
    assert_eq!(abi(&json!([one, same])).functions.len(), 1);
    let other = json!({"type": "function", "name": "f", "inputs": [{"name": "b", "type": "uint256"}]});
    assert_eq!(flaw(&json!([one, other])), "two functions have the selector 0xb3de648b");
    // Known to collide with `transfer(address,uint256)`.
    let transfer =
        json!({"type": "function", "name": "transfer", "inputs": [{"type": "address"}, {"type": "uint256"}]});
    let alike = json!({"type": "function", "name": "many_msg_babbage", "inputs": [{"type": "bytes1"}]});
    assert_eq!(flaw(&json!([transfer, alike])), "two functions have the selector 0xa9059cbb");
}

#[test]
fn what_is_told_to_people_is_bounded() {
    let abi = abi(&function(&json!([{"name": "a", "type": "uint8[300]"}])));
    let mut data = abi.functions.keys().next().unwrap().to_vec();
    data.resize(4 + 300 * 32, 0);
    let told = abi.call(&data).unwrap().lines().unwrap();
    assert_eq!((told.lines.len(), told.left_out), (256, 44));
}

proptest! {
    #[test]
    fn damaged_calls_are_answered(row in 0_usize..18, place in 0_usize..700, byte in any::<u8>()) {
        let row = samples().into_iter().nth(row).unwrap();
        let mut data = const_hex::decode(&row.data).unwrap();
        let length = data.len();
        *data.get_mut(place % length).unwrap() = byte;
        let _ = abi(&row.abi).call(&data);
    }
}
