//! Typed data from third parties: published digests, and invalid data with its error messages.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use proptest::prelude::*;
use quorate_policy::{ExpressionKind, Program, Value};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value as Json, json};

use super::TypedData;
use crate::vectors::rows;

#[derive(Deserialize)]
struct Row {
    case: String,
    payload: Box<RawValue>,
    digest: String,
}

#[test]
fn digests_match_published_ones() {
    for row in rows::<Row>(include_str!("../../../../assets/vectors/chain/typed_data.json")) {
        let data = TypedData::read(row.payload.get()).unwrap_or_else(|error| panic!("{}: {error}", row.case));
        assert_eq!(const_hex::encode(data.digest()), row.digest, "{}", row.case);
        assert_eq!(data.unsigned().count, 0, "{}", row.case);
    }
}

#[test]
fn digests_match_other_implementations() {
    for row in rows::<Row>(include_str!("../../../../assets/vectors/chain/typed_data_rules.json")) {
        let data = TypedData::read(row.payload.get()).unwrap_or_else(|error| panic!("{}: {error}", row.case));
        assert_eq!(const_hex::encode(data.digest()), row.digest, "{}", row.case);
    }
}

/// The example of EIP-712.
fn mail() -> Json {
    let person = json!([{"name": "name", "type": "string"}, {"name": "wallet", "type": "address"}]);
    let mail = json!([{"name": "from", "type": "Person"}, {"name": "to", "type": "Person"},
        {"name": "contents", "type": "string"}]);
    json!({
        "types": {"Person": person, "Mail": mail},
        "primaryType": "Mail",
        "domain": {"name": "Ether Mail", "version": "1", "chainId": 1,
            "verifyingContract": "0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC"},
        "message": {
            "from": {"name": "Cow", "wallet": "0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826"},
            "to": {"name": "Bob", "wallet": "0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB"},
            "contents": "Hello, Bob!"
        }
    })
}

fn read(json: &Json) -> Result<TypedData, String> {
    TypedData::read(&json.to_string()).map_err(|error| error.to_string())
}

#[test]
fn hashes_match_the_example_of_eip_712() {
    let data = read(&mail()).unwrap();
    let hexes = [Some(data.domain_separator()), data.message_hash(), Some(data.digest())];
    assert_eq!(
        hexes.map(|hash| const_hex::encode(hash.unwrap_or_default())),
        [
            "f2cee375fa42b42143804025fc449deafd50cc031ca257e0b194a650a912090f",
            "c52c0ee5d84264471806290a3f2c4cecfc5490626bf912d01f240d7a274b371e",
            "be609aee343fb3c4b28e1df9e632fca64fcfaede20f02e86244efddf30957bd2"
        ]
    );
}

/// Returns the example with another value at a pointer (RFC 6901). `None` removes the value.
fn with(pointer: &str, value: impl Into<Option<Json>>) -> Json {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let mut changed = mail();
    match (changed.pointer_mut(parent).unwrap(), value.into()) {
        (Json::Object(members), None) => drop(members.remove(name)),
        (Json::Object(members), Some(value)) => drop(members.insert(name.to_owned(), value)),
        (list, Some(value)) => *list.get_mut(name.parse::<usize>().unwrap()).unwrap() = value,
        (_, None) => panic!("elements of a list cannot be removed"),
    }
    changed
}

#[test]
fn errors_contain_the_path() {
    let member = |name: &str, type_: &str| json!({"name": name, "type": type_});
    for (pointer, value, message) in [
        ("/types", None, "`types` is missing"),
        ("/types", Some(json!([])), "`types` is not an object"),
        ("/primaryType", None, "`primaryType` is missing"),
        ("/primaryType", Some(json!(1)), "`primaryType` is not a string"),
        ("/primaryType", Some(json!("Male")), "`primaryType` is not a known type"),
        ("/primaryType", Some(json!("Mail[]")), "`primaryType` is not a known type"),
        ("/primaryType", Some(json!("string")), "`primaryType` is not a known type"),
        ("/domain", None, "`domain` is missing"),
        ("/domain", Some(json!(null)), "`domain` is not an object"),
        ("/domain/chainId", Some(json!(-1)), "`domain.chainId` is not an unsigned integer of 256 bits"),
        ("/domain/chainId", Some(json!(1.0)), "`domain.chainId` is not an unsigned integer of 256 bits"),
        (
            "/domain/salt",
            Some(json!("0x00")),
            "`domain.salt` is not 32 bytes of hexadecimal with the prefix 0x",
        ),
        ("/domain/verifyingContract", Some(json!("0x00")), "`domain.verifyingContract` is not an address"),
        ("/types/EIP712Domain", Some(json!([member("salt", "bytes32")])), "`domain.salt` is missing"),
        ("/message", None, "`message` is missing"),
        ("/message", Some(json!(null)), "`message` is not an object"),
        ("/message/contents", None, "`message.contents` is missing"),
        ("/message/contents", Some(json!(null)), "`message.contents` is not a string"),
        ("/message/from", Some(json!("Cow")), "`message.from` is not an object"),
        ("/message/to/wallet", Some(json!("bob.eth")), "`message.to.wallet` is not an address"),
        ("/types/Mail", Some(json!({})), "`types.Mail` is not a list of members"),
        ("/types/Mail/1", Some(json!("to")), "`types.Mail[1]` is not an object"),
        ("/types/Mail/1/name", None, "`types.Mail[1].name` is missing"),
        ("/types/Mail/1/type", Some(json!(7)), "`types.Mail[1].type` is not a string"),
        ("/types/Mail/1/name", Some(json!("from")), "`types.Mail[1].name` is a duplicate member name"),
        ("/types/Mail/1/name", Some(json!("a b")), "`types.Mail[1].name` is not a valid name"),
        ("/types/Mail/1/name", Some(json!("to,string a")), "`types.Mail[1].name` is not a valid name"),
        ("/types/Mail/1/type", Some(json!("Nobody")), "`types.Mail[1].type` is not a known type"),
        ("/types/Mail/1/type", Some(json!("Person[0]")), "`types.Mail[1].type` is not a known type"),
        ("/types/Person/1/type", Some(json!("uint")), "`types.Person[1].type` is not a known type"),
        ("/types/Mail/1/type", Some(json!("Person[]")), "`message.to` is not a list"),
        ("/types/bytes32", Some(json!([])), "`types.bytes32` has the name of a built-in type"),
        ("/types/a(", Some(json!([])), "`types` has an invalid type name"),
    ] {
        assert_eq!(read(&with(pointer, value)).unwrap_err(), message, "{pointer}");
    }
    // Unused types are not checked.
    assert!(read(&with("/types/Idle", json!([member("a", "Nobody")]))).is_ok());
}

/// Parses typed data with one member of this type.
fn of(type_: &str, value: &Json) -> Result<TypedData, String> {
    read(&json!({"types": {"M": [{"name": "a", "type": type_}]}, "primaryType": "M", "domain": {},
        "message": {"a": value}}))
}

#[test]
fn rejects_values_that_do_not_match_their_types() {
    for (type_, value, message) in [
        ("uint8", json!(256), "is not an unsigned integer of 8 bits"),
        ("int8", json!("-129"), "is not a signed integer of 8 bits"),
        ("bool", json!(1), "is not true or false"),
        ("bytes", json!("00"), "is not hexadecimal with the prefix 0x"),
        ("bytes4", json!("0x000000"), "is not 4 bytes of hexadecimal with the prefix 0x"),
        ("string", json!(7), "is not a string"),
        ("uint8[2]", json!([1]), "does not have 2 elements"),
        ("uint8[]", json!({}), "is not a list"),
    ] {
        assert_eq!(of(type_, &value).unwrap_err(), format!("`message.a` {message}"), "{type_}");
    }
    assert_eq!(of("bool[][]", &json!([[true], [1]])).unwrap_err(), "`message.a[1][0]` is not true or false");
    // All notations of a number have the same digest.
    let digest = |value: Json| of("uint64", &value).unwrap().digest();
    for other in [json!("255"), json!("0xff"), json!("0x00FF"), json!("0255")] {
        assert_eq!(digest(other), digest(json!(255)));
    }
}

#[test]
fn undeclared_members_are_neither_signed_nor_facts() {
    let mut data = mail();
    data["message"]["to"]["amount"] = json!("1000000");
    data["domain"]["spender"] = json!("x");
    data["note"] = json!({"a": 1});
    let read = read(&data).unwrap();
    assert_eq!(read.digest(), super::TypedData::read(&mail().to_string()).unwrap().digest());
    assert_eq!(read.facts(), super::TypedData::read(&mail().to_string()).unwrap().facts());
    assert_eq!(read.unsigned().paths, ["domain.spender", "message.to.amount", "note"]);
    // The same applies to the domain: members that its type omits are not signed.
    let read = self::read(&with("/types/EIP712Domain", json!([{"name": "name", "type": "string"}]))).unwrap();
    assert_eq!(read.unsigned().paths, ["domain.chainId", "domain.verifyingContract", "domain.version"]);
    assert_eq!(read.domain().len(), 1);
    // Many unsigned members are counted, and long names are truncated.
    let many: serde_json::Map<String, Json> =
        (0..1000).map(|number| (format!("{}{number}", "\u{e9}".repeat(200)), json!(0))).collect();
    let read = self::read(&with("/domain/extra", Json::Object(many.clone()))).unwrap();
    assert_eq!(read.unsigned().count, 1);
    let mut data = mail();
    data["message"]["to"].as_object_mut().unwrap().extend(many);
    let read = self::read(&data).unwrap();
    assert_eq!((read.unsigned().count, read.unsigned().paths.len()), (1000, 32));
    assert!(read.unsigned().paths.iter().all(|path| path.len() < 200));
}

#[test]
fn domain_alone_can_be_signed() {
    let mut data = with("/primaryType", json!("EIP712Domain"));
    data["message"] = json!({"contents": "x"});
    let read = read(&data).unwrap();
    assert_eq!((read.message(), read.message_hash()), (None, None));
    assert_eq!(read.unsigned().paths, ["message.contents"]);
    data.as_object_mut().unwrap().remove("message");
    assert_eq!(self::read(&data).unwrap().digest(), read.digest());
}

#[test]
fn limits_are_enforced() {
    let many = |number: usize, name: &str| {
        let member = |number: usize| json!({"name": format!("{name}{number}"), "type": "bool"});
        (0..number).map(member).collect::<Json>()
    };
    let types = |number: usize| {
        let types = (0..number).map(|number| (format!("T{number}"), many(2, "a")));
        json!({"types": types.collect::<serde_json::Map<_, _>>(), "primaryType": "T0", "domain": {},
            "message": {"a0": true, "a1": true}})
    };
    assert!(read(&types(128)).is_ok());
    assert_eq!(read(&types(129)).unwrap_err(), "`types` has more than 128 types");
    let wide = read(&with("/types/Idle", many(257, "a"))).unwrap_err();
    assert_eq!(wide, "`types.Idle` has more than 256 members");
    let long = "a".repeat(128);
    assert_eq!(read(&with(&format!("/types/{long}"), json!([]))).unwrap().unsigned().count, 0);
    let longer = read(&with(&format!("/types/{long}a"), json!([]))).unwrap_err();
    assert_eq!(longer, "`types` has an invalid type name");
    let mut wordy = mail();
    for number in 0..3 {
        wordy["types"][format!("W{number}")] = many(250, &"a".repeat(100));
    }
    assert_eq!(read(&wordy).unwrap_err(), "`types` has more than 65536 bytes of names and types");
    let deep = |depth: usize| (0..depth).fold(json!(null), |inner, _| json!({"next": inner}));
    let list = |depth: usize| {
        read(&json!({"types": {"L": [{"name": "next", "type": "L"}]}, "primaryType": "L", "domain": {},
            "message": deep(depth)}))
    };
    assert!(list(31).is_ok());
    assert_eq!(list(32).unwrap_err(), "it nests deeper than 32 levels");
    let dimensions = |number: usize| of(&format!("bool{}", "[]".repeat(number)), &json!([]));
    assert!(dimensions(32).is_ok());
    assert_eq!(dimensions(33).unwrap_err(), "`types.M[0].type` is not a known type");
}

/// A wide struct is a member of eight others, which all are members of one.
#[test]
fn type_hashing_is_bounded() {
    let member = |name: &str, of: &str| json!({"name": name, "type": of});
    let wide = || (0..203).map(|number| format!("{number:a>123}"));
    let payload = |padding: usize| {
        let padded = "p".repeat(padding);
        let mut types = json!({"W": wide().map(|name| member(&name, "bool")).collect::<Json>()});
        let (mut holder, mut message) = (Vec::new(), json!({}));
        for number in 0..8 {
            let (field, middle) = (format!("t{number}"), format!("T{number}"));
            types[&middle] = json!([member("w", "W")]);
            holder.push(member(&field, &middle));
            message[&field] = json!({"w": null});
        }
        holder.push(member(&padded, "bool"));
        message[&padded] = json!(true);
        types["M"] = json!(holder);
        json!({"types": types, "primaryType": "M", "domain": {}, "message": message})
    };
    // `W(...)` has 26,189 bytes and is hashed ten times. Each `T0(W w)` has 7 bytes and is hashed twice.
    // `M(...)` has 56 bytes and its padding, and `EIP712Domain()` has 14.
    assert_eq!(10 * 26_189 + 8 * 2 * 7 + 56 + 72 + 14, 256 * 1024);
    assert!(read(&payload(72)).is_ok());
    let message = "`types` has structs that take more than 262144 bytes to hash";
    assert_eq!(read(&payload(73)).unwrap_err(), message);
    // Unused types are not hashed.
    let mut idle = payload(73);
    idle["primaryType"] = json!("W");
    idle["message"] = Json::Object(wide().map(|name| (name, json!(true))).collect());
    assert!(read(&idle).is_ok());
}

#[test]
fn policies_query_declared_members() {
    let token = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48";
    let details = json!([{"name": "token", "type": "address"}, {"name": "amount", "type": "uint160"},
        {"name": "least", "type": "int256"}, {"name": "next", "type": "Details"}]);
    let permit = json!([{"name": "permitted", "type": "Details[]"}, {"name": "salt", "type": "bytes2"},
        {"name": "memo", "type": "string"}, {"name": "active", "type": "bool"}]);
    let detail =
        |amount: &str, least: &str| json!({"token": token, "amount": amount, "least": least, "next": null});
    let beyond = "-170141183460469231731687303715884105729";
    let data = read(&json!({
        "types": {"Details": details, "Permit": permit},
        "primaryType": "Permit",
        "domain": {"name": "Permit2", "chainId": "0x1", "verifyingContract": token},
        "message": {"permitted": [detail("1000", "-1"), detail("0xff", beyond)], "salt": "0xABcd",
            "memo": "Rent", "active": "true"}
    }));
    let facts = Value::record([("eth", Value::record([("eip_712", data.unwrap().facts())]))]);
    for (condition, expected) in [
        ("primary_type == 'Permit' && eth.eip_712.domain.name == 'Permit2'", Some(true)),
        ("domain.chain_id == 1", Some(true)),
        ("domain.verifying_contract == '0xa0B86991c6218b36c1d19d4a2e9eb0ce3606eb48'", Some(true)),
        ("domain.version == '1'", None),
        (
            "message['permitted'].all(p, p['token'] == '0xA0B86991C6218B36C1D19D4A2E9EB0CE3606EB48')",
            Some(true),
        ),
        ("message['permitted'].count() == 2", Some(true)),
        ("message['permitted'].all(p, p['amount'] <= 1000)", Some(true)),
        ("message['permitted'][1]['amount'] == 255", Some(true)),
        ("message['permitted'][0]['least'] < 0", Some(true)),
        // Outside of the integer range of the language, and absent.
        ("message['permitted'][1]['least'] < 0", None),
        ("message['permitted'][0]['next']['amount'] < 0", None),
        ("message['salt'] == '0xABCD'", Some(true)),
        ("message['memo'] == 'rent'", Some(false)),
        ("message['active']", Some(true)),
    ] {
        let program = Program::parse(ExpressionKind::Condition, &format!("eth.eip_712.{condition}")).unwrap();
        assert_eq!(program.evaluate(&facts).ok(), expected, "{condition}");
    }
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(text in any::<String>(), index in 0_usize..1000, more in "[\\[\\]{}\":,0a-]{0,4}") {
        let _ = TypedData::read(&text);
        let mut damaged = mail().to_string();
        if damaged.is_char_boundary(index) {
            damaged.insert_str(index, &more);
        }
        let _ = TypedData::read(&damaged);
    }
}
