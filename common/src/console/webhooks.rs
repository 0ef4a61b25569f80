//! Webhook receivers of an organization, and the deliveries to them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{ActivityId, EndpointId, OrganizationId};
use crate::wire::WebhookSubscription;

/// Word for the URL of the webhook feature in routes, where an endpoint has its id.
pub const FEATURE: &str = "feature";

/// Event type of a test. It reports no activity.
pub const TEST_EVENT: &str = "WEBHOOK_TEST";

/// The webhook receivers of an organization.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookReceivers {
    /// The URL of the webhook feature first, if it is set, and then the endpoints.
    pub receivers: Vec<WebhookReceiver>,
    /// Time since which attempts are counted, in milliseconds since 1970: the start of the daemon.
    pub counted_since_millis: u64,
}

/// A webhook receiver and its part of the queue.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookReceiver {
    /// Id of the endpoint; absent for the URL of the webhook feature.
    pub endpoint_id: Option<EndpointId>,
    /// Name of the endpoint; empty for the URL of the webhook feature.
    pub name: String,
    /// URL to which events are posted.
    pub url: String,
    /// Whether the organization sends events to it.
    pub is_active: bool,
    /// Event types that an endpoint receives.
    pub subscriptions: Vec<WebhookSubscription>,
    /// Number of waiting deliveries, up to a limit.
    pub waiting: u64,
    /// Whether more deliveries wait than were counted.
    #[serde(default)]
    pub is_more_waiting: bool,
    /// Time of the oldest activity among the counted deliveries, in milliseconds since 1970.
    pub oldest_at_millis: Option<u64>,
    /// Earliest time at which one of them is due, in milliseconds since 1970.
    pub next_due_millis: Option<u64>,
    /// Number of deliveries that were removed from the queue without being made.
    pub parked: u64,
    /// Number of attempts that the receiver accepted since the start of the daemon.
    pub delivered: u64,
    /// Number of other attempts since the start of the daemon.
    pub failed: u64,
    /// The last attempt since the start of the daemon, tests included.
    pub last: Option<WebhookAttempt>,
}

/// The waiting deliveries to a receiver, and the last attempts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookDeliveries {
    /// The deliveries that are due first, at most [`super::PAGE_LIMIT`].
    pub waiting: Vec<WaitingDelivery>,
    /// The last attempts since the start of the daemon, newest first. Their number is limited.
    pub attempts: Vec<WebhookAttempt>,
}

/// A delivery that waits for its next attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitingDelivery {
    /// Organization of the activity.
    pub organization_id: OrganizationId,
    /// Activity whose state is delivered.
    pub activity_id: ActivityId,
    /// Number of votes in this state: each new state of an activity has more.
    pub votes: u32,
    /// Number of failed attempts.
    pub attempts: u32,
    /// Time of the next attempt, in milliseconds since 1970.
    pub due_millis: u64,
}

/// Result of an attempt at a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum AttemptResult {
    /// The receiver accepted the event.
    Delivered,
    /// The attempt failed, and another one follows.
    Failed,
    /// The receiver rejected the event permanently, or may not be called. No attempt follows.
    Refused,
    /// The last attempt failed. No attempt follows.
    GivenUp,
    /// A result that this version of the console does not know.
    #[serde(other)]
    Unknown,
}

/// An attempt at a delivery, or a test.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookAttempt {
    /// Time at which the attempt ended, in milliseconds since 1970.
    pub at_millis: u64,
    /// Type of the event: `ACTIVITY_UPDATES`, or [`TEST_EVENT`] for a test.
    pub event_type: String,
    /// Id of the event, which is the same in all attempts.
    pub event_id: String,
    /// Organization of the activity; absent for a test.
    pub organization_id: Option<OrganizationId>,
    /// Activity whose state is delivered; absent for a test.
    pub activity_id: Option<ActivityId>,
    /// Number of votes in this state.
    pub votes: u32,
    /// Number of the attempt, counted from 1.
    pub attempt: u32,
    /// Result of the attempt.
    pub result: AttemptResult,
    /// Status of the answer; absent without an answer.
    pub status: Option<u16>,
    /// Why there is no answer.
    pub error: Option<String>,
    /// Duration of the attempt in milliseconds.
    pub took_millis: u64,
    /// Time of the next attempt, in milliseconds since 1970; absent if none follows.
    pub next_millis: Option<u64>,
}

/// What happened to a delivery that an operator requested again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RetriedDelivery {
    /// Number of waiting deliveries of the activity that are due now; 0 if its current state was queued again.
    pub expedited: u64,
}
