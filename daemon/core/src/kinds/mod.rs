//! The table of activity kinds: one folder per noun, one file per kind. To add a kind, add its file, and two
//! lines to the `mod.rs` of its noun.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use quorate_common::catalog::Gate;

use crate::kind::Entry;

mod billing;
mod credentials;
mod invitations;
mod ip_allowlists;
mod organizations;
mod policies;
mod prelude;
mod private_keys;
mod secrets;
mod session_profiles;
mod signing;
mod smart_contract_interfaces;
mod tags;
mod unoffered;
mod users;
mod votes;
mod wallets;
mod webhook_endpoints;

static TABLE: LazyLock<Table> = LazyLock::new(Table::build);

struct Table {
    entries: Vec<Entry>,
    by_type: HashMap<&'static str, usize>,
    by_number: HashMap<u16, usize>,
    operations: BTreeMap<String, Gate>,
}

impl Table {
    fn build() -> Self {
        let groups: [&[Entry]; 16] = [
            billing::ENTRIES,
            credentials::ENTRIES,
            invitations::ENTRIES,
            ip_allowlists::ENTRIES,
            organizations::ENTRIES,
            policies::ENTRIES,
            private_keys::ENTRIES,
            secrets::ENTRIES,
            session_profiles::ENTRIES,
            signing::ENTRIES,
            smart_contract_interfaces::ENTRIES,
            tags::ENTRIES,
            users::ENTRIES,
            votes::ENTRIES,
            wallets::ENTRIES,
            webhook_endpoints::ENTRIES,
        ];
        let mut entries = groups.concat();
        entries.sort_by_key(|entry| entry.activity_type);
        let rows = || entries.iter().enumerate();
        let by_type = rows().map(|(index, entry)| (entry.activity_type, index)).collect();
        let by_number = rows().map(|(index, entry)| (entry.number, index)).collect();
        let operations = entries.iter().map(|entry| (entry.operation(), entry.gate)).collect();
        Self { entries, by_type, by_number, operations }
    }
}

/// Returns all rows, sorted by activity type.
pub fn all() -> &'static [Entry] {
    &TABLE.entries
}

/// Looks up the row of an activity type.
pub fn find(activity_type: &str) -> Option<&'static Entry> {
    TABLE.by_type.get(activity_type).and_then(|index| TABLE.entries.get(*index))
}

/// Looks up the row by the number of an activity type.
pub fn by_number(number: u16) -> Option<&'static Entry> {
    TABLE.by_number.get(&number).and_then(|index| TABLE.entries.get(*index))
}

/// Returns the activity type with this number, or an empty text if the table has none. No stored activity has
/// such a number.
pub fn type_of(number: u16) -> &'static str {
    by_number(number).map_or("", |entry| entry.activity_type)
}

/// Looks up an operation by name: the last segment of a submit path, which all versions of a kind share.
pub fn operation(name: &str) -> Option<&'static str> {
    TABLE.operations.get_key_value(name).map(|(operation, _)| operation.as_str())
}

/// Returns whether an operation is only for holders of an invitation.
pub fn admits_invited(operation: &str) -> bool {
    TABLE.operations.get(operation) == Some(&Gate::Invitation)
}

/// Returns whether an operation creates organizations, and so does not act on an existing one.
pub fn creates_organizations(operation: &str) -> bool {
    TABLE.operations.get(operation) == Some(&Gate::Registrant)
}

/// Returns whether this is an operation of the API that the service does not offer.
pub fn is_unoffered_operation(name: &str) -> bool {
    unoffered::is_operation(name)
}

/// Returns whether this is an activity type of the API that the service does not offer.
pub fn is_unoffered(activity_type: &str) -> bool {
    unoffered::number(activity_type).is_some()
}

/// Returns the number of an activity type of the API, whether or not the service offers it. Filters need
/// both.
pub fn number_of(activity_type: &str) -> Option<u16> {
    find(activity_type).map(|entry| entry.number).or_else(|| unoffered::number(activity_type))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_valid_and_unique() {
        let entries = all();
        assert_eq!(TABLE.by_type.len(), entries.len(), "duplicate activity type");
        assert_eq!(TABLE.by_number.len(), entries.len(), "duplicate number");
        for entry in entries {
            let described = entry.describe();
            assert!(described.description.ends_with('.'), "{} has no description", entry.activity_type);
            assert!(described.intent.contains("Intent"), "{}", described.intent);
            assert!(
                !is_unoffered(entry.activity_type),
                "{} is listed as offered and as not offered",
                entry.activity_type
            );
        }
    }

    #[test]
    fn parameter_schemas_are_bounded() {
        for entry in all() {
            let described = entry.describe();
            let mut unbounded = Vec::new();
            collect_unbounded(&described.parameters, "parameters", &mut unbounded);
            assert!(unbounded.is_empty(), "{}: {unbounded:?}", entry.activity_type);
        }
    }

    /// Collects the paths of strings without `maxLength`, `enum` or `const`, and of lists without `maxItems`.
    fn collect_unbounded(schema: &serde_json::Value, path: &str, unbounded: &mut Vec<String>) {
        let has = |member: &str| schema.get(member).is_some();
        let is = |name: &str| match schema.get("type") {
            Some(serde_json::Value::String(one)) => one == name,
            Some(serde_json::Value::Array(many)) => many.iter().any(|one| one == name),
            _ => false,
        };
        if is("string") && !(has("maxLength") || has("enum") || has("const")) {
            unbounded.push(path.to_owned());
        }
        if is("array") && !has("maxItems") {
            unbounded.push(path.to_owned());
        }
        match schema {
            serde_json::Value::Object(members) => {
                members
                    .iter()
                    .for_each(|(name, inner)| collect_unbounded(inner, &format!("{path}.{name}"), unbounded));
            }
            serde_json::Value::Array(items) => {
                for inner in items {
                    collect_unbounded(inner, path, unbounded);
                }
            }
            _ => {}
        }
    }
}
