//! Names of keys in options and in the configuration: `file:NAME`, `agent:KEY`, `pkcs11:TOKEN/LABEL`, `fido2:NAME`, or a
//! name alone for a file.

use super::error::{Cause, KeyError};

/// Why a text names no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SelectorError {
    /// No kind of source has this prefix.
    #[error("unknown key source {0}: use file:NAME, agent:KEY, pkcs11:TOKEN/LABEL or fido2:NAME")]
    Source(String),
    /// The labels of a token and a key are missing.
    #[error("invalid key {0}: use pkcs11:TOKEN/LABEL with the labels of the token and of the key")]
    Token(String),
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
    /// Key with a label on the PKCS #11 token with a label.
    Token { token: String, label: String },
    /// Key on a security key, whose record has this name.
    SecurityKey(String),
}

impl Selector {
    /// Parses the name of a key. No file name contains a colon, so a name alone is unambiguous.
    pub(crate) fn parse(text: &str) -> Result<Self, SelectorError> {
        match text.split_once(':') {
            None => Ok(Self::File(text.to_owned())),
            Some(("file", name)) => Ok(Self::File(name.to_owned())),
            Some(("agent", key)) => Ok(Self::Agent(key.to_owned())),
            Some(("fido2", name)) => Ok(Self::SecurityKey(name.to_owned())),
            Some(("pkcs11", labels)) => match labels.split_once('/') {
                Some((token, label)) if !token.is_empty() && !label.is_empty() => {
                    Ok(Self::Token { token: token.to_owned(), label: label.to_owned() })
                }
                _ => Err(SelectorError::Token(text.to_owned())),
            },
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
        check("fido2:mira", Selector::SecurityKey("mira".to_owned()));
        let token = |token: &str, label: &str| Selector::Token { token: token.into(), label: label.into() };
        check("pkcs11:treasury/mira", token("treasury", "mira"));
        check("pkcs11:my token/a/b:c", token("my token", "a/b:c"));
        for text in ["yubi:key", ":", "Agent:x", "file :x", "pkcs11:", "pkcs11:x", "pkcs11:x/", "pkcs11:/x"] {
            assert!(Selector::parse(text).is_err(), "{text}");
        }
    }
}
