//! The user's `config.toml`: which daemon, organization, user and key are meant when nothing is said.

use std::path::PathBuf;

use quorate_common::ids::{OrganizationId, UserId};
use serde::Deserialize;

use crate::place::{self, Folders, PlaceFlaw};

const SIZE_LIMIT: u64 = 64 * 1024;

/// The file as written. Unknown keys are refused.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    /// Path of the daemon's local socket.
    pub(crate) socket: Option<PathBuf>,
    /// The organization that this console is pinned to.
    pub(crate) organization: Option<OrganizationId>,
    /// The user who votes.
    pub(crate) user: Option<UserId>,
    /// Name of the key file.
    pub(crate) key: Option<String>,
}

/// Why the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigFlaw {
    /// The file cannot be read.
    #[error(transparent)]
    Place(#[from] PlaceFlaw),
    /// The file is not TOML, or has unknown or wrong keys. Names line and key.
    #[error("{}: {reason}", path.display())]
    Content {
        /// Which file.
        path: PathBuf,
        /// What is wrong and where.
        reason: String,
    },
}

impl Config {
    /// Reads the file; none is an empty configuration.
    pub(crate) fn load(folders: &Folders) -> Result<Self, ConfigFlaw> {
        let path = folders.config.join("config.toml");
        let Some(bytes) = place::read(&path, SIZE_LIMIT)? else { return Ok(Self::default()) };
        let text = String::from_utf8(bytes).map_err(|_| PlaceFlaw::Content(path.clone()))?;
        Self::parse(&text).map_err(|reason| ConfigFlaw::Content { path, reason })
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
    fn refuses_unknown_keys_with_their_line() {
        let good = "socket = \"/run/q.sock\"\norganization = \"00000000-0000-4000-8000-000000000001\"\nkey = \"laptop\"\n";
        assert_eq!(Config::parse(good).unwrap().key.as_deref(), Some("laptop"));
        let flaw = Config::parse("key = \"a\"\nkye = \"b\"\n").unwrap_err();
        assert!(flaw.contains("line 2") && flaw.contains("kye"), "{flaw}");
        assert!(Config::parse("organization = \"x\"").is_err());
    }
}
