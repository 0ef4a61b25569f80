//! Manifests: versions stand in the workspace only, lints come from it, and nothing is asked for in vain.

use toml::{Table, Value};

use crate::tree::{self, none};

/// Manifests of workspaces of their own, so that building this one does not ask for what they need: libFuzzer wants a C++
/// compiler and instrumented code.
const APART: [&str; 1] = ["tests/fuzz/libfuzzer/Cargo.toml"];

/// A package of the workspace.
pub(crate) struct Package {
    /// Its name.
    pub(crate) name: String,
    /// Its folder, from the root.
    pub(crate) folder: String,
    /// Its manifest.
    pub(crate) manifest: Table,
}

/// A dependency as a package asks for it.
pub(crate) struct Dependency {
    /// Name in the manifest.
    pub(crate) name: String,
    /// What stands behind it.
    pub(crate) asked: Value,
}

impl Package {
    /// Dependencies of every kind, for every system.
    pub(crate) fn dependencies(&self) -> Vec<Dependency> {
        let mut tables = vec![&self.manifest];
        let targets = self.manifest.get("target").and_then(Value::as_table);
        tables.extend(targets.into_iter().flat_map(|targets| targets.values()).filter_map(Value::as_table));
        let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
        let found =
            tables.iter().flat_map(|table| kinds.iter().filter_map(|kind| table.get(*kind)?.as_table()));
        let rows = found.flat_map(|table| table.iter());
        rows.map(|(name, asked)| Dependency { name: name.clone(), asked: asked.clone() }).collect()
    }
}

fn manifest(path: &str) -> Table {
    toml::from_str(&tree::read(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn workspace() -> Table {
    manifest("Cargo.toml")["workspace"].as_table().expect("a workspace").clone()
}

/// All packages of the workspace.
pub(crate) fn all() -> Vec<Package> {
    let workspace = workspace();
    let members = workspace["members"].as_array().expect("members").iter();
    let folders = members.map(|member| member.as_str().expect("a folder").to_owned());
    let packages = folders.map(|folder| {
        let manifest = manifest(&format!("{folder}/Cargo.toml"));
        let name = manifest["package"]["name"].as_str().expect("a name").to_owned();
        Package { name, folder, manifest }
    });
    packages.collect()
}

#[test]
fn every_manifest_is_a_member() {
    let members: Vec<String> = all().iter().map(|package| format!("{}/Cargo.toml", package.folder)).collect();
    let manifests = tree::files().into_iter().filter(|path| path.ends_with("/Cargo.toml"));
    let others = manifests.filter(|path| !members.contains(path));
    let flaws: Vec<String> = others.filter(|path| !APART.contains(&path.as_str())).collect();
    none(&flaws, "each package is a member of the workspace");
    let apart = APART.iter().filter(|path| !manifest(path).contains_key("workspace"));
    let flaws: Vec<String> = apart.map(|path| (*path).to_owned()).collect();
    none(&flaws, "what stands apart is a workspace of its own");
}

#[test]
fn versions_stand_in_the_workspace_only() {
    let mut flaws = Vec::new();
    for package in all() {
        for Dependency { name, asked } in package.dependencies() {
            let table = asked.as_table();
            let inherits = table.is_some_and(|table| table.get("workspace") == Some(&Value::Boolean(true)));
            let own = ["version", "path", "git", "registry"];
            if !inherits || table.is_some_and(|table| own.iter().any(|key| table.contains_key(*key))) {
                flaws.push(format!("{}: {name}", package.name));
            }
        }
    }
    none(&flaws, "a package writes `name.workspace = true`");
}

#[test]
fn every_package_inherits() {
    let mut flaws = Vec::new();
    for package in all() {
        let inherited = |table: Option<&Value>| {
            table.and_then(|value| value.get("workspace")) == Some(&Value::Boolean(true))
        };
        if !inherited(package.manifest.get("lints")) {
            flaws.push(format!("{}: [lints] workspace = true", package.name));
        }
        for key in ["version", "edition", "rust-version", "license", "publish"] {
            if !inherited(package.manifest["package"].get(key)) {
                flaws.push(format!("{}: {key}.workspace = true", package.name));
            }
        }
    }
    none(&flaws, "lints and the facts of a package come from the workspace");
}

#[test]
fn nothing_is_asked_for_in_vain() {
    let mut flaws = Vec::new();
    let packages = all();
    let sources = tree::sources();
    for package in &packages {
        let inner = packages.iter().filter(|other| other.folder.starts_with(&format!("{}/", package.folder)));
        let inner: Vec<String> = inner.map(|other| format!("{}/", other.folder)).collect();
        let own = sources.iter().filter(|source| {
            source.path.starts_with(&format!("{}/", package.folder))
                && !inner.iter().any(|folder| source.path.starts_with(folder.as_str()))
        });
        let mut texts: Vec<&str> = own.map(|source| source.text.as_str()).collect();
        // A file of another package that this one takes in by its path.
        let is_taken_in = |path: &str| texts.iter().any(|text| text.contains(&format!("/{path}\"]")));
        let taken = sources.iter().filter(|source| is_taken_in(&source.path));
        let taken: Vec<&str> = taken.map(|source| source.text.as_str()).collect();
        texts.extend(taken);
        for dependency in package.dependencies() {
            let name = dependency.name.replace('-', "_");
            if !texts.iter().any(|text| names(text, &name)) {
                flaws.push(format!("{}: {}", package.name, dependency.name));
            }
        }
    }
    let asked: Vec<String> = packages.iter().flat_map(Package::dependencies).map(|one| one.name).collect();
    let offered = workspace()["dependencies"].as_table().expect("dependencies").clone();
    let idle = offered.keys().filter(|name| !asked.contains(name));
    flaws.extend(idle.map(|name| format!("Cargo.toml: {name}")));
    none(&flaws, "a dependency is used by the package that asks for it");
}

/// Whether a text names a crate: as a whole word followed by `::`, `;`, ` as` or `}`.
fn names(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = &text[at + name.len()..];
        let starts = !before.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
        starts && ["::", ";", " as ", "}"].iter().any(|end| after.starts_with(end))
    })
}
