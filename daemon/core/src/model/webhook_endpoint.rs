//! Endpoints that receive webhooks.

use quorate_common::bounded::Label;
use quorate_common::ids::{EndpointId, OrganizationId};
use quorate_common::wire::{self, WebhookSubscription};
use serde::{Deserialize, Serialize};

use super::Millis;

/// Type of the events that report each new state of an activity.
pub const ACTIVITY_UPDATES: &str = "ACTIVITY_UPDATES";

/// An endpoint that receives webhooks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WebhookEndpoint {
    /// Id.
    pub id: EndpointId,
    /// Name.
    pub name: Label,
    /// URL that events are posted to.
    pub url: String,
    /// Whether events are posted.
    pub active: bool,
    /// Event types that the endpoint subscribes to.
    pub subscriptions: Vec<WebhookSubscription>,
    /// Time of creation.
    pub created: Millis,
    /// Time of the last change.
    pub updated: Millis,
}

impl WebhookEndpoint {
    /// Returns whether the endpoint currently receives updates of activities.
    pub fn receives_activity_updates(&self) -> bool {
        let is_subscribed =
            |one: &WebhookSubscription| one.event_type == ACTIVITY_UPDATES && one.is_active != Some(false);
        self.active && self.subscriptions.iter().any(is_subscribed)
    }

    /// Converts to the wire form.
    pub fn wire(&self, organization: OrganizationId) -> wire::WebhookEndpoint {
        wire::WebhookEndpoint {
            endpoint_id: self.id,
            organization_id: organization,
            url: self.url.clone(),
            name: self.name.to_string(),
            is_active: self.active,
            subscriptions: self.subscriptions.clone(),
        }
    }
}
