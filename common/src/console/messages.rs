//! What happened to the messages of an organization.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{ActivityId, MessageEventId, OrganizationId};

/// Events in the delivery of mail and SMS, newest first.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessagePage {
    /// Events of this page. A page may be empty although more follow.
    pub events: Vec<MessageEvent>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<MessageEventId>,
}

/// An event in the delivery of a mail or an SMS.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessageEvent {
    /// Unique id of the event.
    pub id: MessageEventId,
    /// Organization whose activity sends the message.
    pub organization_id: OrganizationId,
    /// Activity that sends the message.
    pub activity_id: ActivityId,
    /// Id that all events of the message have.
    pub message_id: String,
    /// Email address or phone number of the receiver.
    pub to_address: String,
    /// Address of the sender of a mail.
    pub from_address: Option<String>,
    /// `Send`, `Delivery`, `DeliveryDelay`, `Bounce`, `Expired` or `Displaced`.
    pub event_type: String,
    /// Answer of the mail server or the gateway, or the reason why it did not answer; absent if the message was queued.
    pub answer: Option<String>,
    /// Time of the event, in milliseconds since 1970.
    pub at_millis: u64,
}
