//! `quorate completion` and `quorate man`: what is made from the same definitions as the help texts.

use std::path::Path;

use clap::CommandFactory;
use clap_complete::env::Shells;
use serde_json::json;

use super::arguments::Arguments;
use super::complete;
use crate::failure::Result;
use crate::output::Answer;
use crate::text::clean;

/// Returns the commands, whose options complete values.
pub(crate) fn command() -> clap::Command {
    Arguments::command()
        .mut_arg("context", |arg| arg.add(complete::contexts()))
        .mut_arg("organization", |arg| arg.add(complete::organizations()))
        .mut_arg("user", |arg| arg.add(complete::users()))
        .mut_arg("key", |arg| arg.add(complete::keys()))
}

/// Returns a script for a shell. Unless it must be static, it calls this program for values such as keys and ids.
pub(super) fn completion(shell: clap_complete::Shell, is_static: bool) -> Result<Answer> {
    let mut bytes = Vec::new();
    let shells = Shells::builtins();
    match shells.completer(&shell.to_string()).filter(|_| !is_static) {
        Some(completer) => {
            completer.write_registration("COMPLETE", "quorate", "quorate", "quorate", &mut bytes)?;
        }
        None => clap_complete::generate(shell, &mut Arguments::command(), "quorate", &mut bytes),
    }
    let script = String::from_utf8_lossy(&bytes).into_owned();
    Ok(Answer::file(json!({"shell": shell.to_string(), "script": script}), script))
}

/// Writes one manual page per command to a folder, which is created if missing.
pub(super) fn pages(folder: &Path) -> Result<Answer> {
    std::fs::create_dir_all(folder)?;
    clap_mangen::generate_to(Arguments::command(), folder)?;
    let shown = folder.display().to_string();
    let text = format!("Manual pages written to {}.\n", clean(&shown));
    Ok(Answer::one(json!({"folder": shown}), text))
}
