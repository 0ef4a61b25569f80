//! Events in the delivery of messages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{MessageEventId, OrganizationId};

/// An event in the delivery of a mail. All members are present, and empty if they do not apply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmailEvent {
    /// Unique id of the event.
    pub id: MessageEventId,
    /// Organization whose activity sends the mail.
    pub organization_id: OrganizationId,
    /// Id of the mail: the activity that sends it, and the number of the mail in it.
    pub message_id: String,
    /// `Send`, `Delivery`, `DeliveryDelay` or `Bounce`.
    pub event_type: String,
    /// Address of the sender.
    pub from_address: String,
    /// Address of the receiver.
    pub to_address: String,
    /// Always empty.
    pub sender_tenant: String,
    /// Time of the event, in milliseconds since 1970.
    pub timestamp: String,
    /// Time at which the event was recorded, in milliseconds since 1970.
    pub created_at: String,
    /// What is known about the event.
    pub details: EmailEventDetails,
}

/// What is known about an event.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmailEventDetails {
    /// Of a bounce: `Permanent` if the mail server rejected the mail, `Transient` if the last attempt failed.
    pub bounce_type: String,
    /// Of a bounce: `General`.
    pub bounce_sub_type: String,
    /// Of a delay or a bounce: answer of the mail server, or the reason why it did not answer.
    pub diagnostic_code: String,
    /// Of a delivery: answer of the mail server.
    pub delivery_smtp_response: String,
    /// Of a delivery: milliseconds since the mail was queued.
    pub delivery_processing_time_millis: Option<String>,
    /// Of a delay: `General`, or `TransientCommunicationFailure` if the mail server did not answer.
    pub delivery_delay_type: String,
    /// Always empty.
    pub complaint_feedback_type: String,
}
