//! Pages of the documentation as readers see them: headings, links, code spans and blocks. Never runs anything.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// A parsed page.
#[derive(Debug, Default)]
pub struct Page {
    /// Path from the root of the repository.
    pub path: String,
    /// Texts of the headings.
    pub headings: Vec<String>,
    /// Targets of the links.
    pub links: Vec<String>,
    /// Texts in single backticks.
    pub spans: Vec<String>,
    /// Code blocks, in order.
    pub blocks: Vec<Block>,
}

/// A code block of a page.
#[derive(Debug)]
pub struct Block {
    /// Page and line, for messages.
    pub position: String,
    /// Language, or nothing.
    pub language: String,
    /// What follows the language after a comma, or nothing.
    pub mark: String,
    /// Content.
    pub text: String,
    /// HTML comment directly before the block.
    pub comment: Option<String>,
}

/// What the tests do with a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Use {
    /// `sh`: runs in the shell of the page.
    Run,
    /// `rust`: is the end of an example that is compiled with the tests and runs in the shell of the page.
    Example,
    /// `json,file=NAME` and others: is saved for the blocks that follow.
    File(String),
    /// `text,output` or `json,output`: equals the output of the block before. `…` matches any text, and on a
    /// line of its own for any lines.
    Output,
    /// `json` and `toml`: is valid.
    Data,
    /// `text,help`: is generated.
    Generated,
    /// `sh,no-run`: needs what a test does not have. A comment before it states what.
    NoRun,
    /// `text,illustration`: a drawing. `yaml`: an included file for another program.
    Illustration,
}

impl Block {
    /// Returns what the tests do with the block, or `None` if its language or mark is unknown.
    pub fn usage(&self) -> Option<Use> {
        Some(match (self.language.as_str(), self.mark.as_str()) {
            ("sh", "") => Use::Run,
            ("sh", "no-run") => Use::NoRun,
            ("rust", "") => Use::Example,
            ("json" | "toml", "") => Use::Data,
            ("text" | "json", "output") => Use::Output,
            ("text", "help") => Use::Generated,
            ("text", "illustration") | ("yaml", "") => Use::Illustration,
            ("js" | "python" | "json" | "toml", mark) => Use::File(mark.strip_prefix("file=")?.to_owned()),
            _ => return None,
        })
    }
}

impl Page {
    /// Reads a page by its path from the root of the repository.
    pub fn read(path: &str) -> Self {
        let text = fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        Self::parse(path, &text)
    }

    /// Parses a page.
    pub fn parse(path: &str, text: &str) -> Self {
        let mut page = Self { path: path.to_owned(), ..Self::default() };
        let mut comment = None;
        let mut open: Option<String> = None;
        for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
            match event {
                Event::Start(Tag::CodeBlock(kind)) => {
                    page.blocks.push(block(path, text, &range, &kind, comment.take()));
                    open = Some(String::new());
                }
                Event::Start(Tag::Heading { .. }) => open = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => page.headings.extend(open.take()),
                Event::End(TagEnd::CodeBlock) => {
                    if let (Some(block), Some(text)) = (page.blocks.last_mut(), open.take()) {
                        block.text = text;
                    }
                }
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    page.links.push(dest_url.into_string());
                }
                Event::Start(Tag::Paragraph) => comment = None,
                Event::Html(html) => comment = Some(html.into_string()),
                Event::Text(text) => {
                    if let Some(open) = &mut open {
                        open.push_str(&text);
                    }
                }
                Event::Code(span) => {
                    if let Some(open) = &mut open {
                        open.push_str(&span);
                    }
                    page.spans.push(span.into_string());
                }
                _ => {}
            }
        }
        page
    }
}

fn block(
    path: &str,
    text: &str,
    at: &Range<usize>,
    kind: &CodeBlockKind<'_>,
    comment: Option<String>,
) -> Block {
    let line = text[..at.start].matches('\n').count() + 1;
    let info = match kind {
        CodeBlockKind::Fenced(info) => info.as_ref(),
        CodeBlockKind::Indented => "",
    };
    let (language, mark) = info.split_once(',').unwrap_or((info, ""));
    let (language, mark) = (language.to_owned(), mark.to_owned());
    Block { position: format!("{path}:{line}"), language, mark, text: String::new(), comment }
}

/// Returns the pages of the book, in its order, and the pages beside it whose samples are tested like those of the
/// book.
pub fn pages() -> Vec<Page> {
    let summary = Page::read("docs/src/SUMMARY.md");
    let book = summary.links.iter().map(|link| format!("docs/src/{link}"));
    book.chain(["README.md", "SECURITY.md"].map(str::to_owned)).map(|path| Page::read(&path)).collect()
}

/// Lines around the generated part of a page.
const BEGIN: &str = "<!-- Generated by `make bless` from here. -->\n";
const END: &str = "<!-- Generated to here. -->\n";

/// Compares the generated part of a page with its source. With `BLESS=1`, rewrites it.
pub fn check_generated(page: &str, generated: &str) {
    let path = root().join(page);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{page}: {error}"));
    let parts = text.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?)));
    let (before, (current, after)) = parts.unwrap_or_else(|| panic!("{page} has no generated part"));
    if std::env::var_os("BLESS").is_some() {
        let text = format!("{before}{BEGIN}{generated}{END}{after}");
        fs::write(&path, text).expect("the page can be written");
    } else {
        assert!(current == generated, "{page} is not current: run `make bless`\n{generated}");
    }
}

/// Returns the root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is in the repository").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_with_their_marks_and_comments() {
        let text = "# A `b`\n\n<!-- no root -->\n```sh,no-run\nid\n```\n\n    c\n\n1. d\n\n   ```json,file=e.json\n   {}\n   ```\n";
        let page = Page::parse("page.md", text);
        assert_eq!(page.headings, ["A b"]);
        let [first, second, third] = page.blocks.as_slice() else { panic!("{page:#?}") };
        assert_eq!((first.usage(), first.text.as_str()), (Some(Use::NoRun), "id\n"));
        assert_eq!(first.comment.as_deref(), Some("<!-- no root -->\n"));
        assert_eq!((second.usage(), second.comment.as_deref()), (None, None), "an indented block");
        assert_eq!((third.usage(), third.text.as_str()), (Some(Use::File("e.json".to_owned())), "{}\n"));
        assert_eq!(third.position, "page.md:12");
    }
}
