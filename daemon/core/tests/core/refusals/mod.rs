//! What each kind refuses, at least once, in the documented words.

use std::any::type_name_of_val;
use std::collections::{BTreeMap, BTreeSet};

use quorate_common::fault::Code;
use quorate_core::kinds;
use serde_json::{Map, Value};

use crate::house::{House, NOW, operation};
use crate::samples;

mod bundles;
mod changes;
mod keys;
mod secrets;
mod settings;

/// Who sends a request that is refused, and where to.
#[derive(Clone, Copy)]
pub(crate) enum From {
    /// A root user whose word is enough.
    Root,
    /// A user without policies, in the same organization.
    User,
    /// The root user of a sub-organization, in that sub-organization.
    Child,
    /// The root user of an organization that holds nothing, in that organization.
    Bare,
    /// Whoever was invited.
    Invited,
    /// Whoever founds an organization.
    Founder,
}

/// A refusal: type, who, members to put over the sample's (null takes away), code, reason, and how the
/// message begins.
pub(crate) type Row = (&'static str, From, Value, Code, Option<&'static str>, String);

/// The refusals that are tried, by type, in the order of the table.
pub(crate) fn by_type(house: &House) -> BTreeMap<String, Vec<Row>> {
    let mut found: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for row in all(house) {
        found.entry(format!("ACTIVITY_TYPE_{}", row.0)).or_default().push(row);
    }
    found
}

/// The test that every type passes.
pub(crate) fn proof() -> &'static str {
    type_name_of_val(&every_kind_refuses_in_the_documented_words)
}

/// All of them. The text is how the documented message begins.
fn all(house: &House) -> Vec<Row> {
    [
        bundles::refusals(house),
        keys::refusals(house),
        changes::refusals(house),
        secrets::refusals(house),
        settings::refusals(house),
    ]
    .concat()
}

#[test]
fn every_kind_refuses_in_the_documented_words() {
    let house = House::found(1);
    let strict = House::found(2);
    let mut tried = BTreeSet::new();
    let mut flaws = Vec::new();
    for (name, from, changes, code, reason, message) in all(&house) {
        let activity_type = format!("ACTIVITY_TYPE_{name}");
        // Voters matter only while something waits: the threshold that keeps it waiting does not touch others.
        let mut house = if matches!(from, From::User) { strict.clone() } else { house.clone() };
        let (caller, organization) = match from {
            From::Root => (house.roots[0].clone(), house.id),
            From::User => (house.user.clone(), house.id),
            From::Child => (house.child.clone(), house.child.home),
            From::Bare => (house.bare.clone(), house.bare.home),
            From::Invited => (house.invited.clone(), house.id),
            From::Founder => (house.founder.clone(), house.id),
        };
        let parameters = changed(samples::parameters(&activity_type, &house, &house.spare), &changes);
        let before = house.memory.everything();
        let body = house.body(organization, &activity_type, &parameters, NOW);
        let answer = house.send(&caller, &operation(&activity_type), &body, NOW);
        tried.insert(activity_type.clone());
        let fault = match answer {
            Ok(answer) => {
                flaws.push(format!("{name} {changes} was taken: {}", answer["activity"]["status"]));
                continue;
            }
            Err(fault) => fault,
        };
        let fits = fault.code == code
            && fault.message.starts_with(&message)
            && fault.turnkey_error_code.as_deref() == reason;
        if !fits {
            flaws.push(format!(
                "{name} {changes}\n    wanted {code:?} {reason:?} {message}\n    got    {:?} {:?} {}",
                fault.code, fault.turnkey_error_code, fault.message
            ));
        }
        let is_wrong_request = fault.code == Code::InvalidArgument;
        if is_wrong_request && house.memory.everything() != before {
            flaws.push(format!("{name} {changes}: a wrong request left something behind"));
        }
    }
    let untried = kinds::all().iter().filter(|entry| !tried.contains(entry.activity_type));
    flaws.extend(untried.map(|entry| format!("{} has no refusal row", entry.activity_type)));
    assert!(flaws.is_empty(), "\n{}\n", flaws.join("\n"));
}

/// Puts members over others; null takes a member away.
fn changed(mut parameters: Value, changes: &Value) -> Value {
    let members: &mut Map<String, Value> = parameters.as_object_mut().expect("an object");
    for (name, value) in changes.as_object().expect("an object") {
        if value.is_null() {
            members.remove(name);
        } else {
            members.insert(name.clone(), value.clone());
        }
    }
    parameters
}
