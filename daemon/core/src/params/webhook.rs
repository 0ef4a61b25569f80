//! Parameters of webhook subscriptions.

use quorate_common::bounded::Text;
use quorate_common::ids::EndpointId;
use quorate_common::wire::{WebhookEndpoint, WebhookSubscription};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WebhookEndpointResult {
    pub(crate) endpoint_id: EndpointId,
    pub(crate) webhook_endpoint: WebhookEndpoint,
}

/// A subscription of a webhook endpoint.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookSubscriptionParams {
    /// Event to receive, such as `ACTIVITY_UPDATES`.
    pub event_type: Text<64>,
    /// Filters as JSON text. They are stored but have no effect.
    pub filters_json: Option<Text<4096>>,
    /// Whether the subscription is active; true if absent.
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
