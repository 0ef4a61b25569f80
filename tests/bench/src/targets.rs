//! API keys that send the requests and the keys to sign with. The load generator and the limit server share
//! the file, so that both servers get the same requests.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// An API key and a key to sign with.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Target {
    /// Id of the organization.
    pub organization_id: String,
    /// P-256 public key in 66 hex digits.
    pub api_public_key: String,
    /// P-256 private key in 64 hex digits.
    pub api_private_key: String,
    /// Address to sign with.
    pub sign_with: String,
}

/// The targets of a server.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Targets {
    /// Base URL of the server: `http://127.0.0.1:PORT`.
    pub base_url: String,
    /// Root user of the organization that the targets are in, or that is the parent of theirs.
    pub root: Target,
    /// Targets, which the requests use in turn.
    pub targets: Vec<Target>,
}

impl Targets {
    /// Reads a file of targets.
    pub fn read(path: &Path) -> Self {
        let text = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Writes a file of targets.
    pub fn write(&self, path: &Path) {
        let text = serde_json::to_vec_pretty(self).expect("targets serialize");
        std::fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}
