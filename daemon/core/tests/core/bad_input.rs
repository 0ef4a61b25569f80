//! What is wrong with parameters, made from the schema of each kind: every member missing, of another type, too
//! long, unknown or somebody else's. A wrong request is told where it is wrong, and leaves nothing behind; a record
//! of somebody else is told apart from one that does not exist by nobody.

use quorate_common::fault::{Code, Fault};
use quorate_core::kinds;
use serde_json::{Value, json};

use crate::house::{House, NOW, operation};
use crate::samples;

/// An id that names nothing.
const NOBODY: &str = "00000000-0000-4000-8000-000000000000";

/// Ids that callers make up themselves.
const FREE: [(&str, &str); 5] = [
    ("ACCEPT_INVITATION", "/userId"),
    ("ACCEPT_INVITATION_V2", "/userId"),
    ("CREATE_ORGANIZATION", "/rootAuthenticator/userId"),
    ("CREATE_ORGANIZATION", "/rootUserId"),
    ("CREATE_ORGANIZATION_V2", "/rootUserId"),
];

/// What is done to a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flaw {
    Missing,
    OtherType,
    TooLong,
    TooMany,
    UnknownName,
    NoId,
    /// An id that names nothing.
    UnknownId,
}

/// Flaws of all members of a value, each with the place of the member.
fn flaws(schema: &Value, value: &Value, place: &str, found: &mut Vec<(String, Flaw, Value)>) {
    let has = |name: &str| schema.get(name).is_some();
    if let Some(properties) = schema["properties"].as_object() {
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, inner) in properties {
            let Some(member) = value.get(name) else { continue };
            let place = format!("{place}/{name}");
            if required.contains(&name.as_str()) {
                found.push((place.clone(), Flaw::Missing, Value::Null));
            }
            flaws(inner, member, &place, found);
        }
        found.push((place.to_owned(), Flaw::OtherType, json!("text")));
    } else if let (true, Some(first)) = (has("items"), value.get(0)) {
        let most = usize::try_from(schema["maxItems"].as_u64().expect("lists are bounded")).expect("small");
        found.push((place.to_owned(), Flaw::TooMany, json!(vec![first.clone(); most + 1])));
        found.push((place.to_owned(), Flaw::OtherType, json!("text")));
        flaws(&schema["items"], first, &format!("{place}/0"), found);
    } else if value.is_string() {
        found.push((place.to_owned(), Flaw::OtherType, json!({})));
        if schema["format"] == "uuid" {
            found.push((place.to_owned(), Flaw::NoId, json!("no id")));
            found.push((place.to_owned(), Flaw::UnknownId, json!(NOBODY)));
        } else if let Some(most) = schema["maxLength"].as_u64() {
            let long = "1".repeat(usize::try_from(most).expect("small") + 1);
            found.push((place.to_owned(), Flaw::TooLong, json!(long)));
        } else {
            found.push((place.to_owned(), Flaw::UnknownName, json!("NAME_NOBODY_KNOWS")));
        }
    } else if value.is_boolean() || value.is_number() {
        found.push((place.to_owned(), Flaw::OtherType, json!("text")));
    }
}

/// The value with one member put in place, or taken away.
fn with(mut value: Value, place: &str, flaw: Flaw, member: &Value) -> Value {
    if place.is_empty() {
        return member.clone();
    }
    let (parent, name) = place.rsplit_once('/').expect("a place has a parent");
    let parent = value.pointer_mut(parent).expect("the parent is there");
    match (flaw, parent.as_object_mut()) {
        (Flaw::Missing, Some(object)) => drop(object.remove(name)),
        (_, Some(object)) => drop(object.insert(name.to_owned(), member.clone())),
        (_, None) => *parent.pointer_mut(&format!("/{name}")).expect("it is there") = member.clone(),
    }
    value
}

/// What a request with these parameters is answered, where it must not be taken.
fn refused(house: &mut House, activity_type: &str, parameters: &Value) -> Result<Fault, String> {
    let (caller, organization) = samples::stage(activity_type, house);
    let body = house.body(organization, activity_type, parameters, NOW);
    let before = house.memory.everything();
    match house.send(&caller, &operation(activity_type), &body, NOW) {
        Ok(answer) => Err(format!("it was taken: {}", answer["activity"]["result"])),
        Err(fault) if fault.code == Code::InvalidArgument && house.memory.everything() != before => {
            Err("a wrong request left something behind".to_owned())
        }
        Err(fault) => Ok(fault),
    }
}

/// The members of a place, as messages name them: `users[0].userName`.
fn named(place: &str) -> String {
    let parts = place.split('/').skip(1).map(|part| match part.parse::<usize>() {
        Ok(index) => format!("[{index}]"),
        Err(_) => format!(".{part}"),
    });
    std::iter::once("parameters".to_owned()).chain(parts).collect()
}

#[test]
fn a_wrong_member_is_told_by_its_place() {
    let house = House::found(1);
    let mut wrong = Vec::new();
    let mut tried = 0;
    for entry in kinds::all() {
        let parameters = samples::parameters(entry.activity_type, &house, &house.spare);
        let mut found = Vec::new();
        flaws(&entry.describe().parameters, &parameters, "", &mut found);
        for (place, flaw, member) in found.into_iter().filter(|(_, flaw, _)| *flaw != Flaw::UnknownId) {
            tried += 1;
            let bad = with(parameters.clone(), &place, flaw, &member);
            let mut say =
                |what: String| wrong.push(format!("{} {place} {flaw:?}: {what}", entry.activity_type));
            let fault = match refused(&mut house.clone(), entry.activity_type, &bad) {
                Ok(fault) => fault,
                Err(what) => {
                    say(what);
                    continue;
                }
            };
            let last = place.rsplit('/').next().unwrap_or_default();
            let says_where = match flaw {
                Flaw::Missing => fault.message.contains(&format!("`{last}`")),
                _ => fault.message.contains(&format!("`{}`", named(&place))),
            };
            // Some members have words of their own in the documents, which do not name them.
            let documented = !fault.message.starts_with("invalid request body");
            if fault.code != Code::InvalidArgument || !(says_where || documented) {
                say(format!("{:?} {}", fault.code, fault.message));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {tried}\n{}", wrong.len(), wrong.join("\n"));
    assert!(tried > 500, "{tried}");
}

#[test]
fn records_of_others_and_of_another_kind_are_not_there() {
    let house = House::found(1);
    let mut wrong = Vec::new();
    let mut tried = 0;
    for entry in kinds::all() {
        let name = entry.activity_type.trim_start_matches("ACTIVITY_TYPE_");
        let parameters = samples::parameters(entry.activity_type, &house, &house.spare);
        let mut found = Vec::new();
        flaws(&entry.describe().parameters, &parameters, "", &mut found);
        let ids = found
            .into_iter()
            .filter(|(place, flaw, _)| *flaw == Flaw::UnknownId && !FREE.contains(&(name, place.as_str())));
        for (place, flaw, nobody) in ids {
            tried += 1;
            let unknown = with(parameters.clone(), &place, flaw, &nobody);
            let expected = match refused(&mut house.clone(), entry.activity_type, &unknown) {
                Ok(fault) => (fault.code, fault.message.replace(NOBODY, "ID")),
                Err(what) => {
                    wrong.push(format!("{name} {place}: {what}"));
                    continue;
                }
            };
            // A user of another organization, one of its keys, and a record of another kind of this one: a user's
            // id is no id of anything else, and where a user is wanted, a tag is none.
            let other = if place.to_lowercase().contains("user") && !place.contains("Tag") {
                house.user_tag.clone()
            } else {
                house.spare.user.to_string()
            };
            for id in [house.child.user.to_string(), house.child.keys[0].to_string(), other] {
                let bad = with(parameters.clone(), &place, flaw, &json!(id));
                match refused(&mut house.clone(), entry.activity_type, &bad) {
                    Ok(fault) if (fault.code, fault.message.replace(&id, "ID")) == expected => {}
                    Ok(fault) => {
                        wrong.push(format!("{name} {place}: {} is not {}", fault.message, expected.1));
                    }
                    Err(what) => wrong.push(format!("{name} {place}: {what}")),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {tried}\n{}", wrong.len(), wrong.join("\n"));
    assert!(tried >= 50, "{tried}");
}
