//! Sends waiting SMS through a gateway that is called over HTTP.
//!
//! The operator configures the gateway, so its address may be private and plain HTTP is allowed.

mod gateway;
mod prefix;
mod request;
use std::sync::Arc;

use http::StatusCode;
use quorate_core::message_events::Message;
use quorate_core::model::layout::of_message;
use quorate_core::model::message_event::ServerAnswer;
use quorate_core::model::one_time_code::Contact;
use quorate_core::sms::Sms;
use tokio_util::sync::CancellationToken;
use zeroize::Zeroizing;

pub use gateway::{BodyFormat, Field, Gateway, GatewayUrl, Method, Preset};
pub use prefix::SmsPrefix;

use super::channel::{Channel, Outcome, Reply, SentMessage, Step};
use super::queue::Queue;
use super::schedule;
use crate::executor::Executor;
use crate::outgoing::{Dialler, ReceiverPolicy, dial};
use crate::telemetry::Metrics;

/// Status codes that concern this SMS and its recipient. Other errors, such as a wrong password, concern the
/// configuration, or pass.
const PERMANENT: [StatusCode; 3] =
    [StatusCode::BAD_REQUEST, StatusCode::PAYLOAD_TOO_LARGE, StatusCode::UNPROCESSABLE_ENTITY];

/// Settings for sending SMS.
pub struct SmsSettings {
    /// Gateway.
    pub gateway: Gateway,
    /// Password or token for the gateway.
    pub secret: Option<Zeroizing<String>>,
    /// Prefixes of the numbers that SMS are sent to. An empty list allows all numbers.
    pub prefixes: Vec<SmsPrefix>,
}

/// Sends waiting SMS.
pub struct Texter(Queue<SmsChannel>);

impl Texter {
    /// Creates a sender that commits through an executor.
    pub fn new(executor: Arc<Executor>, settings: SmsSettings, metrics: Metrics) -> Self {
        let dialler = Dialler::new(ReceiverPolicy::unrestricted());
        Self(Queue::new(executor, SmsChannel { dialler, settings }, metrics))
    }

    /// Sends SMS until `stop`. The rest is sent after the next start.
    pub async fn run(self, stop: CancellationToken) {
        self.0.run(stop).await;
    }
}

/// The gateway, and how it is called.
struct SmsChannel {
    dialler: Dialler,
    settings: SmsSettings,
}

impl Channel for SmsChannel {
    type Message = Sms;
    const NAME: &'static str = "SMS";
    const ATTEMPTS: u32 = schedule::SMS_ATTEMPTS;

    fn described(&self, key: &[u8], sms: &Sms) -> Option<Message> {
        let (activity, number) = of_message(key)?;
        Some(Message {
            origin: sms.origin?,
            activity,
            number,
            to: Contact::Phone(sms.to.clone()),
            from: None,
        })
    }

    async fn send(&self, key: &[u8], sms: &Sms) -> Reply {
        let gateway = &self.settings.gateway;
        let secret = self.settings.secret.as_ref().map_or("", |secret| secret.as_str());
        let Some(request) = request::request(gateway, secret, sms) else {
            tracing::warn!(activity = activity(key), "an SMS cannot be composed for the gateway");
            let answer = ServerAnswer::new(None, "the SMS cannot be composed for the gateway", &[]);
            return Reply { outcome: Outcome::Rejected, answer };
        };
        let (outcome, status, text) = match self.dialler.call(&gateway.url.0, request).await {
            Ok(status) if gateway.accepted.contains(&status.as_u16()) => {
                (Outcome::Accepted, Some(status), "")
            }
            Ok(status) => {
                let rejected = PERMANENT.contains(&status);
                let (activity, status_code) = (activity(key), status.as_u16());
                tracing::warn!(activity, status = status_code, rejected, "the gateway did not accept an SMS");
                let outcome = match status {
                    _ if rejected => Outcome::Rejected,
                    // The password is wrong, which holds for all SMS. 403 may concern the receiver only.
                    StatusCode::UNAUTHORIZED => Outcome::Unavailable,
                    _ => Outcome::Failed,
                };
                (outcome, Some(status), "")
            }
            Err(cause) => {
                tracing::warn!(activity = activity(key), ?cause, "the SMS gateway does not answer");
                let is_connected = !cause.is_unconnected();
                let outcome = if is_connected { Outcome::Failed } else { Outcome::Unavailable };
                (outcome, None, reason(cause))
            }
        };
        let answer = ServerAnswer::new(status.map(|status| status.as_u16()), text, &[]);
        Reply { outcome, answer }
    }

    /// The points of mail are the same code.
    fn reach(_: Step) {}
}

/// Returns the id of the activity that sends an SMS. Numbers are personal data, and are not logged.
fn activity(key: &[u8]) -> Option<String> {
    SentMessage::of(key, "").activity
}

/// Returns why there is no answer.
const fn reason(outcome: dial::Outcome) -> &'static str {
    match outcome {
        dial::Outcome::NotAllowed(reason) | dial::Outcome::Silent(reason) => reason,
        dial::Outcome::Delivered(_) | dial::Outcome::Final(_) | dial::Outcome::Failed(_) => "no answer",
    }
}

#[cfg(test)]
mod tests;
