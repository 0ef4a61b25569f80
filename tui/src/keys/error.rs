//! The error of all key sources.

/// What kind of error it is, for the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    Usage,
    NotFound,
    Denied,
    Verification,
    Failed,
}

/// Why a key cannot be found or cannot sign. Each source creates it from errors of its own.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct KeyError {
    pub(crate) cause: Cause,
    message: String,
}

impl KeyError {
    /// Creates an error. The message may contain text of a source, and must be cleaned before it is shown.
    pub(super) fn new(cause: Cause, error: &impl ToString) -> Self {
        Self { cause, message: error.to_string() }
    }

    /// Creates the error of a signature that does not verify.
    pub(super) fn unverified() -> Self {
        let text = "the signature does not verify under the selected key; nothing was sent";
        Self::new(Cause::Verification, &text)
    }
}
