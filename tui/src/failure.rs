//! How a command ends: exit codes, and failures in words. The codes are promised to scripts.

use quorate_common::fault::Code;
use serde_json::{Value, json};

use crate::book::BookFlaw;
use crate::config::ConfigFlaw;
use crate::keys::file::KeyFlaw;
use crate::keys::passphrase::PassphraseFlaw;
use crate::link::LinkFlaw;
use crate::place::PlaceFlaw;
use crate::text::clean;

/// Exit code of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// Failed.
    Failed = 1,
    /// Called wrongly.
    Usage = 2,
    /// Named thing does not exist.
    NotFound = 3,
    /// Not permitted.
    Denied = 4,
    /// Waits for approval.
    Waiting = 5,
    /// Rejected.
    Rejected = 6,
    /// A check failed, or what was expected is not what is there.
    Verification = 7,
    /// No daemon.
    Unreachable = 8,
    /// The daemon is sealed.
    Sealed = 9,
    /// Interrupted from the keyboard.
    Interrupted = 130,
}

impl Exit {
    const fn name(self) -> &'static str {
        match self {
            Self::Done => "DONE",
            Self::Failed => "FAILED",
            Self::Usage => "USAGE",
            Self::NotFound => "NOT_FOUND",
            Self::Denied => "DENIED",
            Self::Waiting => "WAITING",
            Self::Rejected => "REJECTED",
            Self::Verification => "VERIFICATION",
            Self::Unreachable => "UNREACHABLE",
            Self::Sealed => "SEALED",
            Self::Interrupted => "INTERRUPTED",
        }
    }
}

/// Why a command did not do what was asked.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Failure {
    /// Exit code.
    pub(crate) exit: Exit,
    /// For people. Only the constructors write it, cleaned: errors quote the daemon.
    message: String,
    /// What belongs to it, for scripts.
    pub(crate) details: Value,
}

impl Failure {
    /// A failure in words, on one line.
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: clean(&message.into()), details: Value::Null }
    }

    /// A failure in words of a parser of this program, which have lines of their own.
    pub(crate) fn lines(exit: Exit, text: &str) -> Self {
        let lines: Vec<String> = text.lines().map(clean).collect();
        Self { exit, message: lines.join("\n"), details: Value::Null }
    }

    /// What is printed, cleaned.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Adds what belongs to it.
    pub(crate) fn with(mut self, details: Value) -> Self {
        self.details = details;
        self
    }

    /// As one JSON object.
    pub(crate) fn json(&self) -> Value {
        json!({"error": {"code": self.exit.name(), "exit": self.exit as u8, "message": self.message, "details": self.details}})
    }
}

impl From<LinkFlaw> for Failure {
    fn from(flaw: LinkFlaw) -> Self {
        let exit = match &flaw {
            LinkFlaw::Down(_) | LinkFlaw::Lost(_) => Exit::Unreachable,
            LinkFlaw::Forbidden(_) => Exit::Denied,
            LinkFlaw::Unreadable(_) | LinkFlaw::Protocol { .. } => Exit::Failed,
            LinkFlaw::Refused(_) if flaw.is_sealed() => Exit::Sealed,
            LinkFlaw::Refused(fault) => match fault.code {
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
        Self::new(exit, flaw.to_string())
    }
}

impl From<PlaceFlaw> for Failure {
    fn from(flaw: PlaceFlaw) -> Self {
        let exit = if matches!(flaw, PlaceFlaw::Wide { .. }) { Exit::Denied } else { Exit::Failed };
        Self::new(exit, flaw.to_string())
    }
}

impl From<BookFlaw> for Failure {
    fn from(flaw: BookFlaw) -> Self {
        match flaw {
            BookFlaw::Place(flaw) => flaw.into(),
            flaw @ BookFlaw::Content { .. } => Self::new(Exit::Failed, flaw.to_string()),
        }
    }
}

impl From<ConfigFlaw> for Failure {
    fn from(flaw: ConfigFlaw) -> Self {
        Self::lines(Exit::Usage, &flaw.to_string())
    }
}

impl From<PassphraseFlaw> for Failure {
    fn from(flaw: PassphraseFlaw) -> Self {
        match flaw {
            PassphraseFlaw::NoTerminal => Self::new(Exit::Usage, flaw.to_string()),
            PassphraseFlaw::Unreadable(error) => error.into(),
        }
    }
}

impl From<KeyFlaw> for Failure {
    fn from(flaw: KeyFlaw) -> Self {
        let exit = match &flaw {
            KeyFlaw::Missing(_) => Exit::NotFound,
            KeyFlaw::Name | KeyFlaw::Short => Exit::Usage,
            KeyFlaw::Passphrase | KeyFlaw::Place(PlaceFlaw::Wide { .. }) => Exit::Denied,
            KeyFlaw::Place(_) | KeyFlaw::Content(_) | KeyFlaw::Machine(_) => Exit::Failed,
        };
        Self::new(exit, flaw.to_string())
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
    fn messages_hold_no_terminal_controls() {
        let hostile = "a\u{1b}]0;t\u{7}\u{9b}31m\u{202e}\r\nb";
        let cleaned = "a<U+001B>]0;t<U+0007><U+009B>31m<U+202E><U+000D><U+000A>b";
        let failure = Failure::new(Exit::Failed, hostile);
        assert_eq!(failure.message(), cleaned);
        assert_eq!(failure.json().pointer("/error/message"), Some(&json!(cleaned)));
        assert_eq!(
            Failure::from(LinkFlaw::Unreadable(hostile.to_owned())).message().matches("<U+").count(),
            6
        );
        assert_eq!(Failure::lines(Exit::Usage, "a\u{1b}\nb").message(), "a<U+001B>\nb");
    }
}
