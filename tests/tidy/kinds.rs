//! The table of kinds against its folder: what has a file has its rows, and what has a row has its file.

use std::collections::BTreeMap;

use syn::visit::{self, Visit};

use crate::tree::{self, Source, none};

const FOLDER: &str = "daemon/core/src/kinds/";

#[test]
fn each_kind_is_registered() {
    let sources = tree::sources();
    let kinds: Vec<&Source> = sources.iter().filter(|source| source.path.starts_with(FOLDER)).collect();
    let table = the(&kinds, "mod.rs");
    let groups = modules(table);
    let listed = paths_ending_in(table, "ENTRIES");
    let mut flaws = Vec::new();
    let folders =
        kinds.iter().filter_map(|source| Some(source.path.strip_prefix(FOLDER)?.split_once('/')?.0));
    let folders: std::collections::BTreeSet<&str> = folders.collect();
    for folder in &folders {
        if !groups.iter().any(|group| group == folder) {
            flaws.push(format!("{folder}/ is no module of the table"));
        }
        if !listed.iter().any(|group| group == folder) {
            flaws.push(format!("the table does not list {folder}::ENTRIES"));
        }
        flaws.extend(check_group(folder, &kinds));
    }
    none(&flaws, "folder and table of kinds differ");
}

fn the<'a>(kinds: &[&'a Source], name: &str) -> &'a Source {
    let path = format!("{FOLDER}{name}");
    kinds.iter().find(|source| source.path == path).unwrap_or_else(|| panic!("{path} is not there"))
}

/// The files and rows of one noun.
fn check_group(folder: &str, kinds: &[&Source]) -> Vec<String> {
    let mut flaws = Vec::new();
    let group = the(kinds, &format!("{folder}/mod.rs"));
    let mut rows = Rows::default();
    rows.visit_file(&group.syntax);
    let mut forms: BTreeMap<String, usize> = BTreeMap::new();
    let prefix = format!("{FOLDER}{folder}/");
    for source in kinds.iter().filter(|source| !source.is_test) {
        let Some(rest) = source.path.strip_prefix(&prefix) else { continue };
        let kind = rest.split('/').next().unwrap_or(rest).trim_end_matches(".rs");
        if kind != "mod" {
            *forms.entry(kind.to_owned()).or_default() += forms_in(source);
        }
    }
    let declared = modules(group);
    for (kind, count) in &forms {
        let registered = rows.0.get(kind).copied().unwrap_or(0);
        if !declared.contains(kind) {
            flaws.push(format!("{folder}/mod.rs does not have `mod {kind};`"));
        }
        if *count == 0 {
            flaws.push(format!("{folder}/{kind} has no form"));
        }
        if registered != *count {
            flaws.push(format!("{folder}/{kind} has {count} forms, {registered} rows in {folder}/mod.rs"));
        }
    }
    let fileless = rows.0.keys().filter(|kind| !forms.contains_key(*kind));
    flaws.extend(fileless.map(|kind| format!("{folder}/mod.rs has a row of {kind}, which has no file")));
    flaws
}

/// Names of the modules that a file declares.
fn modules(source: &Source) -> Vec<String> {
    let modules = source.syntax.items.iter().filter_map(|item| match item {
        syn::Item::Mod(module) => Some(module.ident.to_string()),
        _ => None,
    });
    modules.collect()
}

/// The segment before a last segment of this name, for each path in a file.
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

/// How many times a file implements `Form`.
fn forms_in(source: &Source) -> usize {
    struct Forms(usize);
    impl<'ast> Visit<'ast> for Forms {
        fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
            let of = item.trait_.as_ref().and_then(|(_, path, _)| path.segments.last());
            self.0 += usize::from(of.is_some_and(|last| last.ident == "Form"));
        }
    }
    let mut forms = Forms(0);
    forms.visit_file(&source.syntax);
    forms.0
}
