//! Text that no file may contain: unfinished work, disabled tests, paths of one machine, registry hosts, keys.

use crate::tree::{self, none};

/// Markers of unfinished or debugging code, concatenated so that this file does not match.
const UNFINISHED: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("#[ig", "nore")];
/// A fixed wait, which has no condition.
const SLEEP: &str = concat!("thread::", "sleep");
/// Paths that exist on one machine only, hosts that serve packages, which the machine's configuration selects,
/// and the mark of a private key.
const OF_ONE_MACHINE: [&str; 11] = [
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
    concat!("/Us", "ers/"),
    concat!("/wo", "rk/"),
    concat!("registry.", "npmjs.org"),
    concat!("registry.", "yarnpkg.com"),
    concat!("files.python", "hosted.org"),
    concat!("//py", "pi.org"),
    concat!("static.crates", ".io"),
    concat!("index.crates", ".io"),
    concat!("PRIVATE KEY", "-----"),
];
/// The only source of crates, as named in a lock file.
const CRATES: &str = concat!("registry+https://github.com/rust-lang/", "crates.io-index");

/// Returns each line of the selected files, as position and text.
fn lines(is_selected: impl Fn(&str) -> bool) -> Vec<(String, String)> {
    let paths = tree::files().into_iter().filter(|path| tree::is_text(path) && is_selected(path));
    let texts = paths.map(|path| (tree::read(&path), path));
    let lines = texts.flat_map(|(text, path)| {
        let numbered = text.lines().enumerate();
        let lines = numbered.map(|(number, line)| (format!("{path}:{}", number + 1), line.to_owned()));
        lines.collect::<Vec<_>>()
    });
    lines.collect()
}

fn containing(lines: &[(String, String)], words: &[&str]) -> Vec<String> {
    let bad = lines.iter().filter(|(_, line)| words.iter().any(|word| line.contains(word)));
    bad.map(|(position, line)| format!("{position}: {}", line.trim())).collect()
}

#[test]
fn no_unfinished_work() {
    let lines = lines(|path| {
        !path.ends_with("Cargo.lock") && !path.ends_with("package-lock.json") && path != "LICENSE"
    });
    none(&containing(&lines, &UNFINISHED), "nothing unfinished, no debugging, no silenced test");
}

#[test]
fn tests_do_not_sleep() {
    let sources = tree::sources();
    // A benchmark may sleep; a scenario may not.
    let tests = sources.iter().filter(|source| source.is_test && !source.path.starts_with("tests/bench/"));
    let tests: Vec<&str> = tests.map(|source| source.path.as_str()).collect();
    let lines = lines(|path| tests.contains(&path));
    none(
        &containing(&lines, &[SLEEP]),
        "a test waits for what it needs, with a deadline; it does not sleep a thread",
    );
}

#[test]
fn nothing_belongs_to_one_machine() {
    let lines = lines(|path| path != "LICENSE");
    none(&containing(&lines, &OF_ONE_MACHINE), "no path of one machine, no registry host, no private key");
}

#[test]
fn lock_files_contain_no_urls() {
    let npm = lines(|path| path.ends_with("package-lock.json"));
    none(&containing(&npm, &["\"resolved\""]), "an npm lock file names packages and no URLs");
    let other = |(_, line): &&(String, String)| line.starts_with("source = ") && !line.contains(CRATES);
    let cargo = lines(|path| path.ends_with("Cargo.lock"));
    let violations: Vec<String> =
        cargo.iter().filter(other).map(|(position, line)| format!("{position}: {line}")).collect();
    none(&violations, "crates come from the public index only");
}

#[test]
fn no_snapshot_is_pending() {
    let waiting = tree::files().into_iter().filter(|path| path.ends_with(".snap.new"));
    none(&waiting.collect::<Vec<_>>(), "a changed snapshot is accepted or corrected");
}
