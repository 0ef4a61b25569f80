//! Validates new and changed webhook endpoints.

use crate::error::{Intent, RequestError, Unimplemented};
use crate::model::webhook_endpoint::ACTIVITY_UPDATES;
use crate::params::WebhookSubscriptionParams;
use crate::view::View;

/// Longest URL, in bytes.
pub const URL: usize = 2048;

/// Events of the API that this service does not report, since it does not watch any chain.
const CHAIN_EVENTS: [&str; 3] =
    ["BALANCE_CONFIRMED_UPDATES", "BALANCE_FINALIZED_UPDATES", "SEND_TRANSACTION_STATUS_UPDATES"];

/// Checks that events may be posted to a URL.
///
/// # Errors
/// If they may not; the message contains the reason.
pub fn check_url(url: &str, view: &View<'_>) -> Result<(), RequestError> {
    let allowed = view.installation().webhook_allowed(url);
    allowed.map_err(|why| Intent::Detail(format!("invalid webhook URL: {why}")).into())
}

/// Checks that the events are known and that filters are JSON.
///
/// # Errors
/// If an event is unknown or not offered, or a filter is not JSON.
pub fn check_subscriptions(subscriptions: &[WebhookSubscriptionParams]) -> Result<(), RequestError> {
    for one in subscriptions {
        let event = one.event_type.as_str();
        if CHAIN_EVENTS.contains(&event) {
            let text = format!("webhooks for {event} are not offered by this service");
            return Err(Unimplemented::Feature(text).into());
        }
        if event != ACTIVITY_UPDATES {
            return Err(Intent::Text("invalid request body: `eventType`: unknown name").into());
        }
        let filters =
            one.filters_json.as_ref().map(|text| quorate_common::json::parse(text.as_str().as_bytes()));
        if filters.is_some_and(|parsed| parsed.is_err()) {
            return Err(Intent::Text("invalid request body: `filtersJson`: expected JSON").into());
        }
    }
    Ok(())
}
