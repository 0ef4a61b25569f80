//! The result of one check, and how it was verified.

/// How a fact was verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Verified by this console.
    Verified,
    /// Stated by the daemon, not provable here.
    Stated,
    /// Needs the approver's attention.
    Attention,
    /// Verified by this console and wrong: the activity must not be approved.
    Failed,
}

impl Mark {
    /// Returns the mark that is shown on screen.
    pub(crate) const fn sign(self) -> &'static str {
        match self {
            Self::Verified => "[v]",
            Self::Stated => "[s]",
            Self::Attention => "[!]",
            Self::Failed => "[x]",
        }
    }
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Check {
    /// `K1` to `K12`.
    pub(crate) id: &'static str,
    pub(crate) mark: Mark,
    /// The result as cleaned text.
    pub(crate) text: String,
}

/// A result without the id of its check.
pub(super) type Finding = (Mark, String);

pub(super) fn verified(text: impl Into<String>) -> Finding {
    (Mark::Verified, text.into())
}

pub(super) fn unproven(text: impl Into<String>) -> Finding {
    (Mark::Stated, text.into())
}

pub(super) fn attention(text: impl Into<String>) -> Finding {
    (Mark::Attention, text.into())
}

pub(super) fn failed(text: impl Into<String>) -> Finding {
    (Mark::Failed, text.into())
}
