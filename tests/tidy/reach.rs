//! Crates that a package must never depend on, not even indirectly.

use std::collections::BTreeSet;
use std::process::Command;

use crate::packages;
use crate::tree::{self, none};

/// Crates that pure packages never use: threads and async runtimes, network, disk, terminal.
const IMPURE: &[&str] =
    &["tokio", "hyper", "sled", "redb", "tokio-postgres", "interprocess", "ratatui", "crossterm"];

/// Packages, and the crates that they never reach over normal dependencies.
const NEVER: &[(&str, &[&str])] = &[
    ("quorate-common", IMPURE),
    ("quorate-chain", IMPURE),
    ("quorate-core", IMPURE),
    ("quorate-policy", IMPURE),
    ("quorate-policy", &["quorate-chain"]),
    ("quorate-core", &["quorated", "quorate"]),
    ("quorate", &["quorate-core", "sled", "redb", "tokio-postgres", "quorated"]),
    ("quorated", &["ratatui", "crossterm", "quorate"]),
    // Fail points are for tests. A release has none.
    ("quorated", &["fail"]),
];

#[test]
fn forbidden_crates_are_unreachable() {
    let lock = tree::read("Cargo.lock");
    let mut violations = Vec::new();
    for (package, crates) in NEVER {
        let reached = reached_from(package);
        assert!(reached.contains(*package), "the tree of {package} starts with itself");
        for name in *crates {
            // Detects misspelt names, which would never be reached.
            assert!(lock.contains(&format!("\nname = \"{name}\"\n")), "no package has the name {name}");
            if reached.contains(*name) {
                violations
                    .push(format!("{package} reaches {name}: cargo tree -p {package} -e normal -i {name}"));
            }
        }
    }
    none(&violations, "a package depends on a forbidden crate");
}

#[test]
fn no_licence_exception_is_shipped() {
    let deny: toml::Table = toml::from_str(&tree::read("deny.toml")).expect("deny.toml can be read");
    let exceptions = deny["licenses"]["exceptions"].as_array().expect("a list");
    let mut violations = Vec::new();
    for package in ["quorated", "quorate"] {
        let reached = reached_from(package);
        let names = exceptions.iter().map(|one| one["crate"].as_str().expect("a name"));
        violations.extend(
            names.filter(|name| reached.contains(*name)).map(|name| format!("{package} ships {name}")),
        );
    }
    none(&violations, "an exception in deny.toml is for packages of tests only");
}

#[test]
fn no_package_depends_on_test_packages() {
    let mut violations = Vec::new();
    for package in packages::all().iter().filter(|package| !package.folder.starts_with("tests")) {
        for dependency in package.dependencies() {
            let is_test = packages::all()
                .iter()
                .any(|other| other.folder.starts_with("tests") && other.name == dependency.name);
            if is_test {
                violations.push(format!("{} depends on {}", package.name, dependency.name));
            }
        }
    }
    none(&violations, "packages under tests/ are used only there");
}

/// Returns the names of all crates that a package reaches over normal dependencies, on any system.
fn reached_from(package: &str) -> BTreeSet<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments =
        ["tree", "--locked", "-p", package, "-e", "normal", "--target", "all", "--prefix", "none"];
    let output = Command::new(cargo).current_dir(tree::root()).args(arguments).output().expect("cargo runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo tree -p {package}: {stderr}");
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}
