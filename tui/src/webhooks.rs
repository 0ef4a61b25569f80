//! Words for webhook receivers and for the deliveries to them.

use quorate_common::console::{
    AttemptResult, TEST_EVENT, WaitingDelivery, WebhookAttempt, WebhookReceiver, WebhookReceivers,
};
use quorate_common::wire::WebhookSubscription;

use crate::text::{ago, clean, counted, date_time, duration, quoted};

/// The event type of activity updates.
const ACTIVITY_UPDATES: &str = "ACTIVITY_UPDATES";
/// Number of attempts after which a delivery is given up.
const ATTEMPTS: u32 = 10;

/// Returns the name of a receiver.
pub(crate) fn name(receiver: &WebhookReceiver) -> String {
    if receiver.endpoint_id.is_none() { "webhook feature".to_owned() } else { clean(&receiver.name) }
}

/// Returns the state of a receiver in one word or two, with a mark if it needs care.
pub(crate) fn state(receiver: &WebhookReceiver) -> &'static str {
    let failed = receiver.last.as_ref().is_some_and(|last| last.result != AttemptResult::Delivered);
    if !receiver.is_active {
        "inactive"
    } else if !receives_activities(receiver) {
        "not subscribed"
    } else if failed {
        "failing [!]"
    } else if receiver.last.is_some() {
        "ok"
    } else {
        "no attempt yet"
    }
}

/// Returns whether the organization sends its events to a receiver.
pub(crate) fn receives_activities(receiver: &WebhookReceiver) -> bool {
    let is_subscribed =
        |one: &WebhookSubscription| one.event_type == ACTIVITY_UPDATES && one.is_active != Some(false);
    receiver.is_active && (receiver.endpoint_id.is_none() || receiver.subscriptions.iter().any(is_subscribed))
}

/// Returns the event types that a receiver gets.
pub(crate) fn subscriptions(receiver: &WebhookReceiver) -> String {
    if receiver.endpoint_id.is_none() {
        return ACTIVITY_UPDATES.to_owned();
    }
    let names = receiver.subscriptions.iter().map(|one| {
        let off = if one.is_active == Some(false) { " (inactive)" } else { "" };
        format!("{}{off}", clean(&one.event_type))
    });
    let names: Vec<String> = names.collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// Returns the number of waiting deliveries. It is a lower bound if the daemon did not count all.
pub(crate) fn waiting(receiver: &WebhookReceiver) -> String {
    format!("{}{}", receiver.waiting, if receiver.is_more_waiting { "+" } else { "" })
}

/// Returns for how long the oldest delivery waits, if one does.
pub(crate) fn lag(receiver: &WebhookReceiver, now: u64) -> Option<String> {
    receiver.oldest_at_millis.map(|oldest| duration(now.saturating_sub(oldest)))
}

/// Describes the queue of a receiver.
pub(crate) fn queue_text(receiver: &WebhookReceiver, now: u64) -> String {
    let text = match lag(receiver, now) {
        None => "nothing waits".to_owned(),
        Some(lag) => format!("{} waiting, the oldest for {lag}", waiting(receiver)),
    };
    let due = receiver.next_due_millis.map(|due| format!(", next attempt {}", due_text(due, now)));
    text + &due.unwrap_or_default()
}

/// Describes the parked deliveries of a receiver, if there are some.
pub(crate) fn parked_text(receiver: &WebhookReceiver) -> Option<String> {
    let parked = counted(receiver.parked, "delivery").replace("deliverys", "deliveries");
    (receiver.parked > 0).then(|| format!("[!] {parked} removed from the queue, never made"))
}

/// Describes the attempts since the start of the daemon.
pub(crate) fn counts_text(receiver: &WebhookReceiver, since: u64) -> String {
    let (delivered, failed) = (receiver.delivered, receiver.failed);
    format!("{delivered} accepted, {failed} not, since {}", date_time(since))
}

/// Describes the last attempt at a receiver.
pub(crate) fn last_text(receiver: &WebhookReceiver, now: u64) -> String {
    let Some(last) = &receiver.last else { return "no attempt since the daemon started".to_owned() };
    format!("{} {}: {}", result(last), ago(last.at_millis, now), answer(last))
}

/// Returns the result of an attempt.
pub(crate) fn result(attempt: &WebhookAttempt) -> &'static str {
    match attempt.result {
        AttemptResult::Delivered => "delivered",
        AttemptResult::Failed => "failed",
        AttemptResult::Refused => "refused",
        AttemptResult::GivenUp if attempt.event_type == TEST_EVENT => "failed",
        AttemptResult::GivenUp => "given up",
        AttemptResult::Unknown => "unknown",
    }
}

/// Returns what a receiver answered, or why it did not, and the duration.
pub(crate) fn answer(attempt: &WebhookAttempt) -> String {
    let status = attempt.status.map(|status| status.to_string());
    let text = status.or_else(|| attempt.error.as_deref().map(clean)).unwrap_or_default();
    let took = attempt.took_millis;
    if took < 1000 { format!("{text}, {took} ms") } else { format!("{text}, {}", duration(took)) }
}

/// Returns whether no attempt follows although the receiver did not accept the event.
pub(crate) fn is_lost(attempt: &WebhookAttempt) -> bool {
    matches!(attempt.result, AttemptResult::Refused | AttemptResult::GivenUp)
}

/// Returns the number of an attempt, or that it is a test, and when the next one is due.
pub(crate) fn number_text(attempt: &WebhookAttempt, now: u64) -> String {
    if attempt.event_type == TEST_EVENT {
        return "test".to_owned();
    }
    let next = attempt.next_millis.filter(|next| *next > now);
    let next = next.map(|next| format!(", next {}", due_text(next, now))).unwrap_or_default();
    format!("{} of {ATTEMPTS}{next}", attempt.attempt)
}

/// Describes the next attempt at a waiting delivery.
pub(crate) fn next_text(delivery: &WaitingDelivery, now: u64) -> String {
    let number = delivery.attempts.saturating_add(1);
    format!("{number} of {ATTEMPTS} {}", due_text(delivery.due_millis, now))
}

/// Returns when something is due.
pub(crate) fn due_text(due: u64, now: u64) -> String {
    if due <= now { "now".to_owned() } else { format!("in {}", duration(due.saturating_sub(now))) }
}

/// Describes what a retry did.
pub(crate) fn retried_text(expedited: u64) -> String {
    match expedited {
        0 => "The current state of the activity is queued again".to_owned(),
        1 => "The waiting delivery is due now".to_owned(),
        more => format!("{more} waiting deliveries of the activity are due now"),
    }
}

/// Formats a receiver for the command line.
pub(crate) fn text(receiver: &WebhookReceiver, all: &WebhookReceivers, now: u64) -> String {
    let id = receiver.endpoint_id.map_or_else(|| "feature".to_owned(), |id| id.to_string());
    let name = if receiver.endpoint_id.is_none() { name(receiver) } else { quoted(&receiver.name) };
    let parked = parked_text(receiver).map(|text| format!("  parked    {text}\n")).unwrap_or_default();
    format!(
        "{id}  {name}  {}\n  URL       {}\n  events    {}\n  queue     {}\n{parked}  attempts  {}\n  last      {}\n",
        state(receiver),
        clean(&receiver.url),
        subscriptions(receiver),
        queue_text(receiver, now),
        counts_text(receiver, all.counted_since_millis),
        last_text(receiver, now),
    )
}
