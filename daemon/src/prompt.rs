//! Passphrases and passwords, read from the terminal or from a file, never from arguments or the environment.

use std::io::{BufRead, Write};
use std::path::Path;

use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use zeroize::Zeroizing;

use crate::private_file;
use crate::service::StartError;

/// Reads the first line of a file that only its owner may read.
///
/// # Errors
/// Returns an error if the file cannot be read, or if other users have access to it.
pub fn from_file(path: &Path) -> Result<Zeroizing<String>, StartError> {
    Ok(private_file::first_line(path)?)
}

/// Prints a question on the terminal and reads the answer without echo.
///
/// # Errors
/// Returns an error if there is no terminal.
pub fn from_terminal(question: &str) -> Result<Zeroizing<String>, StartError> {
    let failed =
        |error: std::io::Error| StartError::Other(format!("cannot prompt for the passphrase: {error}"));
    let mut terminal = std::fs::OpenOptions::new().read(true).write(true).open("/dev/tty").map_err(failed)?;
    let before = tcgetattr(&terminal).map_err(|error| failed(error.into()))?;
    let mut silent = before.clone();
    silent.local_modes.remove(LocalModes::ECHO);
    write!(terminal, "{question}: ").map_err(failed)?;
    tcsetattr(&terminal, OptionalActions::Flush, &silent).map_err(|error| failed(error.into()))?;
    let mut text = Zeroizing::new(String::with_capacity(4096));
    let read = std::io::BufReader::new(&terminal).read_line(&mut text);
    let restored = tcsetattr(&terminal, OptionalActions::Flush, &before);
    // End the line, whether or not reading succeeded.
    let _ = writeln!(&terminal);
    read.map_err(failed)?;
    restored.map_err(|error| failed(error.into()))?;
    Ok(Zeroizing::new(text.trim_end_matches(['\r', '\n']).to_owned()))
}
