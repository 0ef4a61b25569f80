//! The samples of the documentation run unchanged. Each page has one shell with the built programs in its
//! `PATH`, and its own folder and home. The generated parts of the reference equal what the programs print.

mod generated;
mod shell;

use std::fs;

use quorate_tests::book::{self, Block, Page, Use};
use quorate_tests::installation;
use serde_json::Value;

use shell::Shell;

/// The Rust sample, and the example that is compiled from it.
const EXAMPLE: (&str, &str) = ("tests/e2e/book/api.rs", "examples/book_api");

#[tokio::test]
async fn samples_of_the_documentation_run() {
    for page in book::pages().iter().filter(|page| !page.blocks.is_empty()) {
        run(page).await;
    }
}

async fn run(page: &Page) {
    let mut shell = Shell::start(page);
    let mut output = String::new();
    for (index, block) in page.blocks.iter().enumerate() {
        let text = included(page, &block.text);
        match block.usage() {
            Some(Use::Run) => output = shell.run(&block.position, &text).await,
            Some(Use::Example) => output = shell.run(&block.position, &example(block)).await,
            Some(Use::File(name)) => {
                // A command runs it, or another program imports it.
                let is_used = |later: &Block| {
                    matches!(later.usage(), Some(Use::Run | Use::File(_))) && later.text.contains(&name)
                };
                assert!(
                    page.blocks[index + 1..].iter().any(is_used),
                    "{}: {name} is not used",
                    block.position
                );
                shell.save(&block.position, &name, &text).await;
            }
            Some(Use::Output) => assert!(
                lines_fit(&lines(&text), &lines(&output)),
                "{}: the output differs from the page\n{output}",
                block.position
            ),
            Some(Use::Data) => check_data(block, &text).await,
            Some(Use::Generated | Use::NoRun | Use::Illustration) | None => {}
        }
    }
}

/// Replaces a text that is only a directive `{{#include FILE}}` of mdBook by the file.
fn included(page: &Page, text: &str) -> String {
    let file = text.trim().strip_prefix("{{#include ").and_then(|rest| rest.strip_suffix("}}"));
    let folder = book::root().join(&page.path);
    let read = |file| fs::read_to_string(folder.parent().expect("a page is in a folder").join(file));
    file.map_or_else(|| text.to_owned(), |file| read(file).expect("an included file can be read"))
}

/// Checks that a sample in Rust is the end of its example, and returns the command that runs the example.
fn example(block: &Block) -> String {
    let (source, program) = EXAMPLE;
    let compiled = fs::read_to_string(book::root().join(source)).expect("the example can be read");
    assert!(compiled.ends_with(&block.text), "{}: differs from the end of {source}", block.position);
    quorate_tests::paths::program(program).display().to_string()
}

/// Checks that JSON is valid, and that `quorated` accepts a configuration.
async fn check_data(block: &Block, text: &str) {
    if block.language == "json" {
        let parsed = serde_json::from_str::<Value>(text);
        assert!(parsed.is_ok(), "{}: {parsed:?}", block.position);
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("quorated.toml");
    fs::write(&path, text).expect("the configuration can be written");
    let path = path.to_str().expect("a path in UTF-8");
    let run = installation::run(folder.path(), &["verify", "--config", path]).await;
    // The paths in a configuration for production do not exist here. A configuration with an error exits with 1.
    assert!([3, 4].contains(&run.code), "{}: {run:#?}", block.position);
}

fn lines(text: &str) -> Vec<&str> {
    text.trim_end().lines().map(str::trim_end).collect()
}

/// Returns whether lines equal the expected ones, where a line `…` matches any lines.
fn lines_fit(expected: &[&str], lines: &[&str]) -> bool {
    match expected.split_first() {
        None => lines.is_empty(),
        Some((&"…", rest)) => (0..=lines.len()).any(|skipped| lines_fit(rest, &lines[skipped..])),
        Some((expected, rest)) => {
            lines.split_first().is_some_and(|(line, others)| fits(expected, line) && lines_fit(rest, others))
        }
    }
}

/// Returns whether a line equals the expected one, where `…` matches any text.
fn fits(expected: &str, line: &str) -> bool {
    let Some((start, rest)) = expected.split_once('…') else { return expected == line };
    let Some(tail) = line.strip_prefix(start) else { return false };
    let ends = tail.char_indices().map(|(end, _)| end).chain([tail.len()]);
    ends.into_iter().any(|end| fits(rest, &tail[end..]))
}

#[test]
fn outputs_are_compared_with_placeholders() {
    let page = ["a …", "…", "d"];
    assert!(lines_fit(&page, &["a 1", "b", "c", "d"]) && lines_fit(&page, &["a ", "d"]));
    assert!(
        !lines_fit(&page, &["a 1", "b"]) && !lines_fit(&page, &["b", "d"]) && !lines_fit(&["…a"], &["ab"])
    );
}
