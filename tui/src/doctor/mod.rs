//! Checks of an installation from the console's side. `quorate doctor` and the screen Health show the same findings.
//! Each states what is wrong and what to do about it.

mod console;
mod daemon;

use std::cmp::Reverse;

pub(crate) use console::{of_console, of_organization, organization_missing, refused, socket_path};
pub(crate) use daemon::{Daemon, of_daemon};
use serde_json::{Value, json};

/// How serious a finding is, from the least to the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// Good to know.
    Note,
    /// Works, but should be changed.
    Warning,
    /// Does not work, or is not safe.
    Problem,
}

impl Level {
    /// Returns the mark in texts.
    pub(crate) const fn mark(self) -> &'static str {
        match self {
            Self::Note => "[i]",
            Self::Warning => "[!]",
            Self::Problem => "[x]",
        }
    }

    /// Returns the word in JSON.
    const fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

/// A finding of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    /// Stable name for scripts.
    pub(crate) code: &'static str,
    pub(crate) level: Level,
    /// What was found, cleaned.
    pub(crate) what: String,
    /// What to do, in one sentence.
    pub(crate) advice: String,
}

impl Finding {
    fn new(level: Level, code: &'static str, what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { code, level, what: what.into(), advice: advice.into() }
    }

    pub(super) fn note(code: &'static str, what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::new(Level::Note, code, what, advice)
    }

    pub(super) fn warning(code: &'static str, what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::new(Level::Warning, code, what, advice)
    }

    pub(super) fn problem(code: &'static str, what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::new(Level::Problem, code, what, advice)
    }

    /// Returns the finding for scripts.
    pub(crate) fn json(&self) -> Value {
        json!({"code": self.code, "level": self.level.word(), "finding": self.what, "advice": self.advice})
    }
}

/// Sorts findings, the most serious first. Those of the same level keep their order.
pub(crate) fn sort(findings: &mut [Finding]) {
    findings.sort_by_key(|finding| Reverse(finding.level));
}
