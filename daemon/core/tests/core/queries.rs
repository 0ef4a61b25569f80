//! Queries: the golden file of their schemas, and the examples in the comment of each file. An example is a
//! body without `organizationId`, with what it leads to:
//!
//! - `{"userId": "$user"}` is answered.
//! - `{"userId": "$unknown"}` is refused with 404: unable to find user $unknown in organization $organization
//!
//! A name after `$` is replaced by a value of the fixture, see [`placeholders`].

use std::collections::BTreeMap;

use quorate_common::api_error::{ApiError, Code};
use quorate_core::queries::{self, Entry};
use serde_json::{Value, json};

use crate::fixture::{Fixture, NOW, public_key};
use crate::golden;

const FOLDER: &str = "../daemon/core/src/queries";

#[test]
fn golden_file_is_up_to_date() {
    let entries: Vec<_> = queries::all().into_iter().map(Entry::describe).collect();
    let mut text = serde_json::to_string_pretty(&entries).expect("the queries serialize");
    text.push('\n');
    golden::check("queries.json", &text);
}

/// Returns the sources of all queries, by the name of the file.
fn sources() -> BTreeMap<String, String> {
    let mut sources = BTreeMap::new();
    let entries =
        |path| std::fs::read_dir(path).expect("a folder").map(|entry| entry.expect("an entry").path());
    for noun in entries(golden::path(FOLDER)).filter(|path| path.is_dir()) {
        for file in entries(noun) {
            let name = file.file_stem().and_then(|name| name.to_str()).expect("a name").to_owned();
            if name != "mod" {
                let text = std::fs::read_to_string(&file).expect("a source");
                assert!(sources.insert(name, text).is_none(), "{} exists twice", file.display());
            }
        }
    }
    sources
}

#[test]
fn every_query_has_its_file() {
    let names: Vec<&str> = queries::all().into_iter().map(|entry| entry.name).collect();
    assert!(names.is_sorted_by(|one, next| one < next), "a name is not unique: {names:?}");
    assert_eq!(sources().into_keys().collect::<Vec<_>>(), names, "files, and rows of the table");
}

/// An example: the members of the body, and the expected error.
struct Example {
    members: Value,
    error: Option<(u16, String)>,
}

/// Returns the values that replace the names in examples. Longer names come first.
fn placeholders(fixture: &Fixture) -> Vec<(&'static str, String)> {
    let list = json!({"organizationId": fixture.id}).to_string().into_bytes();
    let answer = fixture.memory.query("list_activities", &fixture.roots[0].stamps(&list), &list, NOW);
    let activity = answer.expect("activities are listed")["activities"][0]["id"].clone();
    let mut all = vec![
        ("$activity", activity.as_str().expect("an id").to_owned()),
        ("$address", fixture.wallet.1.clone()),
        ("$apiKey", fixture.spare.keys[0].to_string()),
        ("$authenticator", fixture.spare.authenticator.expect("an authenticator").to_string()),
        ("$interface", fixture.interface.clone()),
        ("$invitation", fixture.invitation.clone()),
        ("$mfaPolicy", fixture.mfa_policy.clone()),
        ("$oauth2Credential", fixture.oauth2_credential.clone()),
        ("$organization", fixture.id.to_string()),
        ("$policy", fixture.policy.clone()),
        ("$privateKey", fixture.private_key.clone()),
        ("$publicKey", public_key(13)),
        ("$sessionProfile", fixture.session_profile.clone()),
        ("$unknown", "00000000-0000-4000-8000-000000000000".to_owned()),
        ("$user", fixture.spare.user.to_string()),
        ("$wallet", fixture.wallet.0.clone()),
    ];
    all.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    all
}

/// Returns the examples of each query.
fn examples(fixture: &Fixture) -> BTreeMap<String, Vec<Example>> {
    let placeholders = placeholders(fixture);
    let example = |line: &str| {
        let line = placeholders.iter().fold(line.to_owned(), |line, (name, value)| line.replace(name, value));
        assert!(!line.contains('$'), "an unknown name in: {line}");
        let (members, outcome) = line.split_once("` is ").unwrap_or_else(|| panic!("not an example: {line}"));
        let error = outcome.strip_prefix("refused with ").and_then(|rest| rest.split_once(": "));
        assert!(error.is_some() || outcome == "answered.", "not an example: {line}");
        Example {
            members: serde_json::from_str(members).unwrap_or_else(|error| panic!("{members}: {error}")),
            error: error.map(|(status, text)| (status.parse().expect("a status"), text.to_owned())),
        }
    };
    let examples =
        |text: &str| text.lines().filter_map(|line| line.strip_prefix("//! - `")).map(example).collect();
    sources().into_iter().map(|(name, text)| (name, examples(&text))).collect()
}

/// Returns a body with these members, and with the organization unless they name another one.
fn body(fixture: &Fixture, members: &Value) -> Value {
    let mut body = json!({"organizationId": fixture.id});
    body.as_object_mut().expect("an object").extend(members.as_object().expect("an object").clone());
    body
}

/// The query that is stamped with the key of an invitation.
const OF_INVITATION: &str = "get_invitation_status";

/// Sends a query with these members as the first root user, or as the invited person.
fn send(fixture: &Fixture, query: &str, members: &Value) -> Result<Value, ApiError> {
    let body = body(fixture, members).to_string().into_bytes();
    let caller = if query == OF_INVITATION { &fixture.invited } else { &fixture.roots[0] };
    fixture.memory.query(query, &caller.stamps(&body), &body, NOW)
}

#[test]
fn examples_lead_to_what_they_state() {
    let fixture = Fixture::new(2);
    let mut examples = examples(&fixture);
    let mut errors = Vec::new();
    for described in queries::all().into_iter().map(Entry::describe) {
        let name = &described.name;
        let examples = examples.remove(name).unwrap_or_default();
        let refused = examples.iter().filter(|example| example.error.is_some()).count();
        if refused == 0 || refused == examples.len() {
            errors.push(format!("{name} lacks an example that is answered, or one that is refused"));
        }
        for Example { members, error } in examples {
            match (send(&fixture, name, &members), error) {
                (Ok(answer), None) => {
                    let body = body(&fixture, &members);
                    deviations(&described.request, &body, &format!("{name}: request"), &mut errors);
                    deviations(&described.answer, &answer, &format!("{name}: answer"), &mut errors);
                }
                (Err(actual), Some((status, message)))
                    if actual.code.http_status() == status && actual.message == message => {}
                (actual, _) => errors.push(format!("{name} {members}: {actual:?}")),
            }
        }
    }
    assert!(errors.is_empty(), "\n{}\n", errors.join("\n"));
}

/// Returns the types that a schema allows, or nothing if it allows any value.
fn types(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        other => other.as_str().into_iter().collect(),
    }
}

const fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Collects where a value deviates from its schema. A member that the schema does not describe is a
/// deviation.
fn deviations(schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
    if let Some(alternatives) = ["oneOf", "anyOf"].iter().find_map(|list| schema[list].as_array()) {
        let fits = |schema: &&Value| {
            let mut found = Vec::new();
            deviations(schema, value, path, &mut found);
            found.is_empty()
        };
        let count = alternatives.iter().filter(fits).count();
        found.extend((count != 1).then(|| format!("{path}: {value} fits {count} alternatives")));
        return;
    }
    let names =
        schema["enum"].as_array().cloned().or_else(|| schema.get("const").map(|one| vec![one.clone()]));
    let types = types(schema);
    if types.is_empty() {
        return;
    }
    if !types.contains(&type_of(value)) || names.is_some_and(|names| !names.contains(value)) {
        found.push(format!("{path}: {value} does not fit {schema}"));
        return;
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        deviations(&schema["items"], item, &format!("{path}[{index}]"), found);
    }
    let Some(members) = value.as_object() else { return };
    for (name, member) in members {
        match schema["properties"].get(name) {
            Some(inner) => deviations(inner, member, &format!("{path}.{name}"), found),
            None => found.push(format!("{path}: `{name}` is not described")),
        }
    }
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let missing = required.filter(|name| !members.contains_key(*name));
    found.extend(missing.map(|name| format!("{path}: `{name}` is missing")));
}

/// Collects the members of a request with their schemas, each with its path.
fn members(schema: &Value, path: &str, found: &mut Vec<(String, Value)>) {
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}/{name}");
        found.push((path.clone(), inner.clone()));
        inner["anyOf"].as_array().into_iter().flatten().for_each(|inner| members(inner, &path, found));
        members(inner, &path, found);
        if let Some(items) = inner.get("items") {
            found.push((format!("{path}/0"), items.clone()));
        }
    }
}

/// Returns a body with one member, which is nested as its path states.
fn nested(path: &str, value: Value) -> Value {
    path.rsplit('/').filter(|name| !name.is_empty()).fold(value, |inner, name| match name {
        "0" => json!([inner]),
        name => json!({name: inner}),
    })
}

#[test]
fn members_of_another_type_are_rejected() {
    let fixture = Fixture::new(1);
    let examples = examples(&fixture);
    let mut wrong = Vec::new();
    let mut tried = 0;
    for described in queries::all().into_iter().map(Entry::describe) {
        let name = &described.name;
        let example = examples[name].iter().find(|example| example.error.is_none()).expect("an example");
        let mut found = Vec::new();
        members(&described.request, "", &mut found);
        for (path, schema) in found {
            tried += 1;
            let other = if types(&schema).contains(&"string") || schema.get("oneOf").is_some() {
                json!({})
            } else {
                json!("text")
            };
            let mut body = example.members.clone();
            let bad = nested(&path, other);
            body.as_object_mut().expect("an object").extend(bad.as_object().expect("an object").clone());
            let dotted = path.trim_start_matches('/').replace("/0", "[0]").replace('/', ".");
            let expected = format!("invalid request body: `{dotted}`: expected ");
            match send(&fixture, name, &body) {
                Err(error)
                    if error.code == Code::InvalidArgument
                        && (error.message.starts_with(&expected)
                            || error.message == "malformed organization ID provided") => {}
                other => wrong.push(format!("{name} {body}: {other:?}")),
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
    assert!(tried > 70, "{tried}");
}

#[test]
fn requests_are_described_and_bounded() {
    for described in queries::all().into_iter().map(Entry::describe) {
        let name = &described.name;
        assert!(described.description.ends_with('.'), "{name} has no description");
        assert!(
            described.request["required"]
                .as_array()
                .is_some_and(|all| all.contains(&json!("organizationId")))
        );
        let mut found = Vec::new();
        members(&described.request, "", &mut found);
        for (path, schema) in found {
            let has = |member: &str| schema.get(member).is_some();
            let is_bounded = match types(&schema).first() {
                Some(&"string") => has("maxLength") || has("enum") || has("const"),
                Some(&"array") => has("maxItems"),
                _ => true,
            };
            assert!(is_bounded, "{name}: {path} has no limit");
        }
    }
}
