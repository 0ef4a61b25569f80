//! Tests the table of kinds against the catalog: every operation is described, and every version is shown.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::collections::BTreeSet;

use super::super::*;

#[test]
fn each_operation_of_the_catalog_has_one_kind() {
    let operations: BTreeSet<&str> = catalog::all().map(|entry| kind_of(&entry.activity_type)).collect();
    let kinds: Vec<&str> = KINDS.iter().copied().flatten().map(|kind| kind.operation).collect();
    let known: BTreeSet<&str> = kinds.iter().copied().collect();
    assert_eq!(known.len(), kinds.len(), "an operation has two kinds");
    assert_eq!(known, operations);
    assert!(KINDS.iter().copied().flatten().all(|kind| !kind.title.is_empty()));
}

#[test]
fn abridged_members_and_hidden_types_exist() {
    for kind in KINDS.iter().copied().flatten() {
        let versions = || catalog::all().filter(|entry| kind_of(&entry.activity_type) == kind.operation);
        for (member, _) in kind.abridged {
            let path = format!("/properties/{}", member.replace("[].", "/items/properties/"));
            assert!(versions().any(|entry| entry.parameters.pointer(&path).is_some()), "{member}");
        }
        let is_version = |name: &&str| versions().any(|entry| entry.activity_type == **name);
        assert!(kind.hidden.is_none_or(|(types, _)| types.iter().all(is_version)));
    }
}

#[test]
fn summaries_begin_with_the_danger() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/kinds/snapshots");
    for file in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let rows: Vec<&str> = text.lines().collect();
        let summaries = rows.windows(2).filter(|pair| pair[0].starts_with("ACTIVITY_TYPE_"));
        for (_, brief) in summaries.filter_map(|pair| pair[1].split_once(" | ")) {
            // Lists cut the end of a summary, which is where long ids belong.
            let is_id = |word: &&str| word.chars().count() > 25 && !word.contains('/');
            let before = brief.split(' ').take_while(|word| !is_id(word)).count();
            let late = brief.split(' ').skip(before).any(|word| word == "[!]");
            assert!(!late, "{brief}");
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
    let types = catalog::all().map(|entry| entry.activity_type.as_str());
    let missing: Vec<&str> = types.filter(|name| !shown.contains(*name)).collect();
    assert!(missing.is_empty(), "{missing:#?}");
}
