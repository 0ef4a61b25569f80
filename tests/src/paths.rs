//! Paths of the built programs and the third-party clients. Never builds anything itself.

use std::path::{Path, PathBuf};

/// Returns the path of a program of the workspace, in the folder that `PROGRAMS` names, or next to the
/// running test executable.
pub fn program(name: &str) -> PathBuf {
    if let Some(folder) = std::env::var_os("PROGRAMS").filter(|folder| !folder.is_empty()) {
        return Path::new(&folder).join(name);
    }
    let running = std::env::current_exe().expect("the running executable has a path");
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    running
        .ancestors()
        .skip(1)
        .take(3)
        .map(|folder| folder.join(&file))
        .find(|candidate| candidate.is_file())
        .unwrap_or_else(|| panic!("{name} is not built: run `make test`, or `cargo build --workspace` first"))
}

/// Returns the folder of the third-party clients.
pub fn clients() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("clients")
}

/// Returns the library that shows another time to a program.
///
/// # Panics
/// Panics if the package libfaketime is not installed.
pub fn faketime() -> PathBuf {
    let folders = std::fs::read_dir("/usr/lib").expect("the folder of libraries").flatten();
    let mut found = folders.map(|folder| folder.path().join("faketime/libfaketime.so.1"));
    found.find(|path| path.exists()).expect("the package libfaketime is installed")
}
