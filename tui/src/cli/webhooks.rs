//! `quorate webhook ls|deliveries|retry|test|parked`.

use quorate_common::console::{
    AttemptResult, ParkedDeliveries, WaitingDelivery, WebhookAttempt, WebhookReceiver,
};
use quorate_common::ids::{ActivityId, OrganizationId};
use serde_json::{Value, json};

use super::webhook_arguments::WebhookCommand;
use crate::clock::now_millis;
use crate::failure::{Exit, Failure, Result};
use crate::link::ReceiverId;
use crate::output::{Answer, extended};
use crate::session::Session;
use crate::text::{clean, date_time};
use crate::webhooks;

/// Name of the URL of the webhook feature on the command line.
const FEATURE: &str = "feature";

pub(super) async fn run(session: &Session, command: &WebhookCommand) -> Result<Answer> {
    session.daemon_status().await?;
    match command {
        WebhookCommand::Ls => ls(session).await,
        WebhookCommand::Deliveries { receiver } => deliveries(session, receiver).await,
        WebhookCommand::Retry { receiver, activity, of } => retry(session, receiver, *activity, *of).await,
        WebhookCommand::Test { receiver } => test(session, receiver).await,
        WebhookCommand::Parked => {
            let destinations = parked(session).await?;
            let rows = destinations.iter().map(|one| (json!(one), text(one)));
            let answer = Answer::rows(rows, "No webhook deliveries are parked.");
            Ok(answer.summed_up(("destination", "destinations"), "/endpointId"))
        }
    }
}

async fn ls(session: &Session) -> Result<Answer> {
    let organization = session.organization_id().await?;
    let (all, now) = (session.client.webhooks(organization).await?, now_millis());
    let rows = all.receivers.iter().map(|one| {
        let state = webhooks::state(one).trim_end_matches(" [!]");
        let members = [
            ("organizationId", json!(organization)),
            ("state", json!(state)),
            ("countedSinceMillis", json!(all.counted_since_millis)),
        ];
        (extended(json!(one), members), webhooks::text(one, &all, now))
    });
    Ok(Answer::rows(rows, "No webhook receivers."))
}

/// Finds a receiver of the organization by its id or its name.
async fn find(session: &Session, wanted: &str) -> Result<(ReceiverId, WebhookReceiver)> {
    let organization = session.organization_id().await?;
    let receivers = session.client.webhooks(organization).await?.receivers;
    let is_wanted = |one: &WebhookReceiver| match one.endpoint_id {
        None => wanted == FEATURE,
        Some(id) => id.to_string() == wanted.to_lowercase() || one.name == wanted,
    };
    let mut found: Vec<WebhookReceiver> = receivers.into_iter().filter(is_wanted).collect();
    if found.len() > 1 {
        return Err(Failure::new(Exit::Usage, "webhook receiver: several have this name; give its id"));
    }
    let missing = || Failure::new(Exit::NotFound, "webhook receiver: not found; see `quorate webhook ls`");
    let receiver = found.pop().ok_or_else(missing)?;
    Ok(((organization, receiver.endpoint_id), receiver))
}

async fn deliveries(session: &Session, wanted: &str) -> Result<Answer> {
    let (id, _) = find(session, wanted).await?;
    let (found, now) = (session.client.deliveries(id).await?, now_millis());
    let with_state = |data: Value, state: &str| extended(data, [("state", json!(state))]);
    let waiting = found.waiting.iter().map(|one| (with_state(json!(one), "waiting"), waiting_text(one, now)));
    let attempts = found.attempts.iter().map(|one| {
        let data = with_state(json!(one), webhooks::result(one));
        (data, attempt_text(one, now))
    });
    Ok(Answer::rows(
        waiting.chain(attempts),
        "No delivery waits, and none was made since the daemon started.",
    ))
}

fn waiting_text(delivery: &WaitingDelivery, now: u64) -> String {
    format!(
        "{} waiting    attempt {}\n  activity {} with {} in organization {}\n",
        date_time(delivery.due_millis),
        webhooks::next_text(delivery, now),
        delivery.activity_id,
        counted(usize::try_from(delivery.votes).unwrap_or(usize::MAX), "vote"),
        delivery.organization_id,
    )
}

fn attempt_text(attempt: &WebhookAttempt, now: u64) -> String {
    let of = match (attempt.activity_id, attempt.organization_id) {
        (Some(activity), Some(organization)) => {
            let votes = counted(usize::try_from(attempt.votes).unwrap_or(usize::MAX), "vote");
            format!("  activity {activity} with {votes} in organization {organization}\n")
        }
        _ => String::new(),
    };
    let number = webhooks::number_text(attempt, now);
    let number = if of.is_empty() { number } else { format!("attempt {number}") };
    format!(
        "{} {:<10} {}; {number}\n{of}  event {}\n",
        date_time(attempt.at_millis),
        webhooks::result(attempt),
        webhooks::answer(attempt),
        clean(&attempt.event_id),
    )
}

async fn retry(
    session: &Session,
    wanted: &str,
    activity: ActivityId,
    of: Option<OrganizationId>,
) -> Result<Answer> {
    let (id, receiver) = find(session, wanted).await?;
    let retried = session.client.retry_delivery(id, (of.unwrap_or(id.0), activity)).await?;
    let text = format!("{} for {}.\n", webhooks::retried_text(retried.expedited), webhooks::name(&receiver));
    Ok(Answer::one(json!(retried), text))
}

/// Posts a test event. Fails if the receiver does not accept it.
async fn test(session: &Session, wanted: &str) -> Result<Answer> {
    let (id, receiver) = find(session, wanted).await?;
    let attempt = session.client.test_webhook(id).await?;
    let (result, answer) = (webhooks::result(&attempt), webhooks::answer(&attempt));
    let text = format!("test event to {}: {result}, {answer}\n", webhooks::name(&receiver));
    let exit = if attempt.result == AttemptResult::Delivered { Exit::Done } else { Exit::Failed };
    Ok(Answer::one(json!(attempt), text).exits(exit))
}
/// Reads all destinations with parked deliveries.
pub(super) async fn parked(session: &Session) -> Result<Vec<ParkedDeliveries>> {
    let mut destinations = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let page = session.client.parked(after.as_deref()).await?;
        destinations.extend(page.destinations);
        after = page.next;
        if after.is_none() {
            return Ok(destinations);
        }
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
