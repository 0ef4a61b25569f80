//! Webhook endpoints: what must hold of new and changed ones.

use quorate_common::bounded::Label;

use crate::model::webhook_endpoint::ACTIVITY_UPDATES;
use crate::params::WebhookSubscriptionParams;
use crate::refusal::{Clash, Intent, Refusal, Unoffered};
use crate::view::View;

/// Longest URL, in bytes.
pub const URL: usize = 2048;

/// Events of the API that this service does not tell of, since it watches no chain.
const CHAIN_EVENTS: [&str; 3] =
    ["BALANCE_CONFIRMED_UPDATES", "BALANCE_FINALIZED_UPDATES", "SEND_TRANSACTION_STATUS_UPDATES"];

/// Events may be posted there.
pub fn check_url(url: &str, view: &View<'_>) -> Result<(), Refusal> {
    let allowed = view.webhook_allowed(url);
    allowed.map_err(|why| Intent::Detail(format!("invalid webhook URL: {why}")).into())
}

/// The events are known, and filters are JSON.
pub fn check_subscriptions(subscriptions: &[WebhookSubscriptionParams]) -> Result<(), Refusal> {
    for one in subscriptions {
        let event = one.event_type.as_str();
        if CHAIN_EVENTS.contains(&event) {
            let text = format!("webhooks of {event} are not offered by this service");
            return Err(Unoffered::Feature(text).into());
        }
        if event != ACTIVITY_UPDATES {
            return Err(Intent::Text("invalid request body: `eventType`: unknown name").into());
        }
        let filters =
            one.filters_json.as_ref().map(|text| quorate_common::json::parse(text.as_str().as_bytes()));
        if filters.is_some_and(|read| read.is_err()) {
            return Err(Intent::Text("invalid request body: `filtersJson`: expected JSON").into());
        }
    }
    Ok(())
}

/// No endpoint bears this name.
pub fn name_is_free(name: &Label, view: &View<'_>) -> Result<(), Refusal> {
    let taken = view.organization.webhook_endpoints.iter().any(|one| one.name == *name);
    if taken { Err(Clash::Name("webhook endpoint").into()) } else { Ok(()) }
}
