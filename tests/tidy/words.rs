//! What no file may say: unfinished work, silenced tests, places of one machine, hosts of registries.

use crate::tree::{self, none};

/// Words of unfinished or debugging code. Put together here, so that this file does not hold them.
const UNFINISHED: [&str; 6] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("to", "do!("),
    concat!("unimple", "mented!("),
    concat!("db", "g!("),
    concat!("#[ig", "nore"),
];
/// Waiting without a reason to go on.
const SLEEP: &str = concat!("thread::", "sleep");
/// Folders that exist on one machine only.
const PLACES: [&str; 4] =
    [concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/Us", "ers/"), concat!("/wo", "rk/")];
/// Hosts from which packages are served. Which one is used is a matter of the machine.
const REGISTRIES: [&str; 6] = [
    concat!("registry.", "npmjs.org"),
    concat!("registry.", "yarnpkg.com"),
    concat!("files.python", "hosted.org"),
    concat!("//py", "pi.org"),
    concat!("static.crates", ".io"),
    concat!("index.crates", ".io"),
];
/// The one source of crates, as a lock file names it.
const CRATES: &str = concat!("registry+https://github.com/rust-lang/", "crates.io-index");

/// Whether a file is text that people read.
fn is_text(path: &str) -> bool {
    let texts = ["rs", "toml", "md", "txt", "json", "js", "mjs", "py", "sh", "in", "lock", "yml", "yaml"];
    tree::extension(path).is_none_or(|extension| texts.contains(&extension))
}

/// Each line of the files with this property, as place and text.
fn lines(wanted: impl Fn(&str) -> bool) -> Vec<(String, String)> {
    let paths = tree::files().into_iter().filter(|path| is_text(path) && wanted(path));
    let texts = paths.map(|path| (tree::read(&path), path));
    let lines = texts.flat_map(|(text, path)| {
        let numbered = text.lines().enumerate();
        let lines = numbered.map(|(number, line)| (format!("{path}:{}", number + 1), line.to_owned()));
        lines.collect::<Vec<_>>()
    });
    lines.collect()
}

fn holding(lines: &[(String, String)], words: &[&str]) -> Vec<String> {
    let bad = lines.iter().filter(|(_, line)| words.iter().any(|word| line.contains(word)));
    bad.map(|(place, line)| format!("{place}: {}", line.trim())).collect()
}

#[test]
fn nothing_is_left_unfinished() {
    let lines = lines(|path| {
        !path.ends_with("Cargo.lock") && !path.ends_with("package-lock.json") && path != "LICENSE"
    });
    none(&holding(&lines, &UNFINISHED), "nothing unfinished, no debugging, no silenced test");
}

#[test]
fn tests_do_not_sleep() {
    let sources = tree::sources();
    // A benchmark may rest; a story may not.
    let tests = sources.iter().filter(|source| source.is_test && !source.path.starts_with("tests/bench/"));
    let tests: Vec<&str> = tests.map(|source| source.path.as_str()).collect();
    let lines = lines(|path| tests.contains(&path));
    none(
        &holding(&lines, &[SLEEP]),
        "a test waits for what it needs, with a deadline; it does not sleep a thread",
    );
}

#[test]
fn no_place_of_one_machine() {
    let lines = lines(|path| path != "LICENSE");
    none(&holding(&lines, &PLACES), "no path that exists on one machine only");
}

#[test]
fn no_registry_is_named() {
    let lines = lines(|_| true);
    none(&holding(&lines, &REGISTRIES), "which registry serves packages is a matter of the machine");
}

#[test]
fn lock_files_hold_no_addresses() {
    let npm = lines(|path| path.ends_with("package-lock.json"));
    none(&holding(&npm, &["\"resolved\""]), "an npm lock file says what, not where from");
    let other = |(_, line): &&(String, String)| line.starts_with("source = ") && !line.contains(CRATES);
    let cargo = lines(|path| path.ends_with("Cargo.lock"));
    let flaws: Vec<String> =
        cargo.iter().filter(other).map(|(place, line)| format!("{place}: {line}")).collect();
    none(&flaws, "crates come from the one public index");
}

#[test]
fn no_snapshot_waits_for_review() {
    let waiting = tree::files().into_iter().filter(|path| path.ends_with(".snap.new"));
    none(&waiting.collect::<Vec<_>>(), "snapshots are blessed or right");
}
