//! The book under `docs/` builds, and its links lead to pages and headings that exist.

use std::path::Path;

use mdbook_driver::MDBook;
use tempfile::tempdir;

use crate::tree::{self, none};

#[test]
fn the_book_builds() {
    let folder = tempdir().expect("a temporary folder");
    let mut book = MDBook::load(tree::root().join("docs")).expect("the book can be read");
    folder.path().join("book").clone_into(&mut book.config.build.build_dir);
    book.build().expect("the book builds");
    for page in pages() {
        let html = Path::new(&page).with_extension("html");
        assert!(folder.path().join("book").join(&html).exists(), "{} is in the summary", html.display());
    }
}

#[test]
fn links_of_the_book_lead_somewhere() {
    let mut violations = Vec::new();
    for page in pages() {
        let text = tree::read(&format!("docs/src/{page}"));
        let folder = Path::new(&page).parent().unwrap_or(Path::new("")).to_owned();
        for link in links(&text).filter(|link| !link.contains("://") && !link.starts_with("mailto:")) {
            let (target, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if target.is_empty() { Path::new(&page).to_owned() } else { folder.join(target) };
            let file = tree::root().join("docs/src").join(&target);
            let Ok(linked) = std::fs::read_to_string(&file) else {
                violations.push(format!("docs/src/{page}: ({link}): no such page"));
                continue;
            };
            if !heading.is_empty() && !headings(&linked).any(|known| known == heading) {
                violations.push(format!("docs/src/{page}: ({link}): no such heading"));
            }
        }
    }
    none(&violations, "a link leads nowhere");
}

/// Returns the paths of all pages below `docs/src`, the summary apart.
fn pages() -> Vec<String> {
    let files = tree::files().into_iter();
    let pages = files.filter_map(|path| path.strip_prefix("docs/src/").map(str::to_owned));
    pages.filter(|path| tree::extension(path) == Some("md") && path != "SUMMARY.md").collect()
}

/// Returns the targets of all links.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

/// Returns the anchors of all headings, as mdBook names them: lower case, spaces as hyphens.
fn headings(text: &str) -> impl Iterator<Item = String> {
    let titles = text.lines().filter_map(|line| line.strip_prefix('#'));
    titles.map(|title| {
        let letters = title.trim_start_matches('#').trim().to_lowercase();
        letters
            .chars()
            .filter(|letter| letter.is_alphanumeric() || [' ', '-', '_'].contains(letter))
            .map(|letter| if letter == ' ' { '-' } else { letter })
            .collect()
    })
}
