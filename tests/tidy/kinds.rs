//! Compares the table of kinds with its folder: each file has its rows, and each row has its file.

use std::collections::BTreeMap;

use syn::visit::{self, Visit};

use crate::tree::{self, Source, none};

const FOLDER: &str = "daemon/core/src/kinds/";

#[test]
fn every_kind_is_registered() {
    let sources = tree::sources();
    let kinds: Vec<&Source> = sources.iter().filter(|source| source.path.starts_with(FOLDER)).collect();
    let table = find(&kinds, "mod.rs");
    let groups = modules(table);
    let listed = paths_ending_in(table, "ENTRIES");
    let mut violations = Vec::new();
    let folders =
        kinds.iter().filter_map(|source| Some(source.path.strip_prefix(FOLDER)?.split_once('/')?.0));
    let folders: std::collections::BTreeSet<&str> = folders.collect();
    for folder in &folders {
        if !groups.iter().any(|group| group == folder) {
            violations.push(format!("{folder}/ is not a module of the table"));
        }
        if !listed.iter().any(|group| group == folder) {
            violations.push(format!("the table does not list {folder}::ENTRIES"));
        }
        violations.extend(check_group(folder, &kinds));
    }
    // A noun of one kind may be one file.
    for source in kinds.iter().filter(|source| versions_in(source) > 0) {
        let Some(noun) = source.path[FOLDER.len()..].strip_suffix(".rs").filter(|noun| !noun.contains('/'))
        else {
            continue;
        };
        if !listed.iter().any(|group| group == noun) {
            violations.push(format!("the table does not list {noun}::ENTRIES"));
        }
        let mut rows = Rows::default();
        rows.visit_file(&source.syntax);
        if rows.0.values().sum::<usize>() != versions_in(source) {
            violations.push(format!("{noun}.rs has another number of versions than of rows"));
        }
    }
    none(&violations, "folder and table of kinds differ");
}

fn find<'a>(kinds: &[&'a Source], name: &str) -> &'a Source {
    let path = format!("{FOLDER}{name}");
    kinds.iter().find(|source| source.path == path).unwrap_or_else(|| panic!("{path} does not exist"))
}

/// Checks the files and rows of one noun.
fn check_group(folder: &str, kinds: &[&Source]) -> Vec<String> {
    let mut violations = Vec::new();
    let group = find(kinds, &format!("{folder}/mod.rs"));
    let mut rows = Rows::default();
    rows.visit_file(&group.syntax);
    let mut versions: BTreeMap<String, usize> = BTreeMap::new();
    let prefix = format!("{FOLDER}{folder}/");
    for source in kinds.iter().filter(|source| !source.is_test) {
        let Some(rest) = source.path.strip_prefix(&prefix) else { continue };
        let kind = rest.split('/').next().unwrap_or(rest).trim_end_matches(".rs");
        if kind != "mod" {
            *versions.entry(kind.to_owned()).or_default() += versions_in(source);
        }
    }
    let declared = modules(group);
    for (kind, count) in &versions {
        let registered = rows.0.get(kind).copied().unwrap_or(0);
        if !declared.contains(kind) {
            violations.push(format!("{folder}/mod.rs does not have `mod {kind};`"));
        }
        if *count == 0 {
            violations.push(format!("{folder}/{kind} has no version"));
        }
        if registered != *count {
            violations
                .push(format!("{folder}/{kind} has {count} versions, {registered} rows in {folder}/mod.rs"));
        }
    }
    let missing = rows.0.keys().filter(|kind| !versions.contains_key(*kind));
    violations.extend(missing.map(|kind| format!("{folder}/mod.rs has a row of {kind}, which has no file")));
    violations
}

/// Returns the names of the modules that a file declares.
fn modules(source: &Source) -> Vec<String> {
    let modules = source.syntax.items.iter().filter_map(|item| match item {
        syn::Item::Mod(module) => Some(module.ident.to_string()),
        _ => None,
    });
    modules.collect()
}

/// Returns the segment before the last one for each path that ends in `last`.
fn paths_ending_in(source: &Source, last: &str) -> Vec<String> {
    struct Paths<'a>(&'a str, Vec<String>);
    impl<'ast> Visit<'ast> for Paths<'_> {
        fn visit_path(&mut self, path: &'ast syn::Path) {
            let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            if let [.., before, end] = names.as_slice()
                && end == self.0
            {
                self.1.push(before.clone());
            }
            visit::visit_path(self, path);
        }
    }
    let mut paths = Paths(last, Vec::new());
    paths.visit_file(&source.syntax);
    paths.1
}

/// Rows `entry::<kind::…>()`, counted by kind.
#[derive(Default)]
struct Rows(BTreeMap<String, usize>);

impl<'ast> Visit<'ast> for Rows {
    fn visit_path_segment(&mut self, segment: &'ast syn::PathSegment) {
        if segment.ident == "entry"
            && let syn::PathArguments::AngleBracketed(arguments) = &segment.arguments
            && let Some(syn::GenericArgument::Type(syn::Type::Path(form))) = arguments.args.first()
            && let Some(kind) = form.path.segments.first()
        {
            *self.0.entry(kind.ident.to_string()).or_default() += 1;
        }
        visit::visit_path_segment(self, segment);
    }
}

/// Returns how often a file implements `Version`.
fn versions_in(source: &Source) -> usize {
    struct Versions(usize);
    impl<'ast> Visit<'ast> for Versions {
        fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
            let of = item.trait_.as_ref().and_then(|(_, path, _)| path.segments.last());
            self.0 += usize::from(of.is_some_and(|last| last.ident == "Version"));
        }
    }
    let mut versions = Versions(0);
    versions.visit_file(&source.syntax);
    versions.0
}
