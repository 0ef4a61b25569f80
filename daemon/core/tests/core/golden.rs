//! Files that hold what was once promised.

use std::path::{Path, PathBuf};

/// A file under `assets/`.
pub(crate) fn place(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets").join(name)
}

/// Whether goldens are to be written.
pub(crate) fn is_blessing() -> bool {
    std::env::var_os("BLESS").is_some()
}

/// Compares a text with its golden file, or writes the file when blessing.
pub(crate) fn check(name: &str, found: &str) {
    let place = place(name);
    if is_blessing() {
        std::fs::write(&place, found).expect("a golden can be written");
        return;
    }
    let expected = std::fs::read_to_string(&place).unwrap_or_default();
    if expected == found {
        return;
    }
    let differing = expected.lines().zip(found.lines()).position(|(old, new)| old != new);
    let line = differing.unwrap_or_else(|| expected.lines().count().min(found.lines().count()));
    let at = |text: &str| text.lines().nth(line).unwrap_or("(end)").to_owned();
    panic!(
        "assets/{name} differs from line {} on\n  golden: {}\n  now:    {}\nmake bless, and read the difference",
        line + 1,
        at(&expected),
        at(found)
    );
}
