//! Golden files: expected outputs under `assets/`.

use std::path::{Path, PathBuf};

/// Returns the path of a file under `assets/`.
pub(crate) fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets").join(name)
}

/// Returns whether golden files are to be written.
pub(crate) fn is_blessing() -> bool {
    std::env::var_os("BLESS").is_some()
}

/// Compares a text with its golden file, or writes the file when blessing.
pub(crate) fn check(name: &str, actual: &str) {
    let path = path(name);
    if is_blessing() {
        std::fs::write(&path, actual).expect("a golden file can be written");
        return;
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    if expected == actual {
        return;
    }
    let differing = expected.lines().zip(actual.lines()).position(|(old, new)| old != new);
    let line = differing.unwrap_or_else(|| expected.lines().count().min(actual.lines().count()));
    let at = |text: &str| text.lines().nth(line).unwrap_or("(end)").to_owned();
    panic!(
        "assets/{name} differs from line {}\n  expected: {}\n  actual:   {}\nrun `make bless` and review the difference",
        line + 1,
        at(&expected),
        at(actual)
    );
}
