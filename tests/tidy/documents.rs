//! Documents name only existing files, folders and functions in code spans, and link to existing pages.

use std::path::Path;

use crate::tree::{self, none};

/// The checked documents.
const PAGES: [&str; 6] = [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "SECURITY.md",
    "docs/src/reference/promises.md",
];

/// Top-level folders that start a path in a document.
const FOLDERS: [&str; 5] = ["assets/", "common/", "daemon/", "tests/", "tui/"];

#[test]
fn documents_name_existing_items() {
    let mut violations = Vec::new();
    for page in PAGES {
        let text = tree::read(page);
        for span in code_spans(&text) {
            if let Some(violation) = unknown(&span) {
                violations.push(format!("{page}: `{span}`: {violation}"));
            }
        }
        for link in links(&text) {
            let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
            let target = Path::new(folder).join(link.split('#').next().unwrap_or_default());
            let is_relative = !link.contains("://") && !link.starts_with('#') && !link.starts_with("mailto:");
            if is_relative && !tree::root().join(target).exists() {
                violations.push(format!("{page}: ({link}) does not exist"));
            }
        }
    }
    none(&violations, "a document names something that does not exist");
}

/// Returns the text between single backticks, outside of code blocks.
fn code_spans(text: &str) -> Vec<String> {
    let mut spans = Vec::new();
    let mut in_block = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if !in_block {
            spans.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    spans
}

fn links(text: &str) -> Vec<String> {
    let parts = text.split("](").skip(1);
    parts.filter_map(|part| part.split(')').next()).map(str::to_owned).collect()
}

/// Returns why a span that is a path is invalid. The forms are `folder/`, `folder/file.rs` and
/// `folder/file.rs::function`.
fn unknown(span: &str) -> Option<String> {
    if !FOLDERS.iter().any(|folder| span.starts_with(folder)) || span.contains(['*', '<', ' ', '{']) {
        return None;
    }
    let (path, function) = match span.split_once("::") {
        Some((path, function)) => (path, Some(function)),
        None => (span, None),
    };
    if !tree::root().join(path).exists() {
        return Some("no such file".to_owned());
    }
    let function = function?;
    let text = tree::read(path);
    let forms = ["fn ", "trait ", "struct ", "enum ", "const ", "static "];
    let known = forms.iter().any(|form| {
        text.match_indices(&format!("{form}{function}")).any(|(start, matched)| {
            let after = text[start + matched.len()..].chars().next();
            !after.is_some_and(|letter| letter.is_alphanumeric() || letter == '_')
        })
    });
    (!known).then(|| format!("{path} has no {function}"))
}
