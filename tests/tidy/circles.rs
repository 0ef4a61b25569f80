//! Finds circles between the modules of a crate: modules that cannot be read, tested or moved one by one.
//!
//! At every level of a crate, the modules that one parent declares are compared, each with all that is below
//! it. A module depends on another if it names something of it, also where the parent exports the name. What
//! a parent and its own children take from each other is no circle: the parent is their common ground.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::Visit;

use crate::mentions::{Mentions, module_of};
use crate::tree::{self, none};

/// The folders of the checked crates. A new crate is added here.
const CRATES: [&str; 6] =
    ["common/chain/src/", "common/policy/src/", "common/src/", "daemon/core/src/", "daemon/src/", "tui/src/"];

/// A module by the names of its path, starting with `crate`.
type Path = Vec<String>;

/// What one module names.
#[derive(Default)]
struct Module {
    paths: Vec<Path>,
    imports: BTreeMap<String, Path>,
}

#[test]
fn modules_have_no_circles() {
    let sources = tree::sources();
    let mut violations = Vec::new();
    for folder in CRATES {
        let files = sources.iter().filter(|source| !source.is_test && source.path.starts_with(folder));
        let files = files.map(|source| (module_of(&source.path), &source.syntax));
        violations.extend(circles(files).iter().map(|circle| format!("{folder}: {circle}")));
    }
    none(&violations, "modules depend on each other in a circle; move what both need to a module below them");
}

/// Returns a description of each circle.
fn circles<'a>(files: impl IntoIterator<Item = (Path, &'a syn::File)>) -> Vec<String> {
    let mut modules: BTreeMap<Path, Module> = BTreeMap::new();
    for (path, syntax) in files {
        let mut mentions = Mentions::new(path.clone(), false);
        mentions.visit_file(syntax);
        let module = modules.entry(path).or_default();
        module.paths.extend(mentions.paths);
        module.imports.extend(mentions.imports);
    }
    let mut levels: BTreeMap<&[String], Level<'_>> = BTreeMap::new();
    for (from, module) in &modules {
        for path in &module.paths {
            let Some(to) = resolve(&modules, from, path, 0) else { continue };
            let common = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
            if let (Some(one), Some(other)) = (from.get(common), to.get(common)) {
                let level = levels.entry(&from[..common]).or_default();
                let reason = format!("{} names {}", from[1..].join("::"), path.join("::"));
                level.entry(one).or_default().entry(other.clone()).or_insert(reason);
            }
        }
    }
    levels.values().flat_map(components).collect()
}

/// The dependencies of sibling modules, each with an example.
type Level<'a> = BTreeMap<&'a str, BTreeMap<String, String>>;

/// Returns the module to which a path leads, or `None` if it leaves the crate.
fn resolve(modules: &BTreeMap<Path, Module>, from: &[String], path: &[String], hops: usize) -> Option<Path> {
    let relative = || [from, path].concat();
    let absolute = if path.first()? == "crate" { path.to_vec() } else { relative() };
    let known = (1..=absolute.len()).rev().find(|length| modules.contains_key(&absolute[..*length]))?;
    if absolute.len() == path.len() || known > from.len() {
        let (module, rest) = absolute.split_at(known);
        let imported = rest.first().and_then(|name| modules[module].imports.get(name));
        if let Some(imported) = imported.filter(|_| hops < 8) {
            let target = [imported.as_slice(), &rest[1..]].concat();
            return resolve(modules, module, &target, hops + 1);
        }
        return Some(module.to_vec());
    }
    None
}

/// Returns the circles among siblings: sets of modules that all reach each other.
fn components(level: &Level<'_>) -> Vec<String> {
    let sets: BTreeMap<&str, BTreeSet<&str>> =
        level.keys().map(|name| (*name, reached_from(level, name))).collect();
    let reaches = |one: &str, other: &str| sets.get(one).is_some_and(|all| all.contains(other));
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for name in level.keys().filter(|name| reaches(name, name)) {
        let circle: Vec<&str> =
            level.keys().copied().filter(|other| reaches(name, other) && reaches(other, name)).collect();
        if seen.insert(circle.clone()) {
            let inside =
                |one: &&str| level[*one].iter().filter(|(other, _)| circle.contains(&other.as_str()));
            let reasons = circle.iter().flat_map(inside).map(|(_, reason)| format!("\n    {reason}"));
            found.push(format!("{}{}", circle.join(", "), reasons.collect::<String>()));
        }
    }
    found
}

fn reached_from<'a>(level: &'a Level<'_>, start: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![start];
    while let Some(name) = open.pop() {
        for next in level.get(name).into_iter().flat_map(BTreeMap::keys) {
            if reached.insert(next.as_str()) {
                open.push(next);
            }
        }
    }
    reached
}

#[test]
fn the_check_finds_circles() {
    let check = |files: &[(&str, &str)]| {
        let parsed: Vec<(Path, syn::File)> = files
            .iter()
            .map(|(path, text)| (module_of(&format!("src/{path}")), syn::parse_str(text).expect("Rust")))
            .collect();
        let circles = circles(parsed.iter().map(|(path, file)| (path.clone(), file)));
        circles.iter().map(|text| text.lines().next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    let none: Vec<String> = Vec::new();
    let a_to_b = ("a.rs", "use crate::b::B;");
    assert_eq!(check(&[a_to_b, ("b.rs", "struct B(super::a::A);")]), ["a, b"]);
    assert_eq!(check(&[a_to_b, ("b.rs", "fn b() { vec![crate::a::A]; }")]), ["a, b"]);
    assert_eq!(check(&[a_to_b, ("b.rs", "struct B(#[serde(with = \"crate::a\")] u8);")]), ["a, b"]);
    assert_eq!(check(&[a_to_b, ("b.rs", "struct B;")]), none);
    assert_eq!(check(&[a_to_b, ("b.rs", "#[cfg(test)] mod tests { use crate::a::A; }")]), none);
    // Through a third module, a module below, and a name that the parent exports.
    assert_eq!(
        check(&[a_to_b, ("b/c.rs", "use crate::d;"), ("b.rs", "mod c;"), ("d.rs", "use crate::a;")]),
        ["a, b, d"]
    );
    let exports = ("lib.rs", "mod a; mod b; pub use a::A; pub use self::b::B;");
    assert_eq!(check(&[exports, ("a.rs", "use crate::B;"), ("b.rs", "use crate::A;")]), ["a, b"]);
    // A parent and its children.
    assert_eq!(check(&[("a.rs", "mod b; pub use b::B; struct A;"), ("a/b.rs", "use super::A;")]), none);
}
