//! Keys in an SSH agent. The agent signs; this program never sees the secret. The agent is not trusted: every signature
//! is verified, and its texts are cleaned before they are shown.

mod client;
mod error;
mod identity;

use std::path::{Path, PathBuf};
use std::time::Duration;

use quorate_common::stamp::{ExternalKey, Stamp};

pub(super) use error::AgentError;
use identity::{Found, Usable, found};

use super::error::KeyError;
use super::source::{Description, KeySource};

/// Maximum time for the list of keys. It involves no person.
const LIST_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum time for a signature: the agent may ask a person, who may need to find a token.
const SIGN_TIMEOUT: Duration = Duration::from_mins(1);

/// A key of an SSH agent.
pub(super) struct AgentKey {
    socket: PathBuf,
    selector: String,
    /// Public key in the encoding of the agent.
    blob: Vec<u8>,
    key: ExternalKey,
    description: Description,
}

impl AgentKey {
    /// Finds the key in the agent that listens on a socket.
    ///
    /// # Errors
    /// [`AgentError`] if there is no agent, or not exactly one usable key that is selected.
    pub(super) fn open(socket: Option<&Path>, selector: &str) -> Result<Self, AgentError> {
        let socket = socket.ok_or(AgentError::NoSocket)?;
        let (identities, warning) = client::identities(socket, LIST_TIMEOUT)?;
        let Usable { blob, key } = identity::select(identities, selector)?;
        let description = Description {
            name: format!("agent:{selector}"),
            public_key: key.public_key().to_owned(),
            curve: key.curve(),
            secret: None,
            warning,
        };
        Ok(Self { socket: socket.to_owned(), selector: selector.to_owned(), blob, key, description })
    }

    /// Returns why the agent refused to sign: it lost the key, or somebody declined.
    fn failure(&self) -> AgentError {
        match client::identities(&self.socket, LIST_TIMEOUT) {
            Ok((identities, _)) if identities.iter().any(|one| one.blob == self.blob) => AgentError::Refused,
            Ok(_) => AgentError::Gone(self.selector.clone()),
            Err(error) => error,
        }
    }
}

impl KeySource for AgentKey {
    fn describe(&self) -> &Description {
        &self.description
    }

    fn is_locked(&self) -> bool {
        false
    }

    fn stamp(&self, body: &[u8], _: &str) -> Result<Stamp, KeyError> {
        let signature = client::signature(&self.socket, &self.blob, body, SIGN_TIMEOUT)?;
        let signature = signature.ok_or_else(|| self.failure())?;
        let raw = identity::raw(&signature).ok_or_else(KeyError::unverified)?;
        self.key.stamp(body, &raw).map_err(|_| KeyError::unverified())
    }

    // Only the agent can lock its keys.
    fn lock(&self) {}
}

/// Returns all keys of the agent that listens on a socket, the unusable ones with the reason.
///
/// # Errors
/// [`AgentError`] if the agent does not answer.
pub(super) fn list(socket: &Path) -> Result<Vec<Found>, AgentError> {
    Ok(client::identities(socket, LIST_TIMEOUT)?.0.into_iter().map(found).collect())
}
