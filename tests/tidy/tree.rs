//! The files of the repository and the parsed Rust sources.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Names of generated folders, at any depth.
const GENERATED: [&str; 6] = [".git", ".venv", "__pycache__", "node_modules", "quorate-dev", "target"];

/// A source file.
pub(crate) struct Source {
    /// Path from the root of the repository, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
    /// Parsed syntax.
    pub(crate) syntax: syn::File,
    /// Whether all of it is compiled for tests only.
    pub(crate) is_test: bool,
}

/// Returns the root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is in the repository").to_owned()
}

/// Reads a file by its path from the root.
pub(crate) fn read(path: &str) -> String {
    let bytes = std::fs::read(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the sorted paths of all files that are not generated.
pub(crate) fn files() -> Vec<String> {
    let root = root();
    let mut paths = Vec::new();
    let mut open = vec![root.clone()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of the repository can be read") {
            let entry = entry.expect("an entry can be read");
            let name = entry.file_name();
            if GENERATED.iter().any(|generated| name == *generated) {
                continue;
            }
            let kind = entry.file_type().expect("an entry has a type");
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() {
                let path = entry.path();
                let path = path.strip_prefix(&root).expect("it is below the root");
                paths.push(path.to_string_lossy().into_owned());
            }
        }
    }
    paths.sort();
    paths
}

/// Returns the extension of a file name.
pub(crate) fn extension(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map(|(_, extension)| extension)
}

/// Returns all Rust sources, parsed.
pub(crate) fn sources() -> Vec<Source> {
    let paths = files().into_iter().filter(|path| extension(path) == Some("rs"));
    let mut sources: Vec<Source> = paths
        .map(|path| {
            let text = read(&path);
            let syntax = syn::parse_file(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
            let is_test = path.starts_with("tests/") || path.contains("/tests/");
            Source { path, text, syntax, is_test }
        })
        .collect();
    let test_modules: BTreeSet<String> = sources.iter().flat_map(test_modules).collect();
    for source in &mut sources {
        let stem = source.path.trim_end_matches(".rs").trim_end_matches("/mod");
        source.is_test |= test_modules.iter().any(|module| stem == module || is_below(stem, module));
    }
    sources
}

fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// Returns the folder with the submodules of a source file.
pub(crate) fn module_folder(path: &str) -> String {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    match name {
        "lib.rs" | "main.rs" | "mod.rs" => folder.to_owned(),
        _ => path.trim_end_matches(".rs").to_owned(),
    }
}

/// Returns the modules in separate files that are compiled for tests only, as paths without extension.
fn test_modules(source: &Source) -> Vec<String> {
    let folder = module_folder(&source.path);
    let items = source.syntax.items.iter().filter_map(|item| match item {
        syn::Item::Mod(module) if module.content.is_none() && is_for_tests(&module.attrs) => Some(module),
        _ => None,
    });
    items.map(|module| format!("{folder}/{}", module.ident)).collect()
}

/// Returns whether the attributes contain `#[cfg(test)]`.
pub(crate) fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Path>().is_ok_and(|condition| condition.is_ident("test"))
    })
}

/// Panics with all violations of a rule.
pub(crate) fn none(violations: &[String], rule: &str) {
    assert!(violations.is_empty(), "{rule}\n  {}\n", violations.join("\n  "));
}

/// Returns whether a file is human-readable text.
pub(crate) fn is_text(path: &str) -> bool {
    let texts = ["rs", "toml", "md", "txt", "json", "js", "mjs", "py", "sh", "in", "lock", "yml", "yaml"];
    extension(path).is_none_or(|extension| texts.contains(&extension))
}
