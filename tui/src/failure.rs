//! Errors of commands and their exit codes. The exit codes are a stable interface for scripts.

use quorate_common::api_error::Code;
use serde::Serialize;
use serde_json::{Value, json};

use crate::config::ConfigError;
use crate::files::FileError;
use crate::keys::file::KeyFileError;
use crate::keys::passphrase::PassphraseError;
use crate::keys::{Cause, KeyError};
use crate::link::LinkError;
use crate::text::clean;
use crate::theme::ThemeError;
use crate::witness::WitnessError;

/// Exit code of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum Exit {
    Done = 0,
    Failed = 1,
    /// Invalid command line.
    Usage = 2,
    NotFound = 3,
    /// Permission denied.
    Denied = 4,
    Waiting = 5,
    Rejected = 6,
    /// A check failed, or the data differs from what the caller expected.
    Verification = 7,
    /// The daemon cannot be reached.
    Unreachable = 8,
    Sealed = 9,
    /// A share or a letter is not the one that it should be.
    Mismatch = 10,
    /// The daemon states an earlier state, or another history, than before.
    Older = 11,
    /// The share is given, and more are needed.
    MoreShares = 12,
    /// The console has a defect and stopped.
    Internal = 101,
    Interrupted = 130,
}

/// Why a command failed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// Message for people. Only the constructors set it, and they clean it because errors can quote the
    /// daemon.
    message: String,
    /// Additional data for scripts.
    pub(crate) details: Value,
}

/// The result of a command.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    /// Creates a failure with a message on one line.
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: clean(&message.into()), details: Value::Null }
    }

    /// Creates a failure with a message of several lines, such as the output of a parser of this program.
    pub(crate) fn lines(exit: Exit, text: &str) -> Self {
        let lines: Vec<String> = text.lines().map(clean).collect();
        Self { exit, message: lines.join("\n"), details: Value::Null }
    }

    /// Returns the cleaned message.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Attaches data for scripts.
    pub(crate) fn with(mut self, details: Value) -> Self {
        self.details = details;
        self
    }

    /// Returns the failure as one JSON object.
    pub(crate) fn json(&self) -> Value {
        json!({"error": {"code": self.exit, "exit": self.exit as u8, "message": self.message, "details": self.details}})
    }
}

impl From<LinkError> for Failure {
    fn from(error: LinkError) -> Self {
        let exit = match &error {
            LinkError::Down(_) | LinkError::Unreachable { .. } | LinkError::Lost(_) => Exit::Unreachable,
            LinkError::Forbidden(_) | LinkError::LocalOnly | LinkError::Stamp(_) => Exit::Denied,
            LinkError::NotSocket(_) | LinkError::Unselected | LinkError::Unstamped => Exit::Usage,
            LinkError::Untrusted(_)
            | LinkError::Older { .. }
            | LinkError::Witness(WitnessError::Invalid(_)) => Exit::Verification,
            LinkError::Witness(WitnessError::File(_))
            | LinkError::Unreadable(_)
            | LinkError::Protocol { .. }
            | LinkError::NotDaemon { .. }
            | LinkError::Clock => Exit::Failed,
            LinkError::Witness(_) => Exit::Older,
            LinkError::Api(_) if error.is_sealed() => Exit::Sealed,
            LinkError::Api(error) => match error.code {
                Code::NotFound => Exit::NotFound,
                Code::PermissionDenied | Code::Unauthenticated => Exit::Denied,
                Code::Unavailable => Exit::Unreachable,
                Code::InvalidArgument
                | Code::AlreadyExists
                | Code::ResourceExhausted
                | Code::FailedPrecondition
                | Code::Unimplemented
                | Code::Internal => Exit::Failed,
            },
        };
        let message = error.to_string();
        Self::new(
            exit,
            error.advice().map_or_else(|| message.clone(), |advice| format!("{message}: {advice}")),
        )
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        let exit = match error {
            FileError::Permissions { .. } => Exit::Denied,
            // Only what configures the console is refused for these reasons.
            FileError::Writable { .. } | FileError::Owner { .. } => Exit::Usage,
            _ => Exit::Failed,
        };
        Self::new(exit, error.to_string())
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::lines(Exit::Usage, &error.to_string())
    }
}

impl From<ThemeError> for Failure {
    fn from(error: ThemeError) -> Self {
        match error {
            ThemeError::File(error) => error.into(),
            error @ (ThemeError::Unknown { .. } | ThemeError::Content { .. }) => {
                Self::lines(Exit::Usage, &error.to_string())
            }
        }
    }
}

impl From<PassphraseError> for Failure {
    fn from(error: PassphraseError) -> Self {
        match error {
            PassphraseError::NoTerminal => Self::new(Exit::Usage, error.to_string()),
            PassphraseError::Unreadable(error) => error.into(),
        }
    }
}

impl From<KeyError> for Failure {
    fn from(error: KeyError) -> Self {
        let exit = match error.cause {
            Cause::Usage => Exit::Usage,
            Cause::NotFound => Exit::NotFound,
            Cause::Denied => Exit::Denied,
            Cause::Verification => Exit::Verification,
            Cause::Failed => Exit::Failed,
        };
        Self::new(exit, error.to_string())
    }
}

impl From<KeyFileError> for Failure {
    fn from(error: KeyFileError) -> Self {
        KeyError::from(error).into()
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        let exit =
            if error.kind() == std::io::ErrorKind::Interrupted { Exit::Interrupted } else { Exit::Failed };
        Self::new(exit, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_contain_no_terminal_controls() {
        let hostile = "a\u{1b}]0;t\u{7}\u{9b}31m\u{202e}\r\nb";
        let cleaned = "a<U+001B>]0;t<U+0007><U+009B>31m<U+202E><U+000D><U+000A>b";
        let failure = Failure::new(Exit::Failed, hostile);
        assert_eq!(failure.message(), cleaned);
        assert_eq!(failure.json().pointer("/error/message"), Some(&json!(cleaned)));
        assert_eq!(
            Failure::from(LinkError::Unreadable(hostile.to_owned())).message().matches("<U+").count(),
            6
        );
        assert_eq!(Failure::lines(Exit::Usage, "a\u{1b}\nb").message(), "a<U+001B>\nb");
    }
}
