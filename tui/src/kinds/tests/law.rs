//! Tests the table of kinds against the daemon's catalogue: every type is described, and every member is
//! read.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};

use quorate_common::catalog::Catalog;
use serde_json::Value;

use super::super::{KINDS, of_type, schema};

/// Types of the daemon that no kind of the console describes.
const UNTOLD: [&str; 0] = [];
/// Members, as type and path, that only the console or only the daemon defines.
const APART: [(&str, &str); 0] = [];

fn catalog() -> Catalog {
    serde_json::from_str(include_str!("../../../../assets/catalog.json")).unwrap()
}

/// Collects the paths of the leaves of a JSON schema; `[]` marks a list.
fn json_paths(schema: &Value, path: &str, out: &mut BTreeSet<String>) {
    if let Some(choices) = schema["anyOf"].as_array() {
        // An optional value.
        let choices = choices.iter().filter(|choice| choice["type"] != "null");
        return choices.for_each(|choice| json_paths(choice, path, out));
    }
    if schema.get("items").is_some() {
        return json_paths(&schema["items"], &format!("{path}[]"), out);
    }
    let Some(members) = schema["properties"].as_object() else {
        out.extend(Some(path.to_owned()).filter(|path| !path.is_empty()));
        return;
    };
    for (name, member) in members {
        json_paths(member, &below(path, name), out);
    }
}

/// Collects the same paths from the console's own schema.
fn table_paths(text: &str, path: &str, out: &mut BTreeSet<String>) {
    for member in text.split(' ').filter(|member| !member.is_empty()) {
        match member.split_once(':') {
            Some((name, inside)) => table_paths(schema::named(inside).unwrap(), &below(path, name), out),
            None => drop(out.insert(below(path, member))),
        }
    }
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

#[test]
fn each_type_of_the_daemon_has_exactly_its_members() {
    let mut errors = Vec::new();
    for entry in catalog().kinds {
        let name = entry.activity_type.as_str();
        let Some((_, version)) = of_type(name) else {
            errors.extend((!UNTOLD.contains(&name)).then(|| format!("{name} is not described")));
            continue;
        };
        if entry.intent != version.intent {
            errors.push(format!("{name} is {}, not {}", entry.intent, version.intent));
        }
        let (mut theirs, mut ours) = (BTreeSet::new(), BTreeSet::new());
        json_paths(&entry.parameters, "", &mut theirs);
        table_paths(version.schema, "", &mut ours);
        let apart = theirs.symmetric_difference(&ours).filter(|path| !APART.contains(&(name, path.as_str())));
        errors.extend(apart.map(|path| format!("{name}: {path}")));
    }
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn table_has_no_duplicate_or_unknown_types() {
    let known: BTreeMap<String, String> =
        catalog().kinds.into_iter().map(|entry| (entry.activity_type, entry.intent)).collect();
    let mut seen = BTreeSet::new();
    for kind in KINDS {
        assert!(!kind.title().is_empty());
        for version in kind.versions() {
            assert!(seen.insert(version.activity_type), "{} occurs twice", version.activity_type);
            assert!(known.contains_key(version.activity_type), "the daemon has no {}", version.activity_type);
        }
    }
}

#[test]
fn each_version_has_an_example_in_the_snapshots() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/kinds/snapshots");
    let mut shown = BTreeSet::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let types = text.lines().filter(|line| line.starts_with("ACTIVITY_TYPE_"));
        shown.extend(types.map(str::to_owned));
    }
    let versions = KINDS.iter().flat_map(|kind| kind.versions());
    let missing: Vec<&str> =
        versions.map(|version| version.activity_type).filter(|name| !shown.contains(*name)).collect();
    assert!(missing.is_empty(), "{missing:#?}");
}
