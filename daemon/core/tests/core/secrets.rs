//! Secrets: import, export and listing, and policies about their properties.

use quorate_common::api_error::ApiError;
use quorate_common::bundle::{Sealed, TargetKey};
use quorate_core::cleanup;
use quorate_core::limits::{IMPORT_TARGET_LIFE_MILLIS, SECRET_BYTES, SECRET_TARGETS};
use serde_json::{Value, json};

use crate::changes::query_as_root;
use crate::fixture::{Fixture, NOW, Person, seal_for};
use crate::samples::SUITE;

const IMPORT: &str = "ACTIVITY_TYPE_IMPORT_SECRETS";
const EXPORT: &str = "ACTIVITY_TYPE_EXPORT_SECRETS";
const DELETE: &str = "ACTIVITY_TYPE_DELETE_SECRETS";

/// Encrypts secrets for import by the first root user; returns their parameters without names.
pub(crate) fn sealed(fixture: &mut Fixture, values: &[&[u8]]) -> Vec<Value> {
    let number = json!({"encryptionSuite": SUITE, "numSecrets": values.len()});
    let created = fixture.execute("ACTIVITY_TYPE_INIT_IMPORT_SECRETS", &number);
    let messages = created["result"]["initImportSecretsResult"]["enclaveTargetMessages"].clone();
    let messages = messages.as_array().expect("a list");
    assert_eq!(messages.len(), values.len());
    for message in messages {
        let message: Value = serde_json::from_str(message.as_str().expect("a text")).expect("JSON");
        let data = const_hex::decode(message["data"].as_str().expect("a text")).expect("hex");
        let data: Value = serde_json::from_slice(&data).expect("JSON");
        assert_eq!((&data["organizationId"], &data["userId"]), (&json!(fixture.id), &json!("")));
    }
    let one = |(message, value): (&Value, &&[u8])| {
        let (target, payload) = seal_for(message, value);
        json!({"secretPayload": payload, "targetPublicKey": target, "encryptionSuite": SUITE})
    };
    messages.iter().zip(values).map(one).collect()
}

/// Imports one secret and returns its id.
pub(crate) fn imported(
    fixture: &mut Fixture,
    mut secret: Value,
    name: &str,
    properties: &[(&str, &str)],
) -> String {
    let properties = properties.iter().map(|(key, value)| json!({"key": key, "value": value}));
    (secret["name"], secret["staticProperties"]) = (json!(name), properties.collect());
    let done = fixture.execute(IMPORT, &json!({"secrets": [secret]}));
    done["result"]["importSecretsResult"]["secretIds"][0].as_str().expect("an id").to_owned()
}

/// Creates a secret with this value and returns its id.
fn create_secret(fixture: &mut Fixture, value: &[u8], name: &str, properties: &[(&str, &str)]) -> String {
    let secret = sealed(fixture, &[value]).remove(0);
    imported(fixture, secret, name, properties)
}

fn target() -> TargetKey {
    TargetKey::from_bytes(&[3; 32]).expect("a scalar")
}

fn export(ids: &[&str]) -> Value {
    let one = |id: &&str| json!({"secretId": id, "targetPublicKey": target().public().hex(), "encryptionSuite": SUITE});
    json!({"secrets": ids.iter().map(one).collect::<Vec<_>>()})
}

/// Decrypts exported secrets with the target key.
fn decrypt(activity: &Value) -> Vec<Vec<u8>> {
    let payloads = activity["result"]["exportSecretsResult"]["secretPayloads"].as_array().expect("a list");
    let one = |payload: &Value| {
        let message: Value = serde_json::from_str(payload.as_str().expect("a text")).expect("JSON");
        let data = const_hex::decode(message["data"].as_str().expect("a text")).expect("hex");
        let sealed = Sealed::parse(std::str::from_utf8(&data).expect("UTF-8")).expect("a bundle");
        target().open(&sealed).expect("decryption succeeds").to_vec()
    };
    payloads.iter().map(one).collect()
}

fn submit_as(
    fixture: &mut Fixture,
    person: &Person,
    activity_type: &str,
    parameters: &Value,
) -> Result<Value, ApiError> {
    fixture
        .submit(person, fixture.id, activity_type, parameters, NOW)
        .map(|answer| answer["activity"].clone())
}

#[test]
fn secrets_are_imported_and_exported_in_the_given_order() {
    let mut fixture = Fixture::new(1);
    let long = vec![0xa5; SECRET_BYTES];
    let [mut one, mut two, three] = sealed(&mut fixture, &[b"one", &long, b"\0"]).try_into().expect("three");
    (one["name"], two["name"]) = (json!("one"), json!("two"));
    two["staticProperties"] = json!([{"key": "b", "value": "2"}, {"key": "a", "value": ""}]);
    let done = fixture.execute(IMPORT, &json!({"secrets": [one, two, three]}));
    let ids: Vec<String> =
        serde_json::from_value(done["result"]["importSecretsResult"]["secretIds"].clone()).expect("ids");
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let done = fixture.execute(EXPORT, &export(&[ids[2], ids[0], ids[1], ids[0]]));
    assert_eq!(decrypt(&done), [b"\0".to_vec(), b"one".to_vec(), long, b"one".to_vec()]);

    let listed = query_as_root(&fixture, "list_secrets", &json!({}))["secrets"].clone();
    let of = |id: &str| listed.as_array().expect("a list").iter().find(|one| one["secretId"] == id).cloned();
    let expected = json!({"secretId": ids[1], "name": "two", "createdAtUnixMs": NOW.to_string(),
        "staticProperties": [{"key": "b", "value": "2"}, {"key": "a", "value": ""}]});
    assert_eq!(of(ids[1]), Some(expected));
    let without_name =
        json!({"secretId": ids[2], "createdAtUnixMs": NOW.to_string(), "staticProperties": []});
    assert_eq!(of(ids[2]), Some(without_name));

    let values = fixture.memory.rows(b's').count();
    fixture.execute(DELETE, &json!({"secretIds": [ids[1], ids[0]]}));
    assert_eq!(fixture.memory.rows(b's').count(), values - 2, "the values are gone with them");
    let root = fixture.roots[0].clone();
    let error = submit_as(&mut fixture, &root, EXPORT, &export(&[ids[2], ids[0]]))
        .expect_err("the record is deleted");
    assert_eq!(error.message, format!("no secret found with ID {}", ids[0]));
    assert_eq!(decrypt(&fixture.execute(EXPORT, &export(&[ids[2]]))), [b"\0"]);
}

#[test]
fn imports_are_atomic_and_each_key_imports_one_secret() {
    let mut fixture = Fixture::new(1);
    let root = fixture.roots[0].clone();
    let [one, two] = sealed(&mut fixture, &[b"one", b"two"]).try_into().expect("two");
    let before = fixture.memory.all_rows();
    let not_decryptable = "invalid encrypted bundle: no import key of this user decrypts it";
    let mut swapped = two.clone();
    swapped["targetPublicKey"] = one["targetPublicKey"].clone();
    // Two secrets for one key, and a secret with the import key of another.
    for invalid in [[one.clone(), one.clone()], [two.clone(), swapped]] {
        let error = submit_as(&mut fixture, &root, IMPORT, &json!({"secrets": invalid}))
            .expect_err("the request is invalid");
        assert!(error.message.starts_with(not_decryptable), "{}", error.message);
    }
    for (value, defect) in [(Vec::new(), "empty"), (vec![1; SECRET_BYTES + 1], "too long")] {
        let mut fixture = fixture.clone();
        let invalid = sealed(&mut fixture, &[&value]);
        let error = submit_as(&mut fixture, &root, IMPORT, &json!({"secrets": invalid})).expect_err(defect);
        assert_eq!(error.message, "invalid secret: expected 1 to 65536 bytes", "{defect}");
    }
    assert!(fixture.memory.all_rows() == before, "an invalid request changed the store");
    // Import keys belong to the user who requested them, for a day.
    let late = fixture.submit(
        &root,
        fixture.id,
        IMPORT,
        &json!({"secrets": [one]}),
        NOW + IMPORT_TARGET_LIFE_MILLIS,
    );
    assert!(late.expect_err("it is too late").message.starts_with(not_decryptable));
    let other = fixture.roots[1].clone();
    let error = submit_as(&mut fixture, &other, IMPORT, &json!({"secrets": [one]}))
        .expect_err("the import key belongs to another user");
    assert!(error.message.starts_with(not_decryptable), "{}", error.message);
    submit_as(&mut fixture, &root, IMPORT, &json!({"secrets": [one, two]})).expect("both are imported");
    let error = submit_as(&mut fixture, &root, IMPORT, &json!({"secrets": [two]}))
        .expect_err("the import key was used");
    assert!(error.message.starts_with(not_decryptable), "{}", error.message);
}

#[test]
fn oldest_import_keys_are_replaced() {
    let mut fixture = Fixture::new(1);
    let value: &[u8] = b"value";
    let first = sealed(&mut fixture, &[value]).remove(0);
    let all = sealed(&mut fixture, &[value; SECRET_TARGETS]);
    assert_eq!(fixture.memory.rows(b'r').filter(|(key, _)| key[33] == 3).count(), SECRET_TARGETS);
    let root = fixture.roots[0].clone();
    submit_as(&mut fixture, &root, IMPORT, &json!({"secrets": [first]}))
        .expect_err("the import key was replaced");
    submit_as(&mut fixture, &root, IMPORT, &json!({"secrets": all})).expect("the maximum number is imported");
    assert_eq!(fixture.memory.rows(b'r').filter(|(key, _)| key[33] == 3).count(), 0);
    fixture.memory.limits.records.secrets = SECRET_TARGETS + 1;
    let more = sealed(&mut fixture, &[value]);
    let error =
        submit_as(&mut fixture, &root, IMPORT, &json!({"secrets": more})).expect_err("the limit is reached");
    assert!(error.message.contains("secrets"), "{}", error.message);
}

#[test]
fn secrets_are_paged_newest_first() {
    let mut fixture = Fixture::new(1);
    let root = fixture.roots[0].clone();
    let mut ids = vec![fixture.secret.clone()];
    for (number, secret) in (1_u64..).zip(sealed(&mut fixture, &[b"value".as_slice(); 4])) {
        let secret = json!({"secrets": [secret]});
        let created =
            fixture.submit(&root, fixture.id, IMPORT, &secret, NOW + number).expect("the import succeeds");
        let id = created["activity"]["result"]["importSecretsResult"]["secretIds"][0].as_str();
        ids.insert(0, id.expect("an id").to_owned());
    }
    let page = |options: Value| -> Vec<String> {
        let listed = query_as_root(&fixture, "list_secrets", &json!({"paginationOptions": options}));
        let listed = listed["secrets"].as_array().expect("a list").clone();
        listed.iter().map(|one| one["secretId"].as_str().expect("an id").to_owned()).collect()
    };
    assert_eq!(page(json!({})), ids);
    assert_eq!(page(json!({"limit": "2"})), ids[..2]);
    assert_eq!(page(json!({"limit": "2", "after": ids[1]})), ids[2..4]);
    assert_eq!(page(json!({"limit": "2", "after": ids[3]})), ids[4..]);
    assert_eq!(page(json!({"limit": "2", "before": ids[3]})), ids[1..3]);
    assert_eq!(page(json!({"limit": "2", "before": ids[1]})), ids[..1]);
    let body =
        json!({"organizationId": fixture.id, "paginationOptions": {"after": fixture.policy}}).to_string();
    let error = fixture.memory.query("list_secrets", &root.stamps(body.as_bytes()), body.as_bytes(), NOW);
    assert_eq!(
        error.expect_err("the cursor is not a secret").message,
        "invalid request body: the cursor does not refer to an item of this list"
    );
}

/// Creates a policy that allows or denies the ordinary user what meets this condition.
fn policy(fixture: &mut Fixture, effect: &str, condition: &str) {
    let consensus = format!("approvers.any(user, user.id == '{}')", fixture.user.user);
    let mut policy = json!({"policyName": condition, "effect": effect, "condition": condition, "notes": ""});
    if effect == "EFFECT_ALLOW" {
        policy["consensus"] = json!(consensus);
    }
    fixture.execute("ACTIVITY_TYPE_CREATE_POLICY_V3", &policy);
}

#[test]
fn each_secret_is_evaluated_by_its_own_properties() {
    let mut fixture = Fixture::new(1);
    let test = create_secret(&mut fixture, b"test", "test", &[("env", "test"), ("owner", "ops")]);
    let [prod, bare] = [fixture.secret.clone(), create_secret(&mut fixture, b"bare", "bare", &[])];
    policy(
        &mut fixture,
        "EFFECT_ALLOW",
        "activity.kind == 'EXPORT_SECRETS' && secret.static_properties['env'] == 'test'",
    );
    let user = fixture.user.clone();
    let mut is_allowed = |ids: &[&str]| submit_as(&mut fixture, &user, EXPORT, &export(ids)).is_ok();
    assert!(is_allowed(&[&test]) && is_allowed(&[&test, &test]));
    for ids in [&[prod.as_str()][..], &[&bare], &[&test, &prod], &[&prod, &test], &[&bare, &test]] {
        assert!(!is_allowed(ids), "a batch is decided as strictly as its members");
    }
    policy(&mut fixture, "EFFECT_DENY", "secret.static_properties['owner'] == 'ops'");
    submit_as(&mut fixture, &user, EXPORT, &export(&[&test])).expect_err("the request is denied");
    for (activity_type, parameters) in [
        (DELETE, json!({"secretIds": [test]})),
        ("ACTIVITY_TYPE_INIT_IMPORT_SECRETS", json!({"encryptionSuite": SUITE, "numSecrets": 1})),
    ] {
        submit_as(&mut fixture, &user, activity_type, &parameters)
            .expect_err("a policy about exports allows nothing else");
    }
    policy(&mut fixture, "EFFECT_ALLOW", "activity.resource == 'SECRET' && activity.action == 'DELETE'");
    submit_as(&mut fixture, &user, DELETE, &json!({"secretIds": [test]})).expect("a policy allows it");
}

#[test]
fn secrets_are_deleted_with_their_organization() {
    let mut fixture = Fixture::new(1);
    let child = fixture.child.clone();
    let created = fixture.submit(
        &child,
        child.home,
        "ACTIVITY_TYPE_INIT_IMPORT_SECRETS",
        &json!({"encryptionSuite": SUITE, "numSecrets": 1}),
        NOW,
    );
    let created =
        created.expect("the keys are created")["activity"]["result"]["initImportSecretsResult"].clone();
    let (target, payload) = seal_for(&created["enclaveTargetMessages"][0], b"value");
    let secret = json!({"secretPayload": payload, "targetPublicKey": target, "encryptionSuite": SUITE});
    fixture
        .submit(&child, child.home, IMPORT, &json!({"secrets": [secret]}), NOW)
        .expect("the import succeeds");
    let of_child = |fixture: &Fixture| {
        let rows = fixture.memory.rows(b's').chain(fixture.memory.rows(b'e'));
        rows.filter(|(key, _)| key[1..17] == *child.home.as_bytes() && key[17] == b'v').count()
    };
    assert_eq!(of_child(&fixture), 2);
    let deletion = json!({"deleteWithoutExport": true});
    let done = fixture.submit(&child, child.home, "ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION", &deletion, NOW);
    done.expect("the deletion succeeds");
    assert_eq!(of_child(&fixture), 0);
}

#[test]
fn import_keys_are_removed_after_a_day() {
    let mut fixture = Fixture::new(1);
    let earlier_keys: Vec<Vec<u8>> = fixture.memory.rows(b'r').map(|(key, _)| key.to_vec()).collect();
    for key in earlier_keys {
        fixture.memory.set_row(&key, None);
    }
    fixture.execute("ACTIVITY_TYPE_INIT_IMPORT_SECRETS", &json!({"encryptionSuite": SUITE, "numSecrets": 3}));
    let keys = |fixture: &Fixture| fixture.memory.rows(b'r').count();
    let clean = |fixture: &mut Fixture, now| {
        while let Some(commit) = cleanup::step(&fixture.memory, now).expect("the store is sound") {
            fixture.memory.commit(commit);
        }
    };
    clean(&mut fixture, NOW + IMPORT_TARGET_LIFE_MILLIS - 1);
    assert_eq!(keys(&fixture), 3);
    // An earlier version scheduled nothing.
    let mut earlier = fixture.clone();
    let schedule: Vec<Vec<u8>> = earlier.memory.rows(b'k').map(|(key, _)| key.to_vec()).collect();
    for key in schedule {
        earlier.memory.set_row(&key, None);
    }
    clean(&mut earlier, NOW + IMPORT_TARGET_LIFE_MILLIS);
    assert_eq!(keys(&earlier), 3);
    let mut after = None;
    while let Some((commit, last)) =
        cleanup::schedule_import_keys(&earlier.memory, after.as_deref()).expect("the store is sound")
    {
        earlier.memory.commit(commit);
        after = Some(last);
    }
    for fixture in [&mut fixture, &mut earlier] {
        clean(fixture, NOW + IMPORT_TARGET_LIFE_MILLIS);
        assert_eq!(keys(fixture), 0);
    }
}
