//! `quorate webhooks parked`.

use std::fmt::Write as _;

use quorate_common::console::ParkedDeliveries;

use super::Answer;
use super::arguments::WebhooksCommand;
use crate::failure::Failure;
use crate::session::Session;
use crate::text::date_time;

pub(super) async fn run(session: &Session, command: WebhooksCommand) -> Result<Answer, Failure> {
    session.daemon_status().await?;
    match command {
        WebhooksCommand::Parked => {
            let destinations = parked(session).await?;
            let data = destinations.iter().map(|one| serde_json::to_value(one).unwrap_or_default()).collect();
            Ok(Answer::list(data, text(&destinations)))
        }
    }
}

/// Reads all destinations with parked deliveries.
pub(super) async fn parked(session: &Session) -> Result<Vec<ParkedDeliveries>, Failure> {
    let mut destinations = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let page = session.client.parked(after.as_deref()).await?;
        // A cursor that stays the same would never end.
        let is_last = page.next.is_none() || page.next == after;
        destinations.extend(page.destinations);
        if is_last {
            return Ok(destinations);
        }
        after = page.next;
    }
}

/// Returns the total number of parked deliveries.
pub(super) fn total(destinations: &[ParkedDeliveries]) -> u64 {
    destinations.iter().fold(0, |sum, one| sum.saturating_add(one.parked).saturating_add(one.unreadable))
}

/// Formats a number with its noun.
pub(super) fn counted(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

fn text(destinations: &[ParkedDeliveries]) -> String {
    if destinations.is_empty() {
        return "No webhook deliveries are parked.\n".to_owned();
    }
    let mut text = String::new();
    for one in destinations {
        let endpoint = one
            .endpoint_id
            .map_or_else(|| "webhook URL of the organization".to_owned(), |id| format!("endpoint {id}"));
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "organization {}, {endpoint}\n  {} parked for a limit, {} unreadable, from {} to {}\n  activities {} to {}",
            one.organization_id,
            one.parked,
            one.unreadable,
            date_time(one.first_parked_at.millis()),
            date_time(one.last_parked_at.millis()),
            one.oldest_activity_id,
            one.newest_activity_id,
        );
    }
    text
}
