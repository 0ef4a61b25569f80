//! The table of kinds against the daemon's catalogue: no type is left untold, no member is left unread.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};

use quorate_common::catalog::Catalog;
use serde_json::Value;

use super::super::{KINDS, of_type, shape};

/// Types of the daemon that no kind of the console tells.
const UNTOLD: [&str; 0] = [];
/// Members, as type and path, that the console reads though the daemon does not have them, or the other way round.
const APART: [(&str, &str); 0] = [];

fn catalog() -> Catalog {
    serde_json::from_str(include_str!("../../../../assets/catalog.json")).unwrap()
}

/// Paths of the leaves of a schema: names, `[]` behind what is a list.
fn of_schema(schema: &Value, path: &str, out: &mut BTreeSet<String>) {
    if let Some(choices) = schema["anyOf"].as_array() {
        // A value that may be absent.
        let choices = choices.iter().filter(|choice| choice["type"] != "null");
        return choices.for_each(|choice| of_schema(choice, path, out));
    }
    if schema.get("items").is_some() {
        return of_schema(&schema["items"], &format!("{path}[]"), out);
    }
    let Some(members) = schema["properties"].as_object() else {
        out.extend(Some(path.to_owned()).filter(|path| !path.is_empty()));
        return;
    };
    for (name, member) in members {
        of_schema(member, &below(path, name), out);
    }
}

/// The same of a shape.
fn of_shape(text: &str, path: &str, out: &mut BTreeSet<String>) {
    for member in text.split(' ').filter(|member| !member.is_empty()) {
        match member.split_once(':') {
            Some((name, inside)) => of_shape(shape::named(inside).unwrap(), &below(path, name), out),
            None => drop(out.insert(below(path, member))),
        }
    }
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

#[test]
fn each_type_of_the_daemon_is_told_with_exactly_its_members() {
    let mut flaws = Vec::new();
    for entry in catalog().kinds {
        let name = entry.activity_type.as_str();
        let Some((_, version)) = of_type(name) else {
            flaws.extend((!UNTOLD.contains(&name)).then(|| format!("{name} is not told")));
            continue;
        };
        if entry.intent != version.intent {
            flaws.push(format!("{name} is {}, not {}", entry.intent, version.intent));
        }
        let (mut theirs, mut ours) = (BTreeSet::new(), BTreeSet::new());
        of_schema(&entry.parameters, "", &mut theirs);
        of_shape(version.shape, "", &mut ours);
        let apart = theirs.symmetric_difference(&ours).filter(|path| !APART.contains(&(name, path.as_str())));
        flaws.extend(apart.map(|path| format!("{name}: {path}")));
    }
    assert!(flaws.is_empty(), "{flaws:#?}");
}

#[test]
fn the_table_is_sound() {
    let known: BTreeMap<String, String> =
        catalog().kinds.into_iter().map(|entry| (entry.activity_type, entry.intent)).collect();
    let mut seen = BTreeSet::new();
    for kind in KINDS {
        assert!(!kind.title().is_empty());
        for version in kind.versions() {
            assert!(seen.insert(version.activity_type), "{} stands twice", version.activity_type);
            assert!(known.contains_key(version.activity_type), "the daemon has no {}", version.activity_type);
        }
    }
}

#[test]
fn each_version_has_an_example_that_people_read() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/kinds/snapshots");
    let mut told = BTreeSet::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let types = text.lines().filter(|line| line.starts_with("ACTIVITY_TYPE_"));
        told.extend(types.map(str::to_owned));
    }
    let versions = KINDS.iter().flat_map(|kind| kind.versions());
    let silent: Vec<&str> =
        versions.map(|version| version.activity_type).filter(|name| !told.contains(*name)).collect();
    assert!(silent.is_empty(), "{silent:#?}");
}
