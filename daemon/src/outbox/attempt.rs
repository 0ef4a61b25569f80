//! One attempt to deliver: its request, and what its outcome means for the delivery and its receiver.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use quorate_common::ids::{ActivityId, OrganizationId};
use quorate_core::model::Millis;
use quorate_core::model::layout;
use quorate_core::model::layout::outbox::{DeliveryId, Destination};
use quorate_core::outbox::{self, Delivery, ParkedFor};
use quorate_core::records;
use quorate_core::refusal::Corrupt;
use quorate_core::world::{Records, World};

use super::dial::{Dialler, Outcome};
use super::receiver::{ReceiverPolicy, WebhookUrl};
use super::schedule;
use super::shares::Conduct;
use crate::clock::now;
use crate::fail_points;
use crate::identity::Identity;
use crate::telemetry::Metrics;
use crate::turn::Turns;

/// How long a delivery waits that could not be prepared, in milliseconds.
const UNPREPARED: Millis = 5000;
/// A receiver that takes longer to answer is slow.
const PROMPT: Duration = Duration::from_secs(1);
/// A longer body, in bytes, is opened and signed on a thread of its own.
const LONG: u32 = 256 * 1024;

/// What makes one delivery. Cheap to clone.
#[derive(Clone)]
pub(super) struct Courier {
    pub(super) turns: Arc<Turns>,
    identity: Identity,
    dialler: Arc<Dialler>,
    policy: Arc<ReceiverPolicy>,
    pub(super) metrics: Metrics,
}

/// Header lines of a request.
type Headers = Vec<(&'static str, String)>;

/// What became of an attempt.
pub(super) enum Attempt {
    /// The receiver was called, which took so long, or is not allowed.
    Made(Outcome, Duration),
    /// What is stored of it cannot be read.
    Unreadable,
    /// It could not be prepared now.
    NotPrepared(Corrupt),
}

/// What becomes of a delivery.
pub(super) enum Fate {
    /// It was made, or given up.
    Gone,
    /// It is tried again.
    Postponed(Delivery),
    /// It is parked.
    Parked(ParkedFor),
}

impl Courier {
    /// A courier of these turns.
    pub(super) fn new(
        turns: Arc<Turns>,
        identity: Identity,
        policy: &ReceiverPolicy,
        metrics: Metrics,
    ) -> Self {
        let dialler = Arc::new(Dialler::new(policy.clone()));
        Self { turns, identity, dialler, policy: Arc::new(policy.clone()), metrics }
    }

    /// What is stored.
    pub(super) fn records(&self) -> &dyn Records {
        self.turns.world().records()
    }

    /// The organization whose share an organization uses: its parent, or itself.
    pub(super) fn tenant(&self, organization: OrganizationId) -> OrganizationId {
        // Where that cannot be read, it has a share of its own.
        let head = records::head(self.records(), organization).ok().flatten();
        head.and_then(|head| head.parent).unwrap_or(organization)
    }

    /// Delivers once.
    pub(super) async fn deliver(self, id: DeliveryId, url: String) -> Attempt {
        let url = match WebhookUrl::check(&url, &self.policy) {
            Ok(url) => url,
            // What was allowed when it was set is not allowed any more.
            Err(why) => return Attempt::Made(Outcome::Refused(why), Duration::ZERO),
        };
        let prepared = if id.size > LONG {
            let courier = self.clone();
            let prepared = tokio::task::spawn_blocking(move || courier.prepare(&id)).await;
            prepared.unwrap_or(Err(Corrupt::Invariant("a delivery is prepared")))
        } else {
            self.prepare(&id)
        };
        match prepared {
            Ok(Some((headers, body))) => {
                fail_points::reach("outbox.send");
                let begun = Instant::now();
                let outcome = self.dialler.post(&url, &headers, body).await;
                fail_points::reach("outbox.sent");
                Attempt::Made(outcome, begun.elapsed())
            }
            Ok(None) => Attempt::Unreadable,
            Err(corrupt) => Attempt::NotPrepared(corrupt),
        }
    }

    /// Headers and body of an attempt; nothing if the body cannot be read.
    fn prepare(&self, id: &DeliveryId) -> Result<Option<(Headers, Bytes)>, Corrupt> {
        let Some(body) = outbox::body(self.records(), id)? else { return Ok(None) };
        let headers = self.headers(id, &body)?;
        Ok(Some((headers, Bytes::from(body))))
    }

    /// The headers of one attempt. The event id stays the same over attempts; time and signature do not.
    fn headers(&self, id: &DeliveryId, body: &[u8]) -> Result<Headers, Corrupt> {
        let (key_id, time, event) = (self.identity.webhook_key_id(), now().to_string(), event_id(id));
        let mut text = format!("v1.ed25519.{key_id}.{time}.{event}.").into_bytes();
        text.extend_from_slice(body);
        Ok(vec![
            ("x-turnkey-organization-id", id.destination.organization.to_string()),
            ("x-turnkey-event-type", "ACTIVITY_UPDATES".to_owned()),
            ("x-turnkey-timestamp", time),
            ("x-turnkey-webhook-version", "1".to_owned()),
            ("x-turnkey-event-id", event),
            ("x-turnkey-signature-key-id", key_id),
            ("x-turnkey-signature-algorithm", "ed25519".to_owned()),
            ("x-turnkey-signature-version", "v1".to_owned()),
            ("x-turnkey-signature", self.identity.sign_webhook(text)?),
        ])
    }

    /// What an attempt says of the receiver, and what becomes of the delivery.
    pub(super) fn judge(&self, id: &DeliveryId, delivery: Delivery, attempt: Attempt) -> (Conduct, Fate) {
        let (organization, activity) = (id.destination.organization, id.activity);
        let (outcome, answered) = match attempt {
            Attempt::Made(outcome, took) if took > PROMPT => (outcome, Conduct::Slow),
            Attempt::Made(outcome, _) => (outcome, Conduct::Answered),
            Attempt::Unreadable => return (Conduct::Untried, Fate::Parked(ParkedFor::Unreadable)),
            Attempt::NotPrepared(cause) => {
                tracing::error!(%organization, %activity, %cause, "a webhook delivery cannot be prepared");
                let due = now().saturating_add(UNPREPARED);
                return (Conduct::Untried, Fate::Postponed(Delivery { due, ..delivery }));
            }
        };
        let attempts = delivery.attempts.saturating_add(1);
        match outcome {
            Outcome::Delivered(_) => {
                self.metrics.delivery("delivered");
                (answered, Fate::Gone)
            }
            Outcome::Final(status) => {
                self.metrics.delivery("refused");
                tracing::warn!(%organization, %activity, status, "a webhook receiver refused a delivery for good");
                (answered, Fate::Gone)
            }
            Outcome::Refused(why) => {
                self.metrics.delivery("refused");
                tracing::warn!(%organization, %activity, why, "a webhook may not be delivered");
                (Conduct::Untried, Fate::Gone)
            }
            Outcome::Failed(status) => {
                tracing::debug!(%organization, %activity, status, attempts, "a webhook receiver failed");
                (Conduct::Failed, self.postponed(id, Delivery { attempts, ..delivery }))
            }
            Outcome::Silent(why) => {
                tracing::debug!(%organization, %activity, why, attempts, "a webhook receiver did not answer");
                (Conduct::Silent, self.postponed(id, Delivery { attempts, ..delivery }))
            }
        }
    }

    /// What becomes of a delivery that failed: it is tried again, or given up.
    fn postponed(&self, id: &DeliveryId, delivery: Delivery) -> Fate {
        self.metrics.delivery("failed");
        if let Some(due) = schedule::next(delivery.attempts, schedule::WEBHOOK_ATTEMPTS, now()) {
            return Fate::Postponed(Delivery { due, ..delivery });
        }
        let (organization, activity) = (id.destination.organization, id.activity);
        self.metrics.delivery("given_up");
        tracing::warn!(%organization, %activity, "a webhook delivery was given up");
        Fate::Gone
    }
}

/// Names an event by where earlier versions stored it, so that it is the same at each attempt and in each version.
fn event_id(id: &DeliveryId) -> String {
    use sha2::{Digest, Sha256};
    let Destination { organization, endpoint } = id.destination;
    let key = layout::notice(organization, endpoint, id.activity, id.votes);
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(Sha256::digest(key)).for_each(|(to, from)| *to = from);
    ActivityId::random(bytes).to_string()
}
