//! Which crates a package may never reach, however indirectly: the borders of the design.

use std::collections::BTreeSet;
use std::process::Command;

use crate::packages;
use crate::tree::{self, none};

/// What the pure packages stay away from: threads and waiting, the network, the disk, the terminal.
const IMPURE: &[&str] = &["tokio", "hyper", "sled", "interprocess", "ratatui", "crossterm"];

/// Package, and the crates that it never reaches over normal dependencies.
const NEVER: &[(&str, &[&str])] = &[
    ("quorate-common", IMPURE),
    ("quorate-chain", IMPURE),
    ("quorate-core", IMPURE),
    ("quorate-policy", IMPURE),
    ("quorate-policy", &["quorate-chain"]),
    ("quorate-core", &["quorated", "quorate"]),
    ("quorate", &["quorate-core", "sled", "quorated"]),
    ("quorated", &["ratatui", "crossterm", "quorate"]),
    // Fail points are for tests: what is released has none.
    ("quorated", &["fail"]),
];

#[test]
fn forbidden_crates_are_out_of_reach() {
    let lock = tree::read("Cargo.lock");
    let mut flaws = Vec::new();
    for (package, crates) in NEVER {
        let reached = reached_from(package);
        assert!(reached.contains(*package), "the tree of {package} starts with itself");
        for name in *crates {
            // A misspelt name would never be reached.
            assert!(lock.contains(&format!("\nname = \"{name}\"\n")), "nothing here is called {name}");
            if reached.contains(*name) {
                flaws.push(format!("{package} reaches {name}: cargo tree -p {package} -e normal -i {name}"));
            }
        }
    }
    none(&flaws, "a border of the design is crossed");
}

#[test]
fn nothing_depends_on_the_tests() {
    let mut flaws = Vec::new();
    for package in packages::all().iter().filter(|package| !package.folder.starts_with("tests")) {
        for dependency in package.dependencies() {
            let is_test = packages::all()
                .iter()
                .any(|other| other.folder.starts_with("tests") && other.name == dependency.name);
            if is_test {
                flaws.push(format!("{} depends on {}", package.name, dependency.name));
            }
        }
    }
    none(&flaws, "packages under tests/ are used by nothing outside of it");
}

/// Names of all crates that a package reaches over normal dependencies, on any system.
pub(crate) fn reached_from(package: &str) -> BTreeSet<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments =
        ["tree", "--locked", "-p", package, "-e", "normal", "--target", "all", "--prefix", "none"];
    let output = Command::new(cargo).current_dir(tree::root()).args(arguments).output().expect("cargo runs");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo tree -p {package}: {complaint}");
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}
