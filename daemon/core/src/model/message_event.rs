//! Events in the delivery of messages, as they are stored: a mail or an SMS was queued, taken by its server,
//! delayed or given up. They contain no text of the message.

use quorate_common::bounded::Email;
use quorate_common::ids::{ActivityId, MessageEventId, OrganizationId};
use quorate_common::wire::{EmailEvent, EmailEventDetails};
use serde::{Deserialize, Serialize};

use super::Millis;
use super::one_time_code::Contact;
use super::record::Record;
use super::redaction;

/// How long events are kept, in milliseconds: 30 days.
pub const EVENT_LIFE_MILLIS: Millis = 30 * 24 * 60 * 60 * 1000;
/// Maximum length of the text of an answer that is kept, in characters.
pub const ANSWER_LIMIT: usize = 512;

/// A group of senders of a tenant, besides the tenant itself. Each has a part of the share of the tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum SenderGroup {
    /// The users of its sub-organizations.
    Children,
    /// The user of its authentication proxy, and so anonymous clients.
    Proxy,
}

/// Where a message comes from.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageOrigin {
    /// Organization whose activity sends the message.
    pub organization: OrganizationId,
    /// Organization that keeps the events: the parent of a sub-organization, or the organization itself.
    pub keeper: OrganizationId,
    /// Group of its sender; `None` if it is of the keeper itself, or an earlier version queued it.
    pub group: Option<SenderGroup>,
    /// Time at which the message was queued.
    pub queued: Millis,
}

/// An event in the delivery of a message.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageEvent {
    /// Organization whose activity sends the message.
    pub organization: OrganizationId,
    /// Activity that sends the message.
    pub activity: ActivityId,
    /// Number of the message among those of the activity.
    pub number: u32,
    /// Receiver.
    pub to: Contact,
    /// Sender of a mail.
    pub from: Option<Email>,
    /// Time of the event.
    pub at: Millis,
    /// What happened.
    pub step: DeliveryStep,
}

/// What happened to a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeliveryStep {
    /// It was queued.
    Queued,
    /// The server took it, this many milliseconds after it was queued.
    Delivered(ServerAnswer, Millis),
    /// An attempt failed, and another one will be made.
    Delayed(ServerAnswer),
    /// The server rejected it permanently. No further attempt is made.
    Rejected(ServerAnswer),
    /// The last attempt failed. No further attempt is made.
    GivenUp(ServerAnswer),
    /// What it contains expired before the server took it. No further attempt is made.
    Expired(ServerAnswer),
    /// It was delayed, and newer messages took its place because too many waited. No further attempt is made.
    Displaced(ServerAnswer),
}

/// The answer of a server to a message.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerAnswer {
    /// Status code; `None` if there is no answer.
    pub code: Option<u16>,
    /// Text of the answer, or the reason why the server did not answer, on one line.
    pub text: String,
}

impl Record for MessageEvent {
    const NOUN: &'static str = "message event";
}

impl ServerAnswer {
    /// Creates an answer. A server may quote the message in its answer, so everything that could be a secret in
    /// the texts of the message is removed.
    pub fn new(code: Option<u16>, text: &str, message: &[&str]) -> Self {
        let line: String = text.chars().map(|one| if one.is_control() { ' ' } else { one }).collect();
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        let line = redaction::redacted(&line, message);
        Self { code, text: line.chars().take(ANSWER_LIMIT).collect() }
    }

    /// Returns the code and the text, as they follow each other in an answer.
    pub fn line(&self) -> String {
        match self.code {
            Some(code) if self.text.is_empty() => code.to_string(),
            Some(code) => format!("{code} {}", self.text),
            None => self.text.clone(),
        }
    }
}

impl DeliveryStep {
    /// Returns the name of the step in the API.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Queued => "Send",
            Self::Delivered(..) => "Delivery",
            Self::Delayed(_) => "DeliveryDelay",
            Self::Rejected(_) | Self::GivenUp(_) | Self::Expired(_) | Self::Displaced(_) => "Bounce",
        }
    }

    /// Returns the name of the step for operators, who distinguish more than the API does.
    pub const fn operator_name(&self) -> &'static str {
        match self {
            Self::Expired(_) => "Expired",
            Self::Displaced(_) => "Displaced",
            _ => self.name(),
        }
    }

    /// Returns the answer of the server, or why there is none.
    pub const fn answer(&self) -> Option<&ServerAnswer> {
        match self {
            Self::Queued => None,
            Self::Delivered(answer, _)
            | Self::Delayed(answer)
            | Self::Rejected(answer)
            | Self::GivenUp(answer)
            | Self::Expired(answer)
            | Self::Displaced(answer) => Some(answer),
        }
    }
}

impl MessageEvent {
    /// Returns an id that is the same for all events of the message, and for no other message.
    pub fn message_id(&self) -> String {
        message_id(self.activity, self.number)
    }

    /// Converts the event of a mail to the wire form.
    pub fn email(&self, id: MessageEventId) -> EmailEvent {
        let mut details = EmailEventDetails::default();
        // The type of a diagnostic (RFC 3464 §2.3.6): the mail server did not say that the mail expired or was displaced.
        let is_own = matches!(self.step, DeliveryStep::Expired(_) | DeliveryStep::Displaced(_));
        let kind = if is_own { "x-quorate" } else { "smtp" };
        let diagnostic = |answer: &ServerAnswer| format!("{kind}; {}", answer.line());
        match &self.step {
            DeliveryStep::Queued => {}
            DeliveryStep::Delivered(answer, after) => {
                details.delivery_smtp_response = answer.line();
                details.delivery_processing_time_millis = Some(after.to_string());
            }
            DeliveryStep::Delayed(answer) => {
                details.diagnostic_code = diagnostic(answer);
                let silent = answer.code.is_none();
                let delay = if silent { "TransientCommunicationFailure" } else { "General" };
                delay.clone_into(&mut details.delivery_delay_type);
            }
            DeliveryStep::Rejected(answer)
            | DeliveryStep::GivenUp(answer)
            | DeliveryStep::Expired(answer)
            | DeliveryStep::Displaced(answer) => {
                details.diagnostic_code = diagnostic(answer);
                let is_rejected = matches!(self.step, DeliveryStep::Rejected(_));
                let bounce = if is_rejected { "Permanent" } else { "Transient" };
                bounce.clone_into(&mut details.bounce_type);
                "General".clone_into(&mut details.bounce_sub_type);
            }
        }
        EmailEvent {
            id,
            organization_id: self.organization,
            message_id: self.message_id(),
            event_type: self.step.name().to_owned(),
            from_address: self.from.as_ref().map(Email::to_string).unwrap_or_default(),
            to_address: self.to.as_str().to_owned(),
            sender_tenant: String::new(),
            timestamp: self.at.to_string(),
            created_at: self.at.to_string(),
            details,
        }
    }
}

/// Returns the id of a message.
pub fn message_id(activity: ActivityId, number: u32) -> String {
    format!("{activity}.{number}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_one_line_without_secrets_of_the_message() {
        let text = "Your code for Acme is:\n\n    7F3K9QHXM\n\nhttps://acme.example/?code=7F3K9QHXM&n=1\nSign in today";
        for (answer, expected) in [
            ("2.0.0 OK: queued as 4XyZ", "2.0.0 OK: queued as 4XyZ"),
            ("spam: \"7f3k9qhxm\" in body\r\n250 7F3K9QHXM", "spam: \"[redacted]\" in body 250 [redacted]"),
            ("Your code for Acme: rejected\0", "Your code for Acme: rejected"),
            ("ü7F3K9QHXMü", "ü[redacted]ü"),
        ] {
            assert_eq!(ServerAnswer::new(Some(550), answer, &[text]).text, expected);
        }
        let long = ServerAnswer::new(None, &"ä ".repeat(2000), &[text]);
        assert_eq!(long.text.chars().count(), ANSWER_LIMIT);
        let key = "ab".repeat(32);
        assert_eq!(ServerAnswer::new(None, &format!("x{key}"), &[&key]).text, "x[redacted]");
        let letters = ServerAnswer::new(Some(1), "QWXYZK", &["the code is QWXYZK"]);
        assert_eq!(letters.line(), "1 [redacted]");
        assert_eq!(ServerAnswer::new(Some(202), "", &[]).line(), "202");
    }
}
