//! The table of kinds: a folder per noun, a file per kind. Adding a kind is its file and two lines in the
//! `mod.rs` of its noun.

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
        let by_type = rows().map(|(place, entry)| (entry.activity_type, place)).collect();
        let by_number = rows().map(|(place, entry)| (entry.number, place)).collect();
        let operations = entries.iter().map(|entry| (entry.operation(), entry.gate)).collect();
        Self { entries, by_type, by_number, operations }
    }
}

/// All rows, sorted by type.
pub fn all() -> &'static [Entry] {
    &TABLE.entries
}

/// The row of a type.
pub fn find(activity_type: &str) -> Option<&'static Entry> {
    TABLE.by_type.get(activity_type).and_then(|place| TABLE.entries.get(*place))
}

/// The row of a type's number.
pub fn by_number(number: u16) -> Option<&'static Entry> {
    TABLE.by_number.get(&number).and_then(|place| TABLE.entries.get(*place))
}

/// The type of a number; empty for one that is not in the table, which no stored activity has.
pub fn type_of(number: u16) -> &'static str {
    by_number(number).map_or("", |entry| entry.activity_type)
}

/// The operation of this name: last part of a submit path, one for all versions of a kind.
pub fn operation(name: &str) -> Option<&'static str> {
    TABLE.operations.get_key_value(name).map(|(operation, _)| operation.as_str())
}

/// Whether an operation is for those who hold an invitation, and for nobody else.
pub fn admits_invited(operation: &str) -> bool {
    TABLE.operations.get(operation) == Some(&Gate::Invitation)
}

/// Whether an operation founds organizations, and is about none that is there.
pub fn founds(operation: &str) -> bool {
    TABLE.operations.get(operation) == Some(&Gate::Founder)
}

/// Whether this is an operation of the API that the service does not have.
pub fn is_unoffered_operation(name: &str) -> bool {
    unoffered::is_operation(name)
}

/// Whether this is a type of the API that the service does not have.
pub fn is_unoffered(activity_type: &str) -> bool {
    unoffered::number(activity_type).is_some()
}

/// The number of a type of the API, whether or not the service has it. For filters.
pub fn number_of(activity_type: &str) -> Option<u16> {
    find(activity_type).map(|entry| entry.number).or_else(|| unoffered::number(activity_type))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_is_legal_and_stands_once() {
        let entries = all();
        assert_eq!(TABLE.by_type.len(), entries.len(), "a type stands twice");
        assert_eq!(TABLE.by_number.len(), entries.len(), "a number stands twice");
        for entry in entries {
            let described = entry.describe();
            assert!(described.description.ends_with('.'), "{} has no sentence", entry.activity_type);
            assert!(described.intent.contains("Intent"), "{}", described.intent);
            assert!(!is_unoffered(entry.activity_type), "{} is both offered and not", entry.activity_type);
        }
    }

    #[test]
    fn each_schema_is_bounded() {
        for entry in all() {
            let described = entry.describe();
            let mut open = Vec::new();
            unbounded(&described.parameters, "parameters", &mut open);
            assert!(open.is_empty(), "{}: {open:?}", entry.activity_type);
        }
    }

    /// Each string has a `maxLength`, an `enum` or a `const`, each list a `maxItems`.
    fn unbounded(schema: &serde_json::Value, path: &str, open: &mut Vec<String>) {
        let has = |member: &str| schema.get(member).is_some();
        let is = |name: &str| match schema.get("type") {
            Some(serde_json::Value::String(one)) => one == name,
            Some(serde_json::Value::Array(many)) => many.iter().any(|one| one == name),
            _ => false,
        };
        if is("string") && !(has("maxLength") || has("enum") || has("const")) {
            open.push(path.to_owned());
        }
        if is("array") && !has("maxItems") {
            open.push(path.to_owned());
        }
        match schema {
            serde_json::Value::Object(members) => {
                members.iter().for_each(|(name, inner)| unbounded(inner, &format!("{path}.{name}"), open));
            }
            serde_json::Value::Array(items) => items.iter().for_each(|inner| unbounded(inner, path, open)),
            _ => {}
        }
    }
}
