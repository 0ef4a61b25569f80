//! One attempt at a delivery: its request, and the effect of its outcome on the delivery and its receiver.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use quorate_common::console::TEST_EVENT;
use quorate_common::ids::{ActivityId, OrganizationId};
use quorate_core::error::Corrupt;
use quorate_core::model::Millis;
use quorate_core::model::layout;
use quorate_core::model::layout::outbox::{DeliveryId, Destination};
use quorate_core::model::webhook_endpoint::ACTIVITY_UPDATES;
use quorate_core::outbox::{self, Delivery, ParkedFor};
use quorate_core::records;
use quorate_core::world::{Records, World};

use super::schedule;
use super::shares::Behavior;
use crate::clock::now;
use crate::executor::Executor;
use crate::fail_points;
use crate::identity::Identity;
use crate::outgoing::{Dialler, Outcome, OutgoingUrl, ReceiverPolicy};
use crate::telemetry::Metrics;

/// Delay of a delivery that could not be prepared, in milliseconds.
const PREPARE_RETRY: Millis = 5000;
/// Response time above which a receiver counts as slow.
const SLOW_RESPONSE: Duration = Duration::from_secs(1);
/// Size of a body, in bytes, above which it is decrypted and signed on a separate thread.
const LARGE_BODY: u32 = 256 * 1024;

/// Header with the newest checkpoint of the activity log.
const CHECKPOINT: &str = "x-quorate-checkpoint";

/// Makes single deliveries. Cheap to clone.
#[derive(Clone)]
pub(super) struct DeliveryClient {
    pub(super) executor: Arc<Executor>,
    identity: Identity,
    dialler: Arc<Dialler>,
    policy: Arc<ReceiverPolicy>,
    pub(super) metrics: Metrics,
}

/// Headers of a request.
type Headers = Vec<(&'static str, String)>;

/// Result of an attempt.
pub(super) enum Attempt {
    /// The receiver was called and took this long, or calling it is not allowed.
    Made(Outcome, Duration),
    /// The stored body cannot be read.
    Unreadable,
    /// The delivery could not be prepared; a later attempt may succeed.
    NotPrepared(Corrupt),
}

/// State of a delivery after an attempt.
pub(super) enum Disposition {
    /// It is removed, because it was delivered or abandoned.
    Removed,
    /// It is attempted again.
    Postponed(Delivery),
    /// It is parked.
    Parked(ParkedFor),
}

impl DeliveryClient {
    /// Creates a client that commits through an executor.
    pub(super) fn new(
        executor: Arc<Executor>,
        identity: Identity,
        policy: &ReceiverPolicy,
        metrics: Metrics,
    ) -> Self {
        let dialler = Arc::new(Dialler::new(policy.clone()));
        Self { executor, identity, dialler, policy: Arc::new(policy.clone()), metrics }
    }

    /// Returns the stored records.
    pub(super) fn records(&self) -> &dyn Records {
        self.executor.world().records()
    }

    /// Returns the organization whose share of the outbox is used: the parent, or the organization itself.
    pub(super) fn tenant(&self, organization: OrganizationId) -> OrganizationId {
        // An organization whose head cannot be read has a share of its own.
        let head = records::head(self.records(), organization).ok().flatten();
        head.and_then(|head| head.parent).unwrap_or(organization)
    }

    /// Attempts a delivery once.
    pub(super) async fn deliver(self, id: DeliveryId, url: String) -> Attempt {
        let url = match OutgoingUrl::check(&url, &self.policy) {
            Ok(url) => url,
            // The URL was allowed when it was set, and is not anymore.
            Err(why) => return Attempt::Made(Outcome::NotAllowed(why), Duration::ZERO),
        };
        let prepared = if id.size > LARGE_BODY {
            let client = self.clone();
            let prepared = tokio::task::spawn_blocking(move || client.prepare(&id)).await;
            prepared.unwrap_or(Err(Corrupt::Invariant("preparing a delivery panicked")))
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

    /// Returns the headers and the body of an attempt; `None` if the body cannot be read.
    fn prepare(&self, id: &DeliveryId) -> Result<Option<(Headers, Bytes)>, Corrupt> {
        let Some(body) = outbox::body(self.records(), id)? else { return Ok(None) };
        let headers = self.headers(id.destination.organization, ACTIVITY_UPDATES, event_id(id), &body)?;
        Ok(Some((headers, Bytes::from(body))))
    }

    /// Posts a test event once. It is signed like any other event, and reports no activity. Returns its id.
    pub(super) async fn test(
        &self,
        destination: &Destination,
        url: &str,
    ) -> Result<(ActivityId, (Outcome, Duration)), Corrupt> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|_| Corrupt::Invariant("the random source failed"))?;
        let event = ActivityId::random(random);
        let Destination { organization, endpoint } = destination;
        let body = serde_json::json!({
            "type": TEST_EVENT,
            "organizationId": organization,
            "endpointId": endpoint,
            "sentAtMillis": now().to_string(),
        });
        let body = body.to_string().into_bytes();
        let headers = self.headers(*organization, TEST_EVENT, event, &body)?;
        let url = match OutgoingUrl::check(url, &self.policy) {
            Ok(url) => url,
            Err(why) => return Ok((event, (Outcome::NotAllowed(why), Duration::ZERO))),
        };
        let begun = Instant::now();
        let outcome = self.dialler.post(&url, &headers, Bytes::from(body)).await;
        Ok((event, (outcome, begun.elapsed())))
    }

    /// Returns the headers of one attempt. The event id is the same in all attempts; the time and the signature
    /// differ.
    fn headers(
        &self,
        organization: OrganizationId,
        event_type: &str,
        event: ActivityId,
        body: &[u8],
    ) -> Result<Headers, Corrupt> {
        let (key_id, time, event) = (self.identity.webhook_key_id(), now().to_string(), event.to_string());
        let mut text = format!("v1.ed25519.{key_id}.{time}.{event}.").into_bytes();
        text.extend_from_slice(body);
        let checkpoint = self.executor.recent_checkpoint().map(|checkpoint| (CHECKPOINT, checkpoint));
        let mut headers = vec![
            ("x-turnkey-organization-id", organization.to_string()),
            ("x-turnkey-event-type", event_type.to_owned()),
            ("x-turnkey-timestamp", time),
            ("x-turnkey-webhook-version", "1".to_owned()),
            ("x-turnkey-event-id", event),
            ("x-turnkey-signature-key-id", key_id),
            ("x-turnkey-signature-algorithm", "ed25519".to_owned()),
            ("x-turnkey-signature-version", "v1".to_owned()),
            ("x-turnkey-signature", self.identity.sign_webhook(text)?),
        ];
        headers.extend(checkpoint);
        Ok(headers)
    }

    /// Returns the effect of an attempt on the receiver and on the delivery.
    pub(super) fn disposition(
        &self,
        id: &DeliveryId,
        delivery: Delivery,
        attempt: Attempt,
    ) -> (Behavior, Disposition) {
        let (organization, activity) = (id.destination.organization, id.activity);
        let (outcome, answered) = match attempt {
            Attempt::Made(outcome, took) if took > SLOW_RESPONSE => (outcome, Behavior::Slow),
            Attempt::Made(outcome, _) => (outcome, Behavior::Answered),
            Attempt::Unreadable => return (Behavior::Untried, Disposition::Parked(ParkedFor::Unreadable)),
            Attempt::NotPrepared(cause) => {
                tracing::error!(%organization, %activity, %cause, "a webhook delivery cannot be prepared");
                let due = now().saturating_add(PREPARE_RETRY);
                return (Behavior::Untried, Disposition::Postponed(Delivery { due, ..delivery }));
            }
        };
        let attempts = delivery.attempts.saturating_add(1);
        match outcome {
            Outcome::Delivered(_) => {
                self.metrics.delivery("delivered");
                (answered, Disposition::Removed)
            }
            Outcome::Final(status) => {
                self.metrics.delivery("refused");
                tracing::warn!(%organization, %activity, status, "a webhook receiver permanently rejected a delivery");
                (answered, Disposition::Removed)
            }
            Outcome::NotAllowed(why) => {
                self.metrics.delivery("refused");
                tracing::warn!(%organization, %activity, why, "a webhook delivery is not allowed");
                (Behavior::Untried, Disposition::Removed)
            }
            Outcome::Failed(status) => {
                tracing::debug!(%organization, %activity, status, attempts, "a webhook receiver failed");
                (Behavior::Failed, self.postponed(id, Delivery { attempts, ..delivery }))
            }
            Outcome::Silent(why) => {
                tracing::debug!(%organization, %activity, why, attempts, "a webhook receiver did not answer");
                (Behavior::Silent, self.postponed(id, Delivery { attempts, ..delivery }))
            }
        }
    }

    /// Returns what happens to a failed delivery: it is attempted again or abandoned.
    fn postponed(&self, id: &DeliveryId, delivery: Delivery) -> Disposition {
        self.metrics.delivery("failed");
        if let Some(due) = schedule::next(delivery.attempts, schedule::WEBHOOK_ATTEMPTS, now()) {
            return Disposition::Postponed(Delivery { due, ..delivery });
        }
        let (organization, activity) = (id.destination.organization, id.activity);
        self.metrics.delivery("given_up");
        tracing::warn!(%organization, %activity, "a webhook delivery was abandoned after its last attempt");
        Disposition::Removed
    }
}

/// Derives the id of an event from its record key in earlier versions, so that it is the same in all attempts
/// and versions.
pub(super) fn event_id(id: &DeliveryId) -> ActivityId {
    use sha2::{Digest, Sha256};
    let Destination { organization, endpoint } = id.destination;
    let key = layout::event_key(organization, endpoint, id.activity, id.votes);
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(Sha256::digest(key)).for_each(|(to, from)| *to = from);
    ActivityId::random(bytes)
}
