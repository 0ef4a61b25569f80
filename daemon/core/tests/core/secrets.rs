//! Secrets: how they come in and go out, what is told of them, and what policies make of their properties.

use quorate_common::bundle::{Sealed, TargetKey};
use quorate_common::fault::Fault;
use quorate_core::limits::{IMPORT_TARGET_LIFE_MILLIS, SECRET_BYTES, SECRET_TARGETS};
use serde_json::{Value, json};

use crate::changes::asked;
use crate::house::{House, NOW, Person, seal_for};
use crate::samples::SUITE;

const IMPORT: &str = "ACTIVITY_TYPE_IMPORT_SECRETS";
const EXPORT: &str = "ACTIVITY_TYPE_EXPORT_SECRETS";
const DELETE: &str = "ACTIVITY_TYPE_DELETE_SECRETS";

/// Secrets that the first root user can import, each as parameters without a name.
pub(crate) fn sealed(house: &mut House, values: &[&[u8]]) -> Vec<Value> {
    let number = json!({"encryptionSuite": SUITE, "numSecrets": values.len()});
    let made = house.agreed("ACTIVITY_TYPE_INIT_IMPORT_SECRETS", &number);
    let messages = made["result"]["initImportSecretsResult"]["enclaveTargetMessages"].clone();
    let messages = messages.as_array().expect("a list");
    assert_eq!(messages.len(), values.len());
    for message in messages {
        let message: Value = serde_json::from_str(message.as_str().expect("a text")).expect("JSON");
        let data = const_hex::decode(message["data"].as_str().expect("a text")).expect("hex");
        let data: Value = serde_json::from_slice(&data).expect("JSON");
        assert_eq!((&data["organizationId"], &data["userId"]), (&json!(house.id), &json!("")));
    }
    let one = |(message, value): (&Value, &&[u8])| {
        let (target, payload) = seal_for(message, value);
        json!({"secretPayload": payload, "targetPublicKey": target, "encryptionSuite": SUITE})
    };
    messages.iter().zip(values).map(one).collect()
}

/// Imports one secret; gives its id.
pub(crate) fn imported(
    house: &mut House,
    mut secret: Value,
    name: &str,
    properties: &[(&str, &str)],
) -> String {
    let properties = properties.iter().map(|(key, value)| json!({"key": key, "value": value}));
    (secret["name"], secret["staticProperties"]) = (json!(name), properties.collect());
    let done = house.agreed(IMPORT, &json!({"secrets": [secret]}));
    done["result"]["importSecretsResult"]["secretIds"][0].as_str().expect("an id").to_owned()
}

/// A new secret of this value.
fn kept(house: &mut House, value: &[u8], name: &str, properties: &[(&str, &str)]) -> String {
    let secret = sealed(house, &[value]).remove(0);
    imported(house, secret, name, properties)
}

fn target() -> TargetKey {
    TargetKey::from_bytes(&[3; 32]).expect("a scalar")
}

fn export(ids: &[&str]) -> Value {
    let one = |id: &&str| json!({"secretId": id, "targetPublicKey": target().public().hex(), "encryptionSuite": SUITE});
    json!({"secrets": ids.iter().map(one).collect::<Vec<_>>()})
}

/// What an export gives to whoever holds the key.
fn opened(activity: &Value) -> Vec<Vec<u8>> {
    let payloads = activity["result"]["exportSecretsResult"]["secretPayloads"].as_array().expect("a list");
    let one = |payload: &Value| {
        let message: Value = serde_json::from_str(payload.as_str().expect("a text")).expect("JSON");
        let data = const_hex::decode(message["data"].as_str().expect("a text")).expect("hex");
        let sealed = Sealed::parse(std::str::from_utf8(&data).expect("UTF-8")).expect("a bundle");
        target().open(&sealed).expect("it opens").to_vec()
    };
    payloads.iter().map(one).collect()
}

fn asks(house: &mut House, person: &Person, activity_type: &str, parameters: &Value) -> Result<Value, Fault> {
    house.submit(person, house.id, activity_type, parameters, NOW).map(|answer| answer["activity"].clone())
}

#[test]
fn secrets_come_in_and_go_out_in_the_order_given() {
    let mut house = House::found(1);
    let long = vec![0xa5; SECRET_BYTES];
    let [mut one, mut two, three] = sealed(&mut house, &[b"one", &long, b"\0"]).try_into().expect("three");
    (one["name"], two["name"]) = (json!("one"), json!("two"));
    two["staticProperties"] = json!([{"key": "b", "value": "2"}, {"key": "a", "value": ""}]);
    let done = house.agreed(IMPORT, &json!({"secrets": [one, two, three]}));
    let ids: Vec<String> =
        serde_json::from_value(done["result"]["importSecretsResult"]["secretIds"].clone()).expect("ids");
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let done = house.agreed(EXPORT, &export(&[ids[2], ids[0], ids[1], ids[0]]));
    assert_eq!(opened(&done), [b"\0".to_vec(), b"one".to_vec(), long, b"one".to_vec()]);

    let listed = asked(&house, "list_secrets", &json!({}))["secrets"].clone();
    let of = |id: &str| listed.as_array().expect("a list").iter().find(|one| one["secretId"] == id).cloned();
    let expected = json!({"secretId": ids[1], "name": "two", "createdAtUnixMs": NOW.to_string(),
        "staticProperties": [{"key": "b", "value": "2"}, {"key": "a", "value": ""}]});
    assert_eq!(of(ids[1]), Some(expected));
    let nameless = json!({"secretId": ids[2], "createdAtUnixMs": NOW.to_string(), "staticProperties": []});
    assert_eq!(of(ids[2]), Some(nameless));

    let values = house.memory.rows(b's').count();
    house.agreed(DELETE, &json!({"secretIds": [ids[1], ids[0]]}));
    assert_eq!(house.memory.rows(b's').count(), values - 2, "the values are gone with them");
    let root = house.roots[0].clone();
    let gone = asks(&mut house, &root, EXPORT, &export(&[ids[2], ids[0]])).expect_err("it is gone");
    assert_eq!(gone.message, format!("no secret found with ID {}", ids[0]));
    assert_eq!(opened(&house.agreed(EXPORT, &export(&[ids[2]]))), [b"\0"]);
}

#[test]
fn import_is_all_or_nothing_and_each_key_is_for_one_secret() {
    let mut house = House::found(1);
    let root = house.roots[0].clone();
    let [one, two] = sealed(&mut house, &[b"one", b"two"]).try_into().expect("two");
    let before = house.memory.everything();
    let closed = "invalid encrypted bundle: it opens with none of the import keys of this user";
    let mut swapped = two.clone();
    swapped["targetPublicKey"] = one["targetPublicKey"].clone();
    // Two to one key, one to the key that another is encrypted to, and two of one name.
    for wrong in [[one.clone(), one.clone()], [two.clone(), swapped]] {
        let fault = asks(&mut house, &root, IMPORT, &json!({"secrets": wrong})).expect_err("it is refused");
        assert!(fault.message.starts_with(closed), "{}", fault.message);
    }
    for (value, told) in [(Vec::new(), "empty"), (vec![1; SECRET_BYTES + 1], "too long")] {
        let mut house = house.clone();
        let wrong = sealed(&mut house, &[&value]);
        let fault = asks(&mut house, &root, IMPORT, &json!({"secrets": wrong})).expect_err(told);
        assert_eq!(fault.message, "invalid secret: expected 1 to 65536 bytes", "{told}");
    }
    assert!(house.memory.everything() == before, "a wrong request left something behind");
    // The keys are those of whoever asked for them, for a day.
    let late =
        house.submit(&root, house.id, IMPORT, &json!({"secrets": [one]}), NOW + IMPORT_TARGET_LIFE_MILLIS);
    assert!(late.expect_err("too late").message.starts_with(closed));
    let other = house.roots[1].clone();
    let fault = asks(&mut house, &other, IMPORT, &json!({"secrets": [one]})).expect_err("not theirs");
    assert!(fault.message.starts_with(closed), "{}", fault.message);
    asks(&mut house, &root, IMPORT, &json!({"secrets": [one, two]})).expect("both are taken");
    let fault = asks(&mut house, &root, IMPORT, &json!({"secrets": [two]})).expect_err("it is used up");
    assert!(fault.message.starts_with(closed), "{}", fault.message);
}

#[test]
fn the_oldest_import_keys_make_room() {
    let mut house = House::found(1);
    let value: &[u8] = b"value";
    let first = sealed(&mut house, &[value]).remove(0);
    let all = sealed(&mut house, &[value; SECRET_TARGETS]);
    assert_eq!(house.memory.rows(b'r').filter(|(key, _)| key[33] == 3).count(), SECRET_TARGETS);
    let root = house.roots[0].clone();
    asks(&mut house, &root, IMPORT, &json!({"secrets": [first]})).expect_err("it made room");
    asks(&mut house, &root, IMPORT, &json!({"secrets": all})).expect("as many as one request may carry");
    assert_eq!(house.memory.rows(b'r').filter(|(key, _)| key[33] == 3).count(), 0);
    house.memory.limits.secrets = SECRET_TARGETS + 1;
    let more = sealed(&mut house, &[value]);
    let fault = asks(&mut house, &root, IMPORT, &json!({"secrets": more})).expect_err("there is no room");
    assert!(fault.message.contains("secrets"), "{}", fault.message);
}

#[test]
fn secrets_are_listed_newest_first_page_by_page() {
    let mut house = House::found(1);
    let root = house.roots[0].clone();
    let mut ids = vec![house.secret.clone()];
    for (number, secret) in (1_u64..).zip(sealed(&mut house, &[b"value".as_slice(); 4])) {
        let secret = json!({"secrets": [secret]});
        let made = house.submit(&root, house.id, IMPORT, &secret, NOW + number).expect("it is imported");
        let id = made["activity"]["result"]["importSecretsResult"]["secretIds"][0].as_str();
        ids.insert(0, id.expect("an id").to_owned());
    }
    let page = |options: Value| -> Vec<String> {
        let listed = asked(&house, "list_secrets", &json!({"paginationOptions": options}));
        let listed = listed["secrets"].as_array().expect("a list").clone();
        listed.iter().map(|one| one["secretId"].as_str().expect("an id").to_owned()).collect()
    };
    assert_eq!(page(json!({})), ids);
    assert_eq!(page(json!({"limit": "2"})), ids[..2]);
    assert_eq!(page(json!({"limit": "2", "after": ids[1]})), ids[2..4]);
    assert_eq!(page(json!({"limit": "2", "after": ids[3]})), ids[4..]);
    assert_eq!(page(json!({"limit": "2", "before": ids[3]})), ids[1..3]);
    assert_eq!(page(json!({"limit": "2", "before": ids[1]})), ids[..1]);
    let body = json!({"organizationId": house.id, "paginationOptions": {"after": house.policy}}).to_string();
    let fault = house.memory.query("list_secrets", &root.stamps(body.as_bytes()), body.as_bytes(), NOW);
    assert_eq!(
        fault.expect_err("no secret").message,
        "invalid request body: the cursor names nothing in this list"
    );
}

/// Allows or denies the ordinary user what this condition says.
fn policy(house: &mut House, effect: &str, condition: &str) {
    let consensus = format!("approvers.any(user, user.id == '{}')", house.user.user);
    let mut policy = json!({"policyName": condition, "effect": effect, "condition": condition, "notes": ""});
    if effect == "EFFECT_ALLOW" {
        policy["consensus"] = json!(consensus);
    }
    house.agreed("ACTIVITY_TYPE_CREATE_POLICY_V3", &policy);
}

#[test]
fn each_secret_is_judged_by_its_own_properties() {
    let mut house = House::found(1);
    let test = kept(&mut house, b"test", "test", &[("env", "test"), ("owner", "ops")]);
    let [prod, bare] = [house.secret.clone(), kept(&mut house, b"bare", "bare", &[])];
    policy(
        &mut house,
        "EFFECT_ALLOW",
        "activity.kind == 'EXPORT_SECRETS' && secret.static_properties['env'] == 'test'",
    );
    let user = house.user.clone();
    let mut may = |ids: &[&str]| asks(&mut house, &user, EXPORT, &export(ids)).is_ok();
    assert!(may(&[&test]) && may(&[&test, &test]));
    for ids in [&[prod.as_str()][..], &[&bare], &[&test, &prod], &[&prod, &test], &[&bare, &test]] {
        assert!(!may(ids), "a batch is never weaker than its members");
    }
    policy(&mut house, "EFFECT_DENY", "secret.static_properties['owner'] == 'ops'");
    asks(&mut house, &user, EXPORT, &export(&[&test])).expect_err("it is denied");
    for (activity_type, parameters) in [
        (DELETE, json!({"secretIds": [test]})),
        ("ACTIVITY_TYPE_INIT_IMPORT_SECRETS", json!({"encryptionSuite": SUITE, "numSecrets": 1})),
    ] {
        asks(&mut house, &user, activity_type, &parameters)
            .expect_err("a policy about exports is about no more");
    }
    policy(&mut house, "EFFECT_ALLOW", "activity.resource == 'SECRET' && activity.action == 'DELETE'");
    asks(&mut house, &user, DELETE, &json!({"secretIds": [test]})).expect("it is allowed");
}

#[test]
fn an_organization_goes_with_its_secrets() {
    let mut house = House::found(1);
    let child = house.child.clone();
    let made = house.submit(
        &child,
        child.home,
        "ACTIVITY_TYPE_INIT_IMPORT_SECRETS",
        &json!({"encryptionSuite": SUITE, "numSecrets": 1}),
        NOW,
    );
    let made = made.expect("keys are made")["activity"]["result"]["initImportSecretsResult"].clone();
    let (target, payload) = seal_for(&made["enclaveTargetMessages"][0], b"value");
    let secret = json!({"secretPayload": payload, "targetPublicKey": target, "encryptionSuite": SUITE});
    house.submit(&child, child.home, IMPORT, &json!({"secrets": [secret]}), NOW).expect("it is imported");
    let of_child = |house: &House| {
        let rows = house.memory.rows(b's').chain(house.memory.rows(b'e'));
        rows.filter(|(key, _)| key[1..17] == *child.home.as_bytes() && key[17] == b'v').count()
    };
    assert_eq!(of_child(&house), 2);
    let gone = json!({"deleteWithoutExport": true});
    let done = house.submit(&child, child.home, "ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION", &gone, NOW);
    done.expect("it is deleted");
    assert_eq!(of_child(&house), 0);
}
