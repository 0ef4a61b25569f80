//! `quorated completion` and `quorated man`: what is made from the same definitions as the help texts.

use std::path::Path;

use clap::CommandFactory;

use super::Arguments;
use crate::service::StartError;

/// Prints a completion script for a shell.
///
/// # Errors
/// Returns an error if standard output cannot be written to.
pub fn completion(shell: clap_complete::Shell) -> Result<(), StartError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "quorated", &mut script);
    super::print(String::from_utf8_lossy(&script).trim_end())
}

/// Writes one manual page per command to a folder, which is created if missing.
///
/// # Errors
/// Returns an error if the folder cannot be written to.
pub fn pages(folder: &Path) -> Result<(), StartError> {
    let written =
        std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Arguments::command(), folder));
    written.map_err(|error| StartError::Other(format!("cannot write to {}: {error}", folder.display())))
}
