//! Webhook subscriptions as clients describe them.

use quorate_common::bounded::Text;
use quorate_common::wire::WebhookSubscription;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an endpoint wants to be told of.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookSubscriptionParams {
    /// Name of the event.
    pub event_type: Text<64>,
    /// JSON text that is kept and filters nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filters_json: Option<Text<4096>>,
    /// Whether it counts; absent means yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_active: Option<bool>,
}

impl From<WebhookSubscriptionParams> for WebhookSubscription {
    fn from(params: WebhookSubscriptionParams) -> Self {
        Self {
            event_type: params.event_type.as_str().to_owned(),
            filters_json: params.filters_json.map(|text| text.as_str().to_owned()),
            is_active: params.is_active,
        }
    }
}
