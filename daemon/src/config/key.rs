//! Section `[key]`: the source of the root key. The key itself is never part of the configuration.

use std::path::PathBuf;

use super::section::Section;

/// Source of the root key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// A file that holds the key.
    File(PathBuf),
    /// A file that holds a passphrase, which decrypts the key.
    PassphraseFile(PathBuf),
    /// The operator types the passphrase when the daemon starts.
    PassphrasePrompt,
}

pub(super) fn read(section: &mut Section<'_, '_>) -> Option<KeySource> {
    let given =
        ["file", "passphrase_file", "passphrase_prompt"].into_iter().filter(|key| section.has(key)).count();
    let file = section.path("file").map(KeySource::File);
    let passphrase_file = section.path("passphrase_file").map(KeySource::PassphraseFile);
    let prompt = section.flag("passphrase_prompt");
    if given != 1 || prompt == Some(false) {
        section.report("needs exactly one of file, passphrase_file and passphrase_prompt = true");
        return None;
    }
    file.or(passphrase_file).or(prompt.map(|_| KeySource::PassphrasePrompt))
}
