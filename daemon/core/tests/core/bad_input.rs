//! Invalid parameters, derived from the schema of each kind: every member missing, of another type, too long,
//! unknown or from another organization. The error names the invalid member, and nothing is stored. Another
//! organization's record looks the same as a missing one.

use quorate_common::api_error::{ApiError, Code};
use quorate_core::kinds;
use serde_json::{Value, json};

use crate::fixture::{Fixture, NOW, operation};
use crate::samples;

/// An id of no record.
const UNKNOWN_ID: &str = "00000000-0000-4000-8000-000000000000";

/// Ids that callers choose themselves.
const FREE: [(&str, &str); 5] = [
    ("ACCEPT_INVITATION", "/userId"),
    ("ACCEPT_INVITATION_V2", "/userId"),
    ("CREATE_ORGANIZATION", "/rootAuthenticator/userId"),
    ("CREATE_ORGANIZATION", "/rootUserId"),
    ("CREATE_ORGANIZATION_V2", "/rootUserId"),
];

/// The error of a code that is not valid. Such an attempt is recorded, so that it counts.
const COUNTED: &str = "Invalid OTP code";

/// The way in which a member is made invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mistake {
    Missing,
    OtherType,
    TooLong,
    TooMany,
    UnknownName,
    NotAnId,
    /// An id of no record.
    UnknownId,
}

/// Collects the possible mistakes in all members of a value, each with the path of the member.
fn mistakes(schema: &Value, value: &Value, path: &str, found: &mut Vec<(String, Mistake, Value)>) {
    let has = |name: &str| schema.get(name).is_some();
    if let Some(properties) = schema["properties"].as_object() {
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, inner) in properties {
            let Some(member) = value.get(name) else { continue };
            let path = format!("{path}/{name}");
            if required.contains(&name.as_str()) {
                found.push((path.clone(), Mistake::Missing, Value::Null));
            }
            mistakes(inner, member, &path, found);
        }
        found.push((path.to_owned(), Mistake::OtherType, json!("text")));
    } else if let (true, Some(first)) = (has("items"), value.get(0)) {
        let most =
            usize::try_from(schema["maxItems"].as_u64().expect("lists are bounded")).expect("a small number");
        found.push((path.to_owned(), Mistake::TooMany, json!(vec![first.clone(); most + 1])));
        found.push((path.to_owned(), Mistake::OtherType, json!("text")));
        mistakes(&schema["items"], first, &format!("{path}/0"), found);
    } else if value.is_string() {
        found.push((path.to_owned(), Mistake::OtherType, json!({})));
        if schema["format"] == "uuid" {
            found.push((path.to_owned(), Mistake::NotAnId, json!("no id")));
            found.push((path.to_owned(), Mistake::UnknownId, json!(UNKNOWN_ID)));
        } else if let Some(most) = schema["maxLength"].as_u64() {
            let long = "1".repeat(usize::try_from(most).expect("a small number") + 1);
            found.push((path.to_owned(), Mistake::TooLong, json!(long)));
        } else {
            found.push((path.to_owned(), Mistake::UnknownName, json!("NAME_NOBODY_KNOWS")));
        }
    } else if value.is_boolean() || value.is_number() {
        found.push((path.to_owned(), Mistake::OtherType, json!("text")));
    }
}

/// Returns the value with one member replaced or removed.
fn with(mut value: Value, path: &str, mistake: Mistake, member: &Value) -> Value {
    if path.is_empty() {
        return member.clone();
    }
    let (parent, name) = path.rsplit_once('/').expect("a path has a parent");
    let parent = value.pointer_mut(parent).expect("the parent exists");
    match (mistake, parent.as_object_mut()) {
        (Mistake::Missing, Some(object)) => drop(object.remove(name)),
        (_, Some(object)) => drop(object.insert(name.to_owned(), member.clone())),
        (_, None) => *parent.pointer_mut(&format!("/{name}")).expect("the element exists") = member.clone(),
    }
    value
}

/// Sends a request with invalid parameters and returns the error. Returns a description if it was accepted or
/// stored anything.
fn send_invalid(fixture: &mut Fixture, activity_type: &str, parameters: &Value) -> Result<ApiError, String> {
    let (caller, organization) = samples::stage(activity_type, fixture);
    let body = fixture.body(organization, activity_type, parameters, NOW);
    let before = fixture.memory.all_rows();
    match fixture.send(&caller, &operation(activity_type), &body, NOW) {
        Ok(answer) => Err(format!("it was accepted: {}", answer["activity"]["result"])),
        Err(error)
            if error.code == Code::InvalidArgument
                && error.message != COUNTED
                && fixture.memory.all_rows() != before =>
        {
            Err("an invalid request changed the store".to_owned())
        }
        Err(error) => Ok(error),
    }
}

/// Returns a path as error messages write it: `users[0].userName`.
fn display_path(path: &str) -> String {
    let parts = path.split('/').skip(1).map(|part| match part.parse::<usize>() {
        Ok(index) => format!("[{index}]"),
        Err(_) => format!(".{part}"),
    });
    std::iter::once("parameters".to_owned()).chain(parts).collect()
}

#[test]
fn errors_name_the_invalid_member() {
    let fixture = Fixture::new(1);
    let mut wrong = Vec::new();
    let mut tried = 0;
    for entry in kinds::all() {
        let parameters = samples::parameters(entry.activity_type, &fixture, &fixture.spare);
        let mut found = Vec::new();
        mistakes(&entry.describe().parameters, &parameters, "", &mut found);
        for (path, mistake, member) in
            found.into_iter().filter(|(_, mistake, _)| *mistake != Mistake::UnknownId)
        {
            tried += 1;
            let bad = with(parameters.clone(), &path, mistake, &member);
            let mut report =
                |what: String| wrong.push(format!("{} {path} {mistake:?}: {what}", entry.activity_type));
            let error = match send_invalid(&mut fixture.clone(), entry.activity_type, &bad) {
                Ok(error) => error,
                Err(what) => {
                    report(what);
                    continue;
                }
            };
            let last = path.rsplit('/').next().unwrap_or_default();
            let names_member = match mistake {
                Mistake::Missing => error.message.contains(&format!("`{last}`")),
                _ => error.message.contains(&format!("`{}`", display_path(&path))),
            };
            // Some members have documented messages, which do not name them.
            let is_documented = !error.message.starts_with("invalid request body");
            if error.code != Code::InvalidArgument || !(names_member || is_documented) {
                report(format!("{:?} {}", error.code, error.message));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {tried}\n{}", wrong.len(), wrong.join("\n"));
    assert!(tried > 500, "{tried}");
}

#[test]
fn records_of_other_organizations_or_kinds_are_not_found() {
    let fixture = Fixture::new(1);
    let mut wrong = Vec::new();
    let mut tried = 0;
    for entry in kinds::all() {
        let name = entry.activity_type.trim_start_matches("ACTIVITY_TYPE_");
        let parameters = samples::parameters(entry.activity_type, &fixture, &fixture.spare);
        let mut found = Vec::new();
        mistakes(&entry.describe().parameters, &parameters, "", &mut found);
        let ids = found.into_iter().filter(|(path, mistake, _)| {
            *mistake == Mistake::UnknownId && !FREE.contains(&(name, path.as_str()))
        });
        for (path, mistake, unknown_id) in ids {
            tried += 1;
            let unknown = with(parameters.clone(), &path, mistake, &unknown_id);
            let expected = match send_invalid(&mut fixture.clone(), entry.activity_type, &unknown) {
                Ok(error) => (error.code, error.message.replace(UNKNOWN_ID, "ID")),
                Err(what) => {
                    wrong.push(format!("{name} {path}: {what}"));
                    continue;
                }
            };
            // A user and a key of another organization, and a record of another kind in this one: a user id
            // where another record is expected, or a tag id where a user is expected.
            let other = if path.to_lowercase().contains("user") && !path.contains("Tag") {
                fixture.user_tag.clone()
            } else {
                fixture.spare.user.to_string()
            };
            for id in [fixture.child.user.to_string(), fixture.child.keys[0].to_string(), other] {
                let bad = with(parameters.clone(), &path, mistake, &json!(id));
                match send_invalid(&mut fixture.clone(), entry.activity_type, &bad) {
                    Ok(error) if (error.code, error.message.replace(&id, "ID")) == expected => {}
                    Ok(error) => {
                        wrong.push(format!("{name} {path}: {} is not {}", error.message, expected.1));
                    }
                    Err(what) => wrong.push(format!("{name} {path}: {what}")),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {tried}\n{}", wrong.len(), wrong.join("\n"));
    assert!(tried >= 50, "{tried}");
}
