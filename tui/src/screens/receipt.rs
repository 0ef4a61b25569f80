//! What a decision came to: whether the vote is recorded, what the activity has yielded, and what waits next.

use quorate_common::ids::ActivityId;
use quorate_common::stamp::Stamp;
use serde_json::Value;

use super::inbox_row::Row;
use super::shared::Shared;
use crate::ballot::{Outcome, Unconfirmed};
use crate::link::{CastError, Confirmation};
use crate::proof::{Review, outcome_text};
use crate::text::clean;

/// Maximum number of values of a result that are listed.
const VALUES: usize = 12;
/// Maximum length of a value that is listed, in characters.
const VALUE_LENGTH: usize = 200;

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
        lines.extend(result_lines(&target.result));
        Self { success: outcome != Outcome::Failed, lines, word: outcome.word() }
    }

    /// Returns the lines of the receipt: first the outcome, then how to go on.
    pub(super) fn lines(&self, next: &Next) -> Vec<String> {
        let mut lines = self.lines.clone();
        lines.push(match (next, self.success) {
            (Next { row: Some(row), waiting }, true) => format!(
                "Next: {waiting} for you. n opens {} {}, {}. Enter or Esc closes.",
                row.risk.word(),
                row.title,
                row.brief
            ),
            (_, true) => "Nothing else waits for you. Enter or Esc closes.".to_owned(),
            (_, false) => "Esc closes.".to_owned(),
        });
        lines
    }
}

/// The activities that wait for the viewer beside the one that was decided.
pub(super) struct Next<'a> {
    pub(super) row: Option<&'a Row>,
    waiting: usize,
}

impl<'a> Next<'a> {
    /// Finds the first of them, in the order of the inbox.
    pub(super) fn after(decided: ActivityId, shared: &'a Shared) -> Self {
        let mut mine = shared.inbox.rows().iter().filter(|row| row.is_mine && row.id != decided);
        let row = mine.next();
        Self { row, waiting: mine.count().saturating_add(usize::from(row.is_some())) }
    }
}

/// Returns the values of a result, as the daemon states them. Long ones, such as encrypted keys, are only named.
fn result_lines(result: &Value) -> Vec<String> {
    let mut values = Vec::new();
    collect("", result, &mut values);
    let more = values.len().saturating_sub(VALUES);
    let mut lines: Vec<String> = values
        .iter()
        .take(VALUES)
        .map(|(name, value)| format!("result     {} [s]: {}", clean(name), clean(value)))
        .collect();
    if more > 0 {
        lines.push(format!("result     {more} more values: quorate activity get ID"));
    }
    lines
}

/// Collects the values of an object with the names of their members; names of objects around them are left out.
fn collect(name: &str, value: &Value, into: &mut Vec<(String, String)>) {
    match value {
        Value::Object(members) => members.iter().for_each(|(name, value)| collect(name, value, into)),
        Value::Array(items) => items.iter().for_each(|value| collect(name, value, into)),
        Value::Null => {}
        Value::String(text) if text.chars().count() > VALUE_LENGTH => {
            let length = text.chars().count();
            into.push((name.to_owned(), format!("{length} characters: quorate activity get ID")));
        }
        Value::String(text) => into.push((name.to_owned(), text.clone())),
        Value::Bool(_) | Value::Number(_) => into.push((name.to_owned(), value.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_result_is_listed_by_its_values() {
        let result = json!({"signRawPayloadResult": {"r": "aa", "s": "bb", "v": "00"}});
        assert_eq!(
            result_lines(&result),
            ["result     r [s]: aa", "result     s [s]: bb", "result     v [s]: 00"]
        );
        assert_eq!(result_lines(&json!({})), Vec::<String>::new());
        let many: Vec<String> = (0..20).map(|number| format!("0x{number}")).collect();
        let lines = result_lines(&json!({"createWalletResult": {"addresses": many, "walletId": "w"}}));
        assert_eq!(
            (lines.len(), lines.last().map(String::as_str)),
            (13, Some("result     9 more values: quorate activity get ID"))
        );
        let bundle = "é".repeat(201);
        let lines = result_lines(&json!({"exportWalletResult": {"exportBundle": bundle}}));
        assert_eq!(lines, ["result     exportBundle [s]: 201 characters: quorate activity get ID"]);
        // What the daemon states cannot move the terminal's cells.
        let lines = result_lines(&json!({"a": {"b\u{1b}[2J": "\u{202e}x"}}));
        assert_eq!(lines, ["result     b<U+001B>[2J [s]: <U+202E>x"]);
    }
}
