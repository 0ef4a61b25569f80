//! Section `[key]`: what opens the store. The key itself is never part of the configuration.

use std::path::PathBuf;

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
    /// Holders give their shares to the daemon after each start.
    Shares,
}

pub(super) fn read(section: &mut Section<'_, '_>) -> Option<KeySource> {
    let given = ["file", "passphrase_file", "passphrase_prompt", "shares"];
    let given = given.into_iter().filter(|key| section.has(key)).count();
    let file = section.path("file").map(KeySource::File);
    let passphrase_file = section.path("passphrase_file").map(KeySource::PassphraseFile);
    let (prompt, shares) = (section.flag("passphrase_prompt"), section.flag("shares"));
    if given != 1 || prompt == Some(false) || shares == Some(false) {
        section
            .report("needs exactly one of file, passphrase_file, passphrase_prompt = true and shares = true");
        return None;
    }
    let flags = prompt.map(|_| KeySource::PassphrasePrompt).or(shares.map(|_| KeySource::Shares));
    file.or(passphrase_file).or(flags)
}
