//! Sample parameters of each kind, and its expected errors with the documented messages, at least one per kind. A
//! new kind adds both to one module.

use std::any::type_name_of_val;
use std::collections::{BTreeMap, BTreeSet};

use quorate_common::api_error::Code;
use quorate_core::kinds;
use serde_json::{Map, Value};

use crate::fixture::{Fixture, NOW, Person, operation};
use crate::samples;

mod bundles;
mod changes;
mod keys;
mod mfa_policies;
mod oauth2;
mod secrets;
mod sessions;
mod settings;
mod sign_in;

/// Who sends an invalid request, and to which organization.
#[derive(Clone, Copy)]
pub(crate) enum Sender {
    /// A root user whose approval is sufficient.
    Root,
    /// A user without policies, in the same organization.
    User,
    /// The root user of a sub-organization, in that sub-organization.
    Child,
    /// The root user of an empty organization, in that organization.
    Bare,
    /// The invited person.
    Invited,
    /// The person who creates an organization.
    Registrant,
}

/// An expected error: activity type, sender, changed members of the sample (null removes one), code, reason,
/// and the beginning of the message.
pub(crate) type Row = (&'static str, Sender, Value, Code, Option<&'static str>, String);

/// Returns the expected errors by activity type, in the order of the table.
pub(crate) fn by_type(fixture: &Fixture) -> BTreeMap<String, Vec<Row>> {
    let mut by_type: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for row in all(fixture) {
        by_type.entry(format!("ACTIVITY_TYPE_{}", row.0)).or_default().push(row);
    }
    by_type
}

/// Returns valid parameters of a type, given without its prefix.
pub(crate) fn sample(name: &str, fixture: &Fixture, subject: &Person) -> Option<Value> {
    let modules = [
        bundles::sample,
        changes::sample,
        keys::sample,
        mfa_policies::sample,
        oauth2::sample,
        secrets::sample,
        sessions::sample,
        settings::sample,
        sign_in::sample,
    ];
    modules.iter().find_map(|sample| sample(name, fixture, subject))
}

/// Returns the name of the test that every type passes.
pub(crate) fn proof() -> &'static str {
    type_name_of_val(&every_kind_returns_its_documented_errors)
}

/// Returns all rows.
fn all(fixture: &Fixture) -> Vec<Row> {
    [
        bundles::rows(fixture),
        keys::rows(fixture),
        changes::rows(fixture),
        mfa_policies::rows(fixture),
        oauth2::rows(fixture),
        secrets::rows(fixture),
        sessions::rows(fixture),
        settings::rows(fixture),
        sign_in::rows(fixture),
    ]
    .concat()
}

#[test]
fn every_kind_returns_its_documented_errors() {
    let fixture = Fixture::new(1);
    let strict = Fixture::new(2);
    let mut tried = BTreeSet::new();
    let mut errors = Vec::new();
    for (name, sender, changes, code, reason, message) in all(&fixture) {
        let activity_type = format!("ACTIVITY_TYPE_{name}");
        // Rows of a user are votes, which matter only while an activity waits. The threshold of 2 keeps it
        // waiting; other rows do not depend on it.
        let mut fixture = if matches!(sender, Sender::User) { strict.clone() } else { fixture.clone() };
        let (caller, organization) = match sender {
            Sender::Root => (fixture.roots[0].clone(), fixture.id),
            Sender::User => (fixture.user.clone(), fixture.id),
            Sender::Child => (fixture.child.clone(), fixture.child.home),
            Sender::Bare => (fixture.bare.clone(), fixture.bare.home),
            Sender::Invited => (fixture.invited.clone(), fixture.id),
            Sender::Registrant => (fixture.registrant.clone(), fixture.id),
        };
        let parameters = changed(samples::parameters(&activity_type, &fixture, &fixture.spare), &changes);
        let before = fixture.memory.all_rows();
        let body = fixture.body(organization, &activity_type, &parameters, NOW);
        let answer = fixture.send(&caller, &operation(&activity_type), &body, NOW);
        tried.insert(activity_type.clone());
        let error = match answer {
            Ok(answer) => {
                errors.push(format!("{name} {changes} was accepted: {}", answer["activity"]["status"]));
                continue;
            }
            Err(error) => error,
        };
        let fits = error.code == code
            && error.message.starts_with(&message)
            && error.turnkey_error_code.as_deref() == reason;
        if !fits {
            errors.push(format!(
                "{name} {changes}\n    expected {code:?} {reason:?} {message}\n    actual   {:?} {:?} {}",
                error.code, error.turnkey_error_code, error.message
            ));
        }
        // An attempt to use a code is recorded, so that it counts.
        let is_invalid = error.code == Code::InvalidArgument && error.message != "Invalid OTP code";
        if is_invalid && fixture.memory.all_rows() != before {
            errors.push(format!("{name} {changes}: an invalid request changed the store"));
        }
    }
    let untried = kinds::all().iter().filter(|entry| !tried.contains(entry.activity_type));
    errors.extend(untried.map(|entry| format!("{} has no expected error", entry.activity_type)));
    assert!(errors.is_empty(), "\n{}\n", errors.join("\n"));
}

/// Replaces members; null removes a member.
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
