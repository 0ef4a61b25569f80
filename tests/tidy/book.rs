//! The book under `docs/` builds, its links lead to pages and headings that exist, and each of its blocks is
//! tested, or states why not.

use std::fs;
use std::path::Path;

use mdbook_driver::MDBook;
use quorate_tests::book::{self, Use};
use tempfile::tempdir;

use crate::tree::{self, none};

/// Largest number of samples that are not run.
const NOT_RUN: usize = 4;

#[test]
fn the_book_builds_and_its_links_lead_somewhere() {
    let folder = tempdir().expect("a temporary folder");
    let output = folder.path().join("book");
    let mut book = MDBook::load(tree::root().join("docs")).expect("the book can be read");
    output.clone_into(&mut book.config.build.build_dir);
    book.build().expect("the book builds");
    let mut violations = Vec::new();
    for page in tree::files().iter().filter_map(|path| path.strip_prefix("docs/src/")) {
        let html = output.join(page).with_extension("html");
        match fs::read_to_string(&html) {
            Ok(text) => violations.extend(broken_links(&html, &text).map(|link| format!("{page}: ({link})"))),
            Err(_) if page == "SUMMARY.md" => {}
            Err(error) => violations.push(format!("{page} is not in the summary: {error}")),
        }
    }
    none(&violations, "a link leads nowhere");
}

/// Returns the links of a built page that lead to no file, or to no heading in it.
fn broken_links<'a>(path: &'a Path, page: &'a str) -> impl Iterator<Item = &'a str> {
    let links = page.split(" href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let is_local = |link: &&str| !link.contains("://") && !link.starts_with("mailto:");
    links.filter(is_local).filter(move |link| {
        let (target, heading) = link.split_once('#').unwrap_or((link, ""));
        let target = if target.is_empty() { path.to_owned() } else { path.with_file_name(target) };
        let Ok(bytes) = fs::read(target) else { return true };
        !heading.is_empty() && !String::from_utf8_lossy(&bytes).contains(&format!("id=\"{heading}\""))
    })
}

#[test]
fn every_block_is_tested_or_states_why_not() {
    let blocks: Vec<_> = book::pages().into_iter().flat_map(|page| page.blocks).collect();
    let mut violations = Vec::new();
    for block in &blocks {
        let is_explained =
            block.comment.as_ref().is_some_and(|comment| comment.starts_with("<!-- Not run: "));
        let at = &block.position;
        match block.usage() {
            None => violations.push(format!("{at}: `{},{}` is not known", block.language, block.mark)),
            Some(Use::NoRun) if !is_explained => {
                violations.push(format!("{at}: `<!-- Not run: why -->` is missing"));
            }
            Some(_) => {}
        }
    }
    let skipped: Vec<_> = blocks.iter().filter(|block| block.usage() == Some(Use::NoRun)).collect();
    if skipped.len() > NOT_RUN {
        violations.extend(skipped.iter().map(|block| format!("{}: one of too many", block.position)));
    }
    none(
        &violations,
        "a block of the documentation is not tested; tests/src/book.rs lists languages and marks",
    );
}
