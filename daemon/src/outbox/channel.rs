//! A channel through which queued messages are sent, and the outcome of an attempt.

use std::future::Future;

use quorate_core::message_events::Message;
use quorate_core::model::layout::of_message;
use quorate_core::model::message_event::ServerAnswer;
use quorate_core::model::queued_message::StoredMessage;

/// A means of sending queued messages.
pub(super) trait Channel: Send + Sync + 'static {
    /// The stored form of a message.
    type Message: StoredMessage + Clone + Send + Sync;
    /// Name of the channel in the log.
    const NAME: &'static str;
    /// Maximum number of attempts.
    const ATTEMPTS: u32;

    /// Returns the message as its events describe it, if events are recorded for it.
    fn described(&self, key: &[u8], message: &Self::Message) -> Option<Message>;

    /// Sends a message once. The key distinguishes it from all other messages.
    fn send(&self, key: &[u8], message: &Self::Message) -> impl Future<Output = Reply> + Send;

    /// Reaches the fail point of a step.
    fn reach(step: Step);
}

/// A step at which tests stop the daemon.
#[derive(Clone, Copy)]
pub(super) enum Step {
    /// Before a queued message is read.
    Read,
    /// Before outcomes are recorded.
    Record,
    /// After outcomes were recorded.
    Recorded,
}

/// Outcome of one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The message was accepted.
    Accepted,
    /// The message is permanently rejected.
    Rejected,
    /// A later attempt may succeed.
    Failed,
    /// The server cannot be used for any message now.
    Unavailable,
    /// The message was not sent, because its secret has expired.
    Expired,
    /// The message was delayed, and newer ones displaced it.
    Displaced,
}

/// The outcome of one attempt, and the answer that led to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reply {
    /// Outcome.
    pub(super) outcome: Outcome,
    /// Answer of the server.
    pub(super) answer: ServerAnswer,
}

/// A message as the log names it: its activity, and the domain of its receiver. Addresses are personal data, and are not
/// logged.
pub(super) struct SentMessage {
    /// Id of the activity.
    pub(super) activity: Option<String>,
    /// Domain of an email address.
    pub(super) domain: Option<String>,
}

impl SentMessage {
    /// Returns the names of a message to this receiver, whose key in the store is `key`.
    pub(super) fn of(key: &[u8], receiver: &str) -> Self {
        let domain = receiver.rsplit_once('@').map(|(_, domain)| domain.to_owned());
        Self { activity: of_message(key).map(|(activity, _)| activity.to_string()), domain }
    }
}
