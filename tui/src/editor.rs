//! Runs the user's own editor. No other module starts it.

use std::path::Path;
use std::process::Command;

use crate::files::{self, Folders};

/// Largest edited text that is read back, in bytes.
const TEXT_LIMIT: u64 = 1024 * 1024;
/// Editor used if neither `VISUAL` nor `EDITOR` is set (the POSIX default).
const DEFAULT: &str = "vi";
/// Exit status of a shell that does not find a command (POSIX, Shell Command Language, 2.8.2).
const NOT_FOUND: i32 = 127;

/// Opens a text in the editor named by `VISUAL` or `EDITOR` and returns the edited text. The console must
/// have released the terminal.
pub(crate) fn edit(folders: &Folders, text: &str) -> Result<String, String> {
    let path = folders.state.join(format!("draft-{}.toml", std::process::id()));
    files::write_private(&path, text.as_bytes()).map_err(|error| error.to_string())?;
    let edited = run(&path).and_then(|()| {
        let bytes = files::read(&path, TEXT_LIMIT).map_err(|error| error.to_string())?.unwrap_or_default();
        String::from_utf8(bytes).map_err(|_| "the edited file is not valid UTF-8".to_owned())
    });
    files::remove(&path).map_err(|error| error.to_string())?;
    edited
}

fn run(path: &Path) -> Result<(), String> {
    let named = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let editor = named("VISUAL").or_else(|| named("EDITOR")).unwrap_or_else(|| DEFAULT.to_owned());
    // The variable may contain arguments, so a shell must parse it.
    let status =
        Command::new("sh").arg("-c").arg(format!("{editor} \"$1\"")).arg("quorate").arg(path).status();
    match status.map_err(|error| format!("cannot start the editor: {error}"))?.code() {
        Some(0) => Ok(()),
        Some(NOT_FOUND) => Err("editor not found: set VISUAL or EDITOR".to_owned()),
        _ => Err("the editor failed; its changes were discarded".to_owned()),
    }
}
