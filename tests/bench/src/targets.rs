//! Who sends the requests, and which key they ask to sign with. The file is shared by the load generator and
//! the limit server, so that both servers get the same requests.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// One API key and one key to sign with.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Target {
    /// Organization acted upon.
    pub organization_id: String,
    /// P-256 public key: 66 hex digits.
    pub api_public_key: String,
    /// P-256 scalar: 64 hex digits.
    pub api_private_key: String,
    /// Address to sign with.
    pub sign_with: String,
}

/// The targets of a server.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Targets {
    /// Where the server is: `http://127.0.0.1:PORT`.
    pub base_url: String,
    /// Requests go round over these.
    pub targets: Vec<Target>,
}

impl Targets {
    /// Reads a file.
    pub fn read(path: &Path) -> Self {
        let text = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Writes a file.
    pub fn write(&self, path: &Path) {
        let text = serde_json::to_vec_pretty(self).expect("targets serialize");
        std::fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}
