//! `quorate webhooks parked`.

use quorate_common::console::ParkedDeliveries;
use serde_json::json;

use super::arguments::WebhooksCommand;
use crate::failure::Result;
use crate::output::Answer;
use crate::session::Session;
use crate::text::date_time;

pub(super) async fn run(session: &Session, command: WebhooksCommand) -> Result<Answer> {
    session.daemon_status().await?;
    match command {
        WebhooksCommand::Parked => {
            let destinations = parked(session).await?;
            let rows = destinations.iter().map(|one| (json!(one), text(one)));
            let answer = Answer::rows(rows, "No webhook deliveries are parked.");
            Ok(answer.summed_up(("destination", "destinations"), "/endpointId"))
        }
    }
}

/// Reads all destinations with parked deliveries.
pub(super) async fn parked(session: &Session) -> Result<Vec<ParkedDeliveries>> {
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

fn text(one: &ParkedDeliveries) -> String {
    let webhook = || "webhook URL of the organization".to_owned();
    let endpoint = one.endpoint_id.map_or_else(webhook, |id| format!("endpoint {id}"));
    format!(
        "organization {}, {endpoint}\n  {} parked for a limit, {} unreadable, from {} to {}\n  activities {} to {}\n",
        one.organization_id,
        one.parked,
        one.unreadable,
        date_time(one.first_parked_at.millis()),
        date_time(one.last_parked_at.millis()),
        one.oldest_activity_id,
        one.newest_activity_id,
    )
}
