//! Errors of SSH agents.

use crate::keys::error::{Cause, KeyError};

/// Why a key of an SSH agent cannot be found or cannot sign.
#[derive(Debug, thiserror::Error)]
pub(in crate::keys) enum AgentError {
    #[error("no SSH agent: SSH_AUTH_SOCK is not set")]
    NoSocket,
    #[error("SSH agent {path}: {source}")]
    System { path: String, source: std::io::Error },
    #[error("the SSH agent did not answer within {0} s")]
    Timeout(u64),
    #[error("the SSH agent sent an invalid answer")]
    Answer,
    #[error("the request has {0} bytes, which is too long for an SSH agent; use a key file or a token")]
    TooLong(usize),
    #[error("the SSH agent has no usable key; add one with ssh-add")]
    Empty,
    #[error("the SSH agent has no key {0}; list its keys with `quorate key ls`")]
    Missing(String),
    #[error("the SSH agent no longer has key {0}; nothing was sent")]
    Gone(String),
    #[error(
        "{count} keys of the SSH agent match {selector:?}; select one by its fingerprint (agent:SHA256:...)"
    )]
    Ambiguous { selector: String, count: usize },
    /// The key cannot stamp requests.
    #[error("{0}")]
    Unusable(String),
    #[error(
        "the SSH agent refused to sign; it is locked, or its confirmation was declined; nothing was sent"
    )]
    Refused,
}

impl From<AgentError> for KeyError {
    fn from(error: AgentError) -> Self {
        let cause = match &error {
            AgentError::Ambiguous { .. }
            | AgentError::Unusable(_)
            | AgentError::TooLong(_)
            | AgentError::NoSocket => Cause::Usage,
            AgentError::Empty | AgentError::Missing(_) | AgentError::Gone(_) => Cause::NotFound,
            AgentError::Refused => Cause::Denied,
            AgentError::System { .. } | AgentError::Timeout(_) | AgentError::Answer => Cause::Failed,
        };
        Self::new(cause, &error)
    }
}
