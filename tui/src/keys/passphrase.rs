//! Prompts for a passphrase on the terminal without echo, or reads one line from a file descriptor for scripts.
//! Never reads arguments or the environment.

use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal, Read, Write};

use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use zeroize::Zeroizing;

/// Maximum length of a passphrase, in bytes.
const LENGTH_LIMIT: u64 = 1024;

/// Source of a passphrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// The terminal, or the first line of standard input if that is not a terminal.
    Terminal,
    /// The first line of this open file descriptor.
    Descriptor(u32),
}

/// Why there is no passphrase.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PassphraseError {
    /// Standard input is not a terminal and is empty.
    #[error("no terminal to prompt for the passphrase; use --passphrase-fd N")]
    NoTerminal,
    /// The terminal or the descriptor cannot be read.
    #[error(transparent)]
    Unreadable(#[from] std::io::Error),
}

/// Reads a passphrase. The prompt is shown on the terminal only.
pub(crate) fn read(source: Source, prompt: &str) -> Result<Zeroizing<String>, PassphraseError> {
    match source {
        Source::Descriptor(number) => {
            Ok(line(&mut BufReader::new(File::open(format!("/dev/fd/{number}"))?))?)
        }
        Source::Terminal if std::io::stdin().is_terminal() => Ok(prompt_for(prompt)?),
        Source::Terminal => {
            let mut input = std::io::stdin().lock();
            if input.fill_buf()?.is_empty() {
                return Err(PassphraseError::NoTerminal);
            }
            Ok(line(&mut input)?)
        }
    }
}

/// Reads a word that confirms something, which is no secret: from the terminal after a prompt, or the first line of
/// standard input if that is not a terminal.
pub(crate) fn word(prompt: &str) -> std::io::Result<String> {
    let mut input = std::io::stdin().lock();
    if std::io::stdin().is_terminal() {
        std::io::stderr().write_all(prompt.as_bytes())?;
    }
    Ok(line(&mut input)?.trim().to_owned())
}

/// Returns whether a person types the passphrase, so that a new one must be typed twice.
pub(crate) fn is_typed(source: Source) -> bool {
    source == Source::Terminal && std::io::stdin().is_terminal()
}

fn line(reader: &mut impl BufRead) -> std::io::Result<Zeroizing<String>> {
    let mut text = Zeroizing::new(String::new());
    reader.by_ref().take(LENGTH_LIMIT).read_line(&mut text)?;
    while text.ends_with(['\n', '\r']) {
        text.pop();
    }
    Ok(text)
}

fn prompt_for(prompt: &str) -> std::io::Result<Zeroizing<String>> {
    let terminal = File::options().read(true).write(true).open("/dev/tty")?;
    let _hidden = HiddenInput::start(&terminal)?;
    (&terminal).write_all(prompt.as_bytes())?;
    let text = line(&mut BufReader::new(&terminal));
    (&terminal).write_all(b"\n")?;
    text
}

/// Disables terminal echo until it is dropped.
struct HiddenInput<'a> {
    terminal: &'a File,
    before: rustix::termios::Termios,
}

impl<'a> HiddenInput<'a> {
    fn start(terminal: &'a File) -> std::io::Result<Self> {
        let before = tcgetattr(terminal)?;
        let mut hidden = before.clone();
        hidden.local_modes &= !(LocalModes::ECHO | LocalModes::ECHONL);
        // `Flush` discards what was typed before the prompt.
        tcsetattr(terminal, OptionalActions::Flush, &hidden)?;
        Ok(Self { terminal, before })
    }
}

impl Drop for HiddenInput<'_> {
    fn drop(&mut self) {
        let _ = tcsetattr(self.terminal, OptionalActions::Now, &self.before);
    }
}
