//! An endpoint that receives webhooks.

use quorate_common::bounded::Label;
use quorate_common::ids::{EndpointId, OrganizationId};
use quorate_common::wire::{self, WebhookSubscription};
use serde::{Deserialize, Serialize};

use super::Millis;
use super::layout::Entity;
use super::record::Record;
use super::shelf::shelved;

/// The event that tells of each new state of an activity.
pub const ACTIVITY_UPDATES: &str = "ACTIVITY_UPDATES";

/// An endpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WebhookEndpoint {
    /// Id.
    pub id: EndpointId,
    /// Name.
    pub name: Label,
    /// Where events are posted.
    pub url: String,
    /// Whether anything is posted.
    pub active: bool,
    /// What it wants to be told of.
    pub subscriptions: Vec<WebhookSubscription>,
    /// Created at.
    pub created: Millis,
    /// Last changed at.
    pub updated: Millis,
}

impl Record for WebhookEndpoint {
    const NOUN: &'static str = "webhook endpoint";
}

shelved!(WebhookEndpoint, EndpointId, Entity::WebhookEndpoint, webhook_endpoints);

impl WebhookEndpoint {
    /// Whether it is told of activities now.
    pub fn hears_of_activities(&self) -> bool {
        let wants =
            |one: &WebhookSubscription| one.event_type == ACTIVITY_UPDATES && one.is_active != Some(false);
        self.active && self.subscriptions.iter().any(wants)
    }

    /// As queries show it.
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
