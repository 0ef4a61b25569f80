//! Licences of everything that is built, against the list in `deny.toml`.

use std::process::Command;

use serde_json::Value;
use toml::Table;

use crate::reach::reached_from;
use crate::tree::{self, none};

/// What users install.
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

/// Name and licence of every package in the lock file.
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
    let mut flaws = Vec::new();
    for (name, licence) in licences() {
        let own: Vec<&String> = rules
            .exceptions
            .iter()
            .filter(|(excepted, _)| *excepted == name)
            .flat_map(|(_, allowed)| allowed)
            .collect();
        let allowed =
            |id: &str| rules.allowed.iter().any(|one| one == id) || own.iter().any(|one| *one == id);
        if !holds(&licence, &allowed) {
            flaws.push(format!("{name}: {licence}"));
        }
    }
    none(&flaws, "a licence is not on the list of deny.toml");
}

#[test]
fn exceptions_are_needed_and_not_shipped() {
    let rules = rules();
    let known = licences();
    let mut flaws = Vec::new();
    for package in SHIPPED {
        // Only what is compiled: the lock file also holds what other systems and features would need.
        let reached = compiled_into(package);
        let shipped = rules.exceptions.iter().filter(|(name, _)| reached.iter().any(|one| one == name));
        flaws.extend(shipped.map(|(name, _)| format!("{package} ships {name}")));
    }
    for (name, _) in &rules.exceptions {
        if !known
            .iter()
            .any(|(one, licence)| one == name && !holds(licence, &|id| rules.allowed.iter().any(|a| a == id)))
        {
            flaws.push(format!("{name} needs no exception"));
        }
    }
    none(&flaws, "an exception covers what tests use, and nothing that users get");
}

fn compiled_into(package: &str) -> Vec<String> {
    reached_from(package).into_iter().collect()
}

/// Whether an SPDX expression holds when these licences are allowed. Reads `/` as `OR`, as old manifests do.
fn holds(expression: &str, allowed: &dyn Fn(&str) -> bool) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    let verdict = either(&mut rest, allowed);
    rest.is_empty() && verdict
}

fn either(words: &mut &[&str], allowed: &dyn Fn(&str) -> bool) -> bool {
    let mut verdict = both(words, allowed);
    while let ["OR", rest @ ..] = words {
        *words = rest;
        verdict |= both(words, allowed);
    }
    verdict
}

fn both(words: &mut &[&str], allowed: &dyn Fn(&str) -> bool) -> bool {
    let mut verdict = single(words, allowed);
    while let ["AND", rest @ ..] = words {
        *words = rest;
        verdict &= single(words, allowed);
    }
    verdict
}

fn single(words: &mut &[&str], allowed: &dyn Fn(&str) -> bool) -> bool {
    match words {
        ["(", rest @ ..] => {
            *words = rest;
            let verdict = either(words, allowed);
            let closed = matches!(words, [")", ..]);
            *words = words.get(1..).unwrap_or_default();
            closed && verdict
        }
        [id, "WITH", exception, rest @ ..] => {
            let whole = format!("{id} WITH {exception}");
            *words = rest;
            allowed(&whole)
        }
        [id, rest @ ..] => {
            let verdict = allowed(id);
            *words = rest;
            verdict
        }
        [] => false,
    }
}

#[test]
fn expressions_read_as_spdx_says() {
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
        assert_eq!(holds(expression, &allowed), expected, "{expression}");
    }
}
