//! Documents name only what exists: files, folders and functions in code spans, and links between pages.

use crate::tree::{self, none};

/// The pages for people.
const PAGES: [&str; 5] = ["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md"];

/// Folders of the repository that a path in a page begins with.
const ROOMS: [&str; 5] = ["assets/", "common/", "daemon/", "tests/", "tui/"];

#[test]
fn pages_name_what_exists() {
    let mut flaws = Vec::new();
    for page in PAGES {
        let text = tree::read(page);
        for span in code_spans(&text) {
            if let Some(flaw) = unknown(&span) {
                flaws.push(format!("{page}: `{span}`: {flaw}"));
            }
        }
        for link in links(&text) {
            let target = link.split('#').next().unwrap_or_default();
            let is_near = !link.contains("://") && !link.starts_with('#') && !link.starts_with("mailto:");
            if is_near && !tree::root().join(target).exists() {
                flaws.push(format!("{page}: ({link}) leads nowhere"));
            }
        }
    }
    none(&flaws, "a page names something that is not there");
}

/// Text between single backticks, outside of code blocks.
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

/// Why a span that is meant as a place is none: `folder/`, `folder/file.rs` or `folder/file.rs::function`.
fn unknown(span: &str) -> Option<String> {
    if !ROOMS.iter().any(|room| span.starts_with(room)) || span.contains(['*', '<', ' ', '{']) {
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
        text.match_indices(&format!("{form}{function}")).any(|(at, found)| {
            let after = text[at + found.len()..].chars().next();
            !after.is_some_and(|letter| letter.is_alphanumeric() || letter == '_')
        })
    });
    (!known).then(|| format!("{path} has no {function}"))
}
