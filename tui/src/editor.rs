//! The user's own editor: the only room that starts it.

use std::path::Path;
use std::process::Command;

use crate::place::{self, Folders};

/// Longest text that comes back, in bytes.
const TEXT_LIMIT: u64 = 1024 * 1024;
/// What runs where neither `VISUAL` nor `EDITOR` is set (POSIX names it as the default).
const DEFAULT: &str = "vi";
/// Exit status of a shell that finds no such command (POSIX, Shell Command Language, 2.8.2).
const NOT_FOUND: i32 = 127;

/// Opens a text in the editor that `VISUAL` or `EDITOR` names and returns what it is afterwards. The terminal must be free.
pub(crate) fn edit(folders: &Folders, text: &str) -> Result<String, String> {
    let path = folders.state.join(format!("draft-{}.toml", std::process::id()));
    place::write_private(&path, text.as_bytes()).map_err(|flaw| flaw.to_string())?;
    let edited = run(&path).and_then(|()| {
        let bytes = place::read(&path, TEXT_LIMIT).map_err(|flaw| flaw.to_string())?.unwrap_or_default();
        String::from_utf8(bytes).map_err(|_| "what the editor left is not UTF-8".to_owned())
    });
    place::remove(&path).map_err(|flaw| flaw.to_string())?;
    edited
}

fn run(path: &Path) -> Result<(), String> {
    let named = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let editor = named("VISUAL").or_else(|| named("EDITOR")).unwrap_or_else(|| DEFAULT.to_owned());
    // It may carry arguments of its own, so that a shell has to read it.
    let status =
        Command::new("sh").arg("-c").arg(format!("{editor} \"$1\"")).arg("quorate").arg(path).status();
    match status.map_err(|error| format!("the editor could not be started: {error}"))?.code() {
        Some(0) => Ok(()),
        Some(NOT_FOUND) => Err("there is no editor: set VISUAL or EDITOR".to_owned()),
        _ => Err("the editor ended with a failure; nothing was taken from it".to_owned()),
    }
}
