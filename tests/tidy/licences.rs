//! Checks the licences of all packages against the list in `deny.toml`.

use std::process::Command;

use serde_json::Value;
use toml::Table;

use crate::reach::reached_from;
use crate::tree::{self, none};

/// Packages that users install.
const SHIPPED: [&str; 2] = ["quorated", "quorate"];

struct Rules {
    allowed: Vec<String>,
    exceptions: Vec<(String, Vec<String>)>,
}

fn rules() -> Rules {
    let deny: Table = toml::from_str(&tree::read("deny.toml")).expect("deny.toml can be read");
    let texts = |value: &toml::Value| -> Vec<String> {
        let items = value.as_array().expect("a list").iter();
        items.map(|item| item.as_str().expect("a text").to_owned()).collect()
    };
    let licences = &deny["licenses"];
    let exceptions = licences["exceptions"].as_array().expect("a list").iter();
    let exceptions =
        exceptions.map(|one| (one["crate"].as_str().expect("a name").to_owned(), texts(&one["allow"])));
    Rules { allowed: texts(&licences["allow"]), exceptions: exceptions.collect() }
}

/// Returns name and licence of every package in the lock file.
fn licences() -> Vec<(String, String)> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = ["metadata", "--locked", "--format-version", "1"];
    let output = Command::new(cargo).current_dir(tree::root()).args(arguments).output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("metadata is JSON");
    let packages = metadata["packages"].as_array().expect("packages").iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    packages.map(|package| (text(&package["name"]), text(&package["license"]))).collect()
}

#[test]
fn every_licence_is_allowed() {
    let rules = rules();
    let mut violations = Vec::new();
    for (name, licence) in licences() {
        let own: Vec<&String> = rules
            .exceptions
            .iter()
            .filter(|(excepted, _)| *excepted == name)
            .flat_map(|(_, allowed)| allowed)
            .collect();
        let allowed =
            |id: &str| rules.allowed.iter().any(|one| one == id) || own.iter().any(|one| *one == id);
        if !is_satisfied(&licence, &allowed) {
            violations.push(format!("{name}: {licence}"));
        }
    }
    none(&violations, "a licence is not on the list of deny.toml");
}

#[test]
fn exceptions_are_needed_and_never_shipped() {
    let rules = rules();
    let licences = licences();
    let mut violations = Vec::new();
    for package in SHIPPED {
        // Counts only what is compiled: the lock file also has packages for other systems and features.
        let reached = compiled_into(package);
        let shipped = rules.exceptions.iter().filter(|(name, _)| reached.iter().any(|one| one == name));
        violations.extend(shipped.map(|(name, _)| format!("{package} ships {name}")));
    }
    for (name, _) in &rules.exceptions {
        if !licences.iter().any(|(one, licence)| {
            one == name && !is_satisfied(licence, &|id| rules.allowed.iter().any(|a| a == id))
        }) {
            violations.push(format!("{name} needs no exception"));
        }
    }
    none(&violations, "an exception is for packages of tests only, never for packages that users install");
}

fn compiled_into(package: &str) -> Vec<String> {
    reached_from(package).into_iter().collect()
}

/// Returns whether an SPDX expression is satisfied by the allowed licences. Reads `/` as `OR`, as old
/// manifests do.
fn is_satisfied(expression: &str, allowed: &dyn Fn(&str) -> bool) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    let result = either(&mut rest, allowed);
    rest.is_empty() && result
}

fn either(words: &mut &[&str], allowed: &dyn Fn(&str) -> bool) -> bool {
    let mut result = both(words, allowed);
    while let ["OR", rest @ ..] = words {
        *words = rest;
        result |= both(words, allowed);
    }
    result
}

fn both(words: &mut &[&str], allowed: &dyn Fn(&str) -> bool) -> bool {
    let mut result = single(words, allowed);
    while let ["AND", rest @ ..] = words {
        *words = rest;
        result &= single(words, allowed);
    }
    result
}

fn single(words: &mut &[&str], allowed: &dyn Fn(&str) -> bool) -> bool {
    match words {
        ["(", rest @ ..] => {
            *words = rest;
            let result = either(words, allowed);
            let closed = matches!(words, [")", ..]);
            *words = words.get(1..).unwrap_or_default();
            closed && result
        }
        [id, "WITH", exception, rest @ ..] => {
            let whole = format!("{id} WITH {exception}");
            *words = rest;
            allowed(&whole)
        }
        [id, rest @ ..] => {
            let result = allowed(id);
            *words = rest;
            result
        }
        [] => false,
    }
}

#[test]
fn evaluates_spdx_expressions() {
    let allowed = |id: &str| ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"].contains(&id);
    for (expression, expected) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("", false),
        ("MIT OR GPL-3.0", true),
        ("GPL-3.0/MIT", true),
        ("MIT AND GPL-3.0", false),
        ("(MIT OR GPL-3.0) AND ISC", true),
        ("MIT OR GPL-3.0 AND BSD-4-Clause", true),
        ("(MIT OR GPL-3.0) AND BSD-4-Clause", false),
        ("Apache-2.0 WITH LLVM-exception", true),
        ("Apache-2.0", false),
        ("(MIT", false),
    ] {
        assert_eq!(is_satisfied(expression, &allowed), expected, "{expression}");
    }
}
