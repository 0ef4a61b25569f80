//! The table of activity kinds: one folder per noun, one file per kind; a noun of one kind may be one file. To
//! add a kind, add its file, and two lines to the `mod.rs` of its noun.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use quorate_common::catalog::Gate;

use crate::kind::Entry;
use crate::view::CredentialScope;

pub mod access;
mod auth_proxy;
mod billing;
mod credentials;
mod invitations;
mod ip_allowlists;
mod mfa_policies;
mod oauth2;
mod one_time_codes;
mod organizations;
mod policies;
mod prelude;
mod private_keys;
mod recovery;
mod secrets;
mod session_profiles;
mod sessions;
mod signing;
mod smart_contract_interfaces;
mod tags;
mod unoffered;
mod users;
mod votes;
mod wallets;
mod webhook_endpoints;

const GROUPS: &[&[Entry]] = &[
    auth_proxy::ENTRIES,
    billing::ENTRIES,
    credentials::ENTRIES,
    invitations::ENTRIES,
    ip_allowlists::ENTRIES,
    mfa_policies::ENTRIES,
    oauth2::ENTRIES,
    one_time_codes::ENTRIES,
    organizations::ENTRIES,
    policies::ENTRIES,
    private_keys::ENTRIES,
    recovery::ENTRIES,
    secrets::ENTRIES,
    session_profiles::ENTRIES,
    sessions::ENTRIES,
    signing::ENTRIES,
    smart_contract_interfaces::ENTRIES,
    tags::ENTRIES,
    users::ENTRIES,
    votes::ENTRIES,
    wallets::ENTRIES,
    webhook_endpoints::ENTRIES,
];

static TABLE: LazyLock<Table> = LazyLock::new(Table::build);

struct Table {
    /// Rows, sorted by activity type.
    entries: Vec<Entry>,
    by_number: HashMap<u16, usize>,
    /// Operations, sorted by name.
    operations: Vec<Operation>,
}

/// An operation of the API: the last segment of a submit path, which all versions of a kind share.
pub struct Operation {
    name: String,
    versions: Vec<Entry>,
}

impl Operation {
    /// Returns the name of the operation.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the row of an activity type, if it is a version of this operation.
    pub fn version(&self, activity_type: &str) -> Option<&Entry> {
        self.versions.iter().find(|entry| entry.activity_type == activity_type)
    }

    /// Returns where the credential of a stamp is searched.
    pub fn scope(&self) -> CredentialScope {
        self.versions.first().map_or(CredentialScope::OrganizationAndParent, |entry| entry.scope)
    }

    /// Returns whether the operation creates organizations, and so does not act on an existing one.
    pub fn creates_organizations(&self) -> bool {
        self.has(Gate::Registrant)
    }

    fn has(&self, gate: Gate) -> bool {
        self.versions.iter().any(|entry| entry.gate == gate)
    }
}

impl Table {
    fn build() -> Self {
        let mut entries = GROUPS.concat();
        entries.sort_by_key(|entry| entry.activity_type);
        let by_number = entries.iter().enumerate().map(|(index, entry)| (entry.number, index)).collect();
        let mut versions: BTreeMap<String, Vec<Entry>> = BTreeMap::new();
        for entry in &entries {
            versions.entry(entry.operation()).or_default().push(*entry);
        }
        let operations = versions.into_iter().map(|(name, versions)| Operation { name, versions }).collect();
        Self { entries, by_number, operations }
    }
}

/// Returns all rows, sorted by activity type.
pub fn all() -> &'static [Entry] {
    &TABLE.entries
}

/// Looks up the row of an activity type.
pub fn find(activity_type: &str) -> Option<&'static Entry> {
    let found = TABLE.entries.binary_search_by_key(&activity_type, |entry| entry.activity_type);
    TABLE.entries.get(found.ok()?)
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

/// Looks up an operation by name.
pub fn operation(name: &str) -> Option<&'static Operation> {
    let found = TABLE.operations.binary_search_by(|operation| operation.name.as_str().cmp(name));
    TABLE.operations.get(found.ok()?)
}

/// Returns whether this is an operation of the API that the service does not offer.
pub fn is_unoffered_operation(name: &str) -> bool {
    operation(name).is_none() && unoffered::is_operation(name)
}

/// Returns whether this is an activity type of the API that the service does not offer.
pub fn is_unoffered(activity_type: &str) -> bool {
    find(activity_type).is_none() && unoffered::number(activity_type).is_some()
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
        assert!(entries.is_sorted_by(|one, next| one.activity_type < next.activity_type), "duplicate type");
        for Operation { name, versions } in &TABLE.operations {
            let gate = versions.first().map(|first| first.gate);
            assert!(versions.iter().all(|one| Some(one.gate) == gate), "the gates of {name} differ");
        }
        assert_eq!(TABLE.by_number.len(), entries.len(), "duplicate number");
        for entry in entries {
            let described = entry.describe();
            assert!(described.description.ends_with('.'), "{} has no description", entry.activity_type);
            assert!(described.intent.contains("Intent"), "{}", described.intent);
            let listed = unoffered::number(entry.activity_type);
            assert!(listed.is_none_or(|number| number == entry.number), "{}", entry.activity_type);
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
