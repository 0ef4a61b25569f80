//! Names of keys in options and in the configuration: `file:NAME`, `agent:SELECTOR`, or a name alone for a file.

use super::error::{Cause, KeyError};

/// Why a text names no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SelectorError {
    /// No kind of source has this prefix.
    #[error("unknown key source {0}: use file:NAME or agent:KEY")]
    Source(String),
}

impl From<SelectorError> for KeyError {
    fn from(error: SelectorError) -> Self {
        Self::new(Cause::Usage, &error)
    }
}

/// Where a key is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Selector {
    /// Encrypted file with this name.
    File(String),
    /// Key of the SSH agent with this fingerprint, public key or comment; the only usable key if empty.
    Agent(String),
}

impl Selector {
    /// Parses the name of a key. No file name contains a colon, so a name alone is unambiguous.
    pub(crate) fn parse(text: &str) -> Result<Self, SelectorError> {
        match text.split_once(':') {
            None => Ok(Self::File(text.to_owned())),
            Some(("file", name)) => Ok(Self::File(name.to_owned())),
            Some(("agent", key)) => Ok(Self::Agent(key.to_owned())),
            Some((other, _)) => Err(SelectorError::Source(other.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_select_the_source() {
        let check =
            |text: &str, expected: Selector| assert_eq!(Selector::parse(text), Ok(expected), "{text}");
        check("laptop", Selector::File("laptop".to_owned()));
        check("file:laptop", Selector::File("laptop".to_owned()));
        check("agent:", Selector::Agent(String::new()));
        check("agent:mira@laptop: work", Selector::Agent("mira@laptop: work".to_owned()));
        check("agent:SHA256:AAAA", Selector::Agent("SHA256:AAAA".to_owned()));
        for text in ["yubi:key", ":", "Agent:x", "file :x"] {
            assert!(Selector::parse(text).is_err(), "{text}");
        }
    }
}
