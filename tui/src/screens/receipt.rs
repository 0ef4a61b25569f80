//! What a decision came to: whether the vote is recorded, what the activity has yielded, and what waits next.

use quorate_common::ids::ActivityId;
use quorate_common::stamp::Stamp;

use super::inbox_row::Row;
use super::shared::Shared;
use crate::ballot::{Outcome, Unconfirmed};
use crate::link::{CastError, Confirmation};
use crate::proof::{Review, outcome_text, result_values};
use crate::text::clean;

/// The end of a decision.
pub(super) struct Receipt {
    pub(super) success: bool,
    /// The outcome in sentences, and what is known of the activity.
    lines: Vec<String>,
    /// Word for the journal.
    pub(super) word: &'static str,
}

impl Receipt {
    /// Creates the receipt of a decision that ended before anything was sent.
    pub(super) fn unsent(text: String) -> Self {
        Self { success: false, lines: vec![text], word: "" }
    }

    /// Creates the receipt of a vote or proposal (`what`) from the daemon's answer. `is_recorded` states whether the
    /// record contains it with the signature of this stamp.
    pub(super) fn of(
        what: &str,
        review: &Review,
        stamp: &Stamp,
        result: &Result<Box<Confirmation>, Box<CastError>>,
        is_recorded: bool,
    ) -> Self {
        let Confirmation { activity: target, despite } = match result {
            Ok(confirmation) if is_recorded => confirmation.as_ref(),
            Ok(_) => {
                let what = what.to_lowercase();
                let text = format!(
                    "[x] Sent, but the daemon's record does not contain this {what} with your signature."
                );
                return Self { success: false, lines: vec![text], word: Unconfirmed::NotInRecord.word() };
            }
            Err(error) => {
                let text = match error.fate {
                    Unconfirmed::Unsent => format!("[!] Nothing was sent: {}.", error.text(what)),
                    Unconfirmed::Refused => {
                        format!("[!] Not recorded as far as is known: {}.", error.text(what))
                    }
                    Unconfirmed::NoAnswer | Unconfirmed::NotInRecord => {
                        format!("[!] Sent, but not confirmed: {}.", error.text(what))
                    }
                };
                return Self { success: false, lines: vec![text], word: error.fate.word() };
            }
        };
        let outcome = Outcome::of(target.status);
        let rest = outcome_text(target, review);
        let mut lines = vec![
            format!("{what} recorded; the record contains your signature [v]. {rest}"),
            format!("activity   {}", target.id),
            format!("signature  {}", clean(&stamp.signature)),
        ];
        lines.extend(
            despite
                .as_ref()
                .map(|error| format!("[!] It is recorded although an error was answered: {error}.")),
        );
        lines.extend(result_values(&target.result).into_iter().map(|value| format!("result     {value}")));
        Self { success: outcome != Outcome::Failed, lines, word: outcome.word() }
    }

    /// Returns the lines of the receipt: first the outcome, then how to go on.
    pub(super) fn lines(&self, next: &Next) -> Vec<String> {
        let mut lines = self.lines.clone();
        lines.push(match (next, self.success) {
            (Next { row: Some(row), waiting, within }, true) => format!(
                "Next: {waiting} for you{within}. n opens {} {}, {}. Enter or Esc closes.",
                row.risk.word(),
                row.title,
                row.brief
            ),
            (Next { within, .. }, true) => {
                format!("Nothing else waits for you{within}. Enter or Esc closes.")
            }
            (_, false) => "Esc closes.".to_owned(),
        });
        lines
    }
}

/// The activities that wait for the viewer beside the one that was decided.
pub(super) struct Next<'a> {
    pub(super) row: Option<&'a Row>,
    waiting: usize,
    /// The filter of the inbox that they match, in words.
    within: String,
}

impl<'a> Next<'a> {
    /// Finds the first of them, in the order of the inbox and within its filter.
    pub(super) fn after(decided: ActivityId, shared: &'a Shared) -> Self {
        let is_next = |row: &&Row| row.is_mine && row.id != decided && row.is_admitted(&shared.within);
        let mut mine = shared.inbox.rows().iter().filter(is_next);
        let row = mine.next();
        let within =
            if shared.within.is_empty() { String::new() } else { format!(" in {}", shared.within.field()) };
        Self { row, waiting: mine.count().saturating_add(usize::from(row.is_some())), within }
    }
}
