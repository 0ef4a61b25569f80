//! The user's `config.toml`: default daemon, organization, user and key.

use std::path::PathBuf;

use quorate_common::ids::{OrganizationId, UserId};
use serde::Deserialize;

use crate::files::{self, FileError, Folders};

const SIZE_LIMIT: u64 = 64 * 1024;

/// Parsed configuration file. Unknown keys are an error.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    pub(crate) socket: Option<PathBuf>,
    /// Organization that this console is pinned to.
    pub(crate) organization: Option<OrganizationId>,
    /// User who votes.
    pub(crate) user: Option<UserId>,
    /// Key to sign with: `file:NAME` or a name alone, `agent:KEY` or `pkcs11:TOKEN/LABEL`.
    pub(crate) key: Option<String>,
    /// Absolute path of the PKCS #11 module of tokens.
    pub(crate) pkcs11_module: Option<PathBuf>,
    /// Name of the theme of the console.
    pub(crate) theme: Option<String>,
}

/// Why the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is not TOML, or has unknown keys or invalid values. The reason names line and key.
    #[error("{}: {reason}", path.display())]
    Content { path: PathBuf, reason: String },
}

impl Config {
    /// Loads the file. Returns the default configuration if the file does not exist.
    pub(crate) fn load(folders: &Folders) -> Result<Self, ConfigError> {
        let path = folders.config.join("config.toml");
        let Some(bytes) = files::read(&path, SIZE_LIMIT)? else { return Ok(Self::default()) };
        let text = String::from_utf8(bytes).map_err(|_| FileError::Content(path.clone()))?;
        Self::parse(&text).map_err(|reason| ConfigError::Content { path, reason })
    }

    fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn reports_unknown_keys_with_their_line() {
        let good = "socket = \"/run/q.sock\"\norganization = \"00000000-0000-4000-8000-000000000001\"\nkey = \"laptop\"\n";
        assert_eq!(Config::parse(good).unwrap().key.as_deref(), Some("laptop"));
        let error = Config::parse("key = \"a\"\nkye = \"b\"\n").unwrap_err();
        assert!(error.contains("line 2") && error.contains("kye"), "{error}");
        assert!(Config::parse("organization = \"x\"").is_err());
    }
}
