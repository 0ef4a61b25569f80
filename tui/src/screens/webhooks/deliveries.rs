//! The rows of the deliveries to a receiver: those that wait, and then the last attempts, newest first.

use quorate_common::console::{WaitingDelivery, WebhookAttempt, WebhookDeliveries};
use quorate_common::ids::{ActivityId, OrganizationId};

use crate::screens::overlay::Piece;
use crate::text::{clean, date_time, pad};
use crate::webhooks;

/// Columns from which a delivery takes one row.
const WIDE: usize = 110;

/// A row of the deliveries.
#[derive(Debug, Clone, Copy)]
pub(super) enum Delivery<'a> {
    Waiting(&'a WaitingDelivery),
    Made(&'a WebhookAttempt),
}

/// Returns the rows.
pub(super) fn of(all: &WebhookDeliveries) -> Vec<Delivery<'_>> {
    let waiting = all.waiting.iter().map(Delivery::Waiting);
    waiting.chain(all.attempts.iter().map(Delivery::Made)).collect()
}

/// Returns the position of the row with this key.
pub(super) fn position(rows: &[Delivery<'_>], key: Option<&str>) -> usize {
    rows.iter().position(|row| Some(row.key().as_str()) == key).unwrap_or(0)
}

impl Delivery<'_> {
    /// Returns what identifies the row while others come and go.
    pub(super) fn key(&self) -> String {
        match self {
            Self::Waiting(one) => format!("{} {}", one.activity_id, one.votes),
            Self::Made(one) => format!("{} {} {}", one.event_id, one.attempt, one.at_millis),
        }
    }

    /// Returns the activity with its organization; nothing for a test.
    pub(super) fn activity(&self) -> Option<(OrganizationId, ActivityId)> {
        match self {
            Self::Waiting(one) => Some((one.organization_id, one.activity_id)),
            Self::Made(one) => one.organization_id.zip(one.activity_id),
        }
    }

    pub(super) fn copies(&self) -> Vec<Piece> {
        let piece = |key, name, text: String| Piece { key, name, text };
        let mut pieces = Vec::new();
        if let Some((organization, activity)) = self.activity() {
            pieces.push(piece('a', "activity id", activity.to_string()));
            pieces.push(piece('o', "organization id", organization.to_string()));
        }
        if let Self::Made(one) = self {
            pieces.push(piece('e', "event id", one.event_id.clone()));
        }
        pieces
    }

    /// Formats the row as one line if the width allows it, otherwise as two.
    pub(super) fn texts(&self, marker: &str, columns: usize, now: u64) -> Vec<String> {
        let (time, result, answer, number) = match self {
            Self::Waiting(one) => {
                let failed = if one.attempts > 0 { "[!] failed so far" } else { "not attempted yet" };
                (one.due_millis, "waiting", failed.to_owned(), webhooks::next_text(one, now))
            }
            Self::Made(one) => {
                let mark = if webhooks::is_lost(one) { "[!] " } else { "" };
                let answer = format!("{mark}{}", webhooks::answer(one));
                (one.at_millis, webhooks::result(one), answer, webhooks::number_text(one, now))
            }
        };
        let activity = self.activity().map_or_else(String::new, |(_, id)| clean(&id.to_string()));
        let time = date_time(time);
        // The year is left out: the daemon keeps attempts since its start only.
        let time = time.trim_end_matches(" UTC").get(5..).unwrap_or_default();
        let result = pad(result, 9);
        if columns >= WIDE {
            let (answer, number) = (pad(&answer, 27), pad(&number, 22));
            return vec![format!("{marker}{time} {result} {answer} {number} {activity}")];
        }
        let number = if activity.is_empty() { number } else { format!("attempt {number}") };
        vec![format!("{marker}{result} {answer}"), format!("  {time} {number}")]
    }
}
