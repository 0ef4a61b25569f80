//! Section `[key]`: what opens the store. The key itself is never part of the configuration.

use std::path::PathBuf;
use std::str::FromStr;

use super::section::Section;

/// What opens the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// A file that holds the key.
    File(PathBuf),
    /// A file that holds a passphrase, which decrypts the key.
    PassphraseFile(PathBuf),
    /// The operator types the passphrase when the daemon starts.
    PassphrasePrompt,
    /// A program with its arguments, which decrypts the key.
    Command(Vec<String>),
    /// A key of a PKCS #11 token, which decrypts the key.
    Token {
        /// Labels of the token and of the key.
        labels: TokenLabels,
        /// Absolute path of the PKCS #11 module of the token.
        module: PathBuf,
        /// A file that holds the PIN of the token.
        pin_file: PathBuf,
    },
    /// Holders give their shares to the daemon after each start.
    Shares,
}

/// Labels of a token and of a key on it, as `TOKEN/LABEL`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenLabels {
    /// Label of the token.
    pub token: String,
    /// Label of the key.
    pub key: String,
}

impl FromStr for TokenLabels {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('/') {
            Some((token, key)) if !token.is_empty() && !key.is_empty() => {
                Ok(Self { token: token.to_owned(), key: key.to_owned() })
            }
            _ => Err("use TOKEN/LABEL with the labels of the token and of the key"),
        }
    }
}

/// Reads the keys that only a token has.
fn token(section: &mut Section<'_, '_>) -> Option<KeySource> {
    let is_token = section.has("pkcs11");
    for key in ["pkcs11_module", "pin_file"] {
        if is_token != section.has(key) {
            section.report(if is_token {
                "pkcs11 needs pkcs11_module and pin_file"
            } else {
                "pkcs11_module and pin_file need pkcs11"
            });
            break;
        }
    }
    let labels = section.parsed::<TokenLabels>("pkcs11");
    let module = section.path("pkcs11_module");
    let pin_file = section.path("pin_file");
    Some(KeySource::Token { labels: labels?, module: module?, pin_file: pin_file? })
}

/// Reads the program. Nothing is searched for in folders that the operator did not choose.
fn command(section: &mut Section<'_, '_>) -> Option<KeySource> {
    let command = section.parsed_list::<String>("command")?;
    if command.first().is_none_or(|program| !program.starts_with('/')) {
        section.report("command: the first element must be the absolute path of a program");
        return None;
    }
    Some(KeySource::Command(command))
}

pub(super) fn read(section: &mut Section<'_, '_>) -> Option<KeySource> {
    let given = ["file", "passphrase_file", "passphrase_prompt", "command", "pkcs11", "shares"];
    let given = given.into_iter().filter(|key| section.has(key)).count();
    let file = section.path("file").map(KeySource::File);
    let passphrase_file = section.path("passphrase_file").map(KeySource::PassphraseFile);
    let (prompt, shares) = (section.flag("passphrase_prompt"), section.flag("shares"));
    let (command, token) = (command(section), token(section));
    if given != 1 || prompt == Some(false) || shares == Some(false) {
        section
            .report("needs exactly one of file, passphrase_file, passphrase_prompt = true, command, pkcs11 and shares = true");
        return None;
    }
    let flags = prompt.map(|_| KeySource::PassphrasePrompt).or(shares.map(|_| KeySource::Shares));
    file.or(passphrase_file).or(command).or(token).or(flags)
}
