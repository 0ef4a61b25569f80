//! Manifests: the workspace alone sets versions and lints, and every dependency is used.

use toml::{Table, Value};

use crate::tree::{self, none};

/// Manifests of separate workspaces, so that a build of this one does not need their requirements: libFuzzer
/// needs a C++ compiler and instrumented code.
const SEPARATE: [&str; 1] = ["tests/fuzz/libfuzzer/Cargo.toml"];

/// A package of the workspace.
pub(crate) struct Package {
    pub(crate) name: String,
    /// Path of its folder, from the root.
    pub(crate) folder: String,
    pub(crate) manifest: Table,
}

/// A dependency as a manifest declares it.
pub(crate) struct Dependency {
    /// Name in the manifest.
    pub(crate) name: String,
    /// Value in the manifest.
    pub(crate) spec: Value,
}

impl Package {
    /// Returns the dependencies of every kind, for every system.
    pub(crate) fn dependencies(&self) -> Vec<Dependency> {
        let mut tables = vec![&self.manifest];
        let targets = self.manifest.get("target").and_then(Value::as_table);
        tables.extend(targets.into_iter().flat_map(|targets| targets.values()).filter_map(Value::as_table));
        let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
        let dependency_tables =
            tables.iter().flat_map(|table| kinds.iter().filter_map(|kind| table.get(*kind)?.as_table()));
        let rows = dependency_tables.flat_map(|table| table.iter());
        rows.map(|(name, spec)| Dependency { name: name.clone(), spec: spec.clone() }).collect()
    }
}

fn manifest(path: &str) -> Table {
    toml::from_str(&tree::read(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn workspace() -> Table {
    manifest("Cargo.toml")["workspace"].as_table().expect("a workspace").clone()
}

/// Returns all packages of the workspace.
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
fn every_package_is_a_workspace_member() {
    let members: Vec<String> = all().iter().map(|package| format!("{}/Cargo.toml", package.folder)).collect();
    let manifests = tree::files().into_iter().filter(|path| path.ends_with("/Cargo.toml"));
    let others = manifests.filter(|path| !members.contains(path));
    let violations: Vec<String> = others.filter(|path| !SEPARATE.contains(&path.as_str())).collect();
    none(&violations, "each package is a member of the workspace");
    let separate = SEPARATE.iter().filter(|path| !manifest(path).contains_key("workspace"));
    let violations: Vec<String> = separate.map(|path| (*path).to_owned()).collect();
    none(&violations, "a package outside of the workspace is a separate workspace");
}

#[test]
fn versions_are_set_in_the_workspace_only() {
    let mut violations = Vec::new();
    for package in all() {
        for Dependency { name, spec } in package.dependencies() {
            let table = spec.as_table();
            let inherits = table.is_some_and(|table| table.get("workspace") == Some(&Value::Boolean(true)));
            let own = ["version", "path", "git", "registry"];
            if !inherits || table.is_some_and(|table| own.iter().any(|key| table.contains_key(*key))) {
                violations.push(format!("{}: {name}", package.name));
            }
        }
    }
    none(&violations, "a package writes `name.workspace = true`");
}

#[test]
fn packages_inherit_workspace_settings() {
    let mut violations = Vec::new();
    for package in all() {
        let inherited = |table: Option<&Value>| {
            table.and_then(|value| value.get("workspace")) == Some(&Value::Boolean(true))
        };
        if !inherited(package.manifest.get("lints")) {
            violations.push(format!("{}: [lints] workspace = true", package.name));
        }
        for key in ["version", "edition", "rust-version", "license", "publish"] {
            if !inherited(package.manifest["package"].get(key)) {
                violations.push(format!("{}: {key}.workspace = true", package.name));
            }
        }
    }
    none(&violations, "lints and package metadata come from the workspace");
}

#[test]
fn every_dependency_is_used() {
    let mut violations = Vec::new();
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
        // A file of another package that this one includes by its path.
        let is_included = |path: &str| texts.iter().any(|text| text.contains(&format!("/{path}\"]")));
        let included = sources.iter().filter(|source| is_included(&source.path));
        let included: Vec<&str> = included.map(|source| source.text.as_str()).collect();
        texts.extend(included);
        for dependency in package.dependencies() {
            let name = dependency.name.replace('-', "_");
            if !texts.iter().any(|text| names(text, &name)) {
                violations.push(format!("{}: {}", package.name, dependency.name));
            }
        }
    }
    let declared: Vec<String> = packages.iter().flat_map(Package::dependencies).map(|one| one.name).collect();
    let available = workspace()["dependencies"].as_table().expect("dependencies").clone();
    let unused = available.keys().filter(|name| !declared.contains(name));
    violations.extend(unused.map(|name| format!("Cargo.toml: {name}")));
    none(&violations, "a dependency is used by the package that declares it");
}

/// Returns whether a text names a crate: as a whole word followed by `::`, `;`, ` as` or `}`.
fn names(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(start, _)| {
        let before = text[..start].chars().next_back();
        let after = &text[start + name.len()..];
        let starts = !before.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
        starts && ["::", ";", " as ", "}"].iter().any(|end| after.starts_with(end))
    })
}
