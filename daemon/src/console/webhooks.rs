//! Webhooks for operators: what the receivers of an organization got, and the requests to repeat a delivery or to test
//! a receiver.
//!
//! Every user of the socket may request both, without a stamp: the organization decided that its events go to this
//! URL, and neither changes the organization. Requests are limited for each organization and written to the log.

use quorate_common::api_error::{ApiError, Code};
use quorate_common::console::{
    FEATURE, RetriedDelivery, WebhookAttempt, WebhookDeliveries, WebhookReceiver, WebhookReceivers,
};
use quorate_common::ids::{EndpointId, OrganizationId};
use quorate_core::error::{Missing, RequestError};
use quorate_core::model::Millis;
use quorate_core::model::layout::outbox::Destination;
use quorate_core::operator::{self, Repeated};
use quorate_core::world::World;
use serde::Serialize;

use super::{Parameters, json, parsed};
use crate::listener::{Answer, Listener};
use crate::outbox::OutboxControl;
use crate::rate::RateLimiter;

/// Maximum number of deliveries of an organization that are repeated in a minute.
const RETRIES_PER_MINUTE: u32 = 30;
/// Maximum number of tests of the receivers of an organization in a minute.
const TESTS_PER_MINUTE: u32 = 6;
const MINUTE_MILLIS: u64 = 60_000;

/// A request of an operator that was checked.
pub enum Requested {
    /// Repeat a delivery.
    Retry(Box<Repeated>),
    /// Post a test event to a receiver with this URL.
    Test(Destination, String),
}

/// The webhooks of all organizations, as operators see them.
pub(super) struct Webhooks {
    outbox: OutboxControl,
    retries: RateLimiter<OrganizationId>,
    tests: RateLimiter<OrganizationId>,
}

/// Parses a path with an effect and reads what it needs. Returns `None` if there is no such path.
pub(super) fn requested(
    world: &dyn World,
    parts: &[&str],
    query: &Parameters,
) -> Result<Option<Requested>, RequestError> {
    Ok(match parts {
        ["organizations", id, "webhooks", receiver, "retry"] => {
            let (organization, endpoint) = (parsed(id)?, endpoint(receiver)?);
            let cause = query.id("organization")?.unwrap_or(organization);
            let activity = query.id("activity")?.ok_or(Missing::Activity)?;
            let repeated = operator::repeated_webhook(world, (organization, endpoint), (cause, activity))?;
            Some(Requested::Retry(Box::new(repeated)))
        }
        ["organizations", id, "webhooks", receiver, "test"] => {
            let (organization, endpoint) = (parsed(id)?, endpoint(receiver)?);
            let url = operator::active_webhook(world, organization, endpoint)?;
            Some(Requested::Test(Destination { organization, endpoint }, url))
        }
        _ => None,
    })
}

/// Parses the part of a path that names a receiver.
fn endpoint(receiver: &str) -> Result<Option<EndpointId>, RequestError> {
    if receiver == FEATURE { Ok(None) } else { parsed(receiver).map(Some) }
}

impl Webhooks {
    pub(super) fn new(outbox: OutboxControl) -> Self {
        Self {
            outbox,
            retries: RateLimiter::new(RETRIES_PER_MINUTE, MINUTE_MILLIS),
            tests: RateLimiter::new(TESTS_PER_MINUTE, MINUTE_MILLIS),
        }
    }

    /// Returns the receivers of an organization, with their last attempts.
    pub(super) fn receivers(
        &self,
        world: &dyn World,
        organization: OrganizationId,
        counted_since_millis: Millis,
    ) -> Result<WebhookReceivers, RequestError> {
        let receivers = operator::webhook_receivers(world, organization)?.into_iter().map(|receiver| {
            let destination = Destination { organization, endpoint: receiver.endpoint_id };
            let seen = self.outbox.attempts(&destination, 1);
            let last = seen.last.into_iter().next();
            WebhookReceiver { delivered: seen.delivered, failed: seen.failed, last, ..receiver }
        });
        Ok(WebhookReceivers { receivers: receivers.collect(), counted_since_millis })
    }

    /// Returns the waiting deliveries to a receiver, and the last attempts.
    pub(super) fn deliveries(
        &self,
        world: &dyn World,
        organization: OrganizationId,
        receiver: &str,
    ) -> Result<WebhookDeliveries, RequestError> {
        let endpoint = endpoint(receiver)?;
        let waiting = operator::webhook_deliveries(world, organization, endpoint)?;
        let seen = self.outbox.attempts(&Destination { organization, endpoint }, usize::MAX);
        Ok(WebhookDeliveries { attempts: seen.last, ..waiting })
    }

    /// Counts a request against the limits, and writes it to the log.
    pub(super) fn admit(&self, requested: &Requested, by: Listener, now: Millis) -> Result<(), Answer> {
        let (rate, destination) = match requested {
            Requested::Retry(repeated) => (&self.retries, repeated.id.destination),
            Requested::Test(destination, _) => (&self.tests, *destination),
        };
        let Destination { organization, endpoint } = destination;
        if !rate.take(organization, now) {
            let text = "too many requests for the webhooks of this organization; wait a minute";
            return Err(Answer::error(&ApiError::new(Code::ResourceExhausted, text)));
        }
        let endpoint = endpoint.map(|endpoint| endpoint.to_string());
        let user_id = match by {
            Listener::Socket { user_id } => Some(user_id),
            Listener::Http { .. } => None,
        };
        match requested {
            Requested::Retry(repeated) => {
                let activity = repeated.id.activity;
                tracing::info!(%organization, endpoint, %activity, user_id, "an operator repeats a webhook delivery");
            }
            Requested::Test(..) => {
                tracing::info!(%organization, endpoint, user_id, "an operator tests a webhook receiver");
            }
        }
        Ok(())
    }

    /// Carries out a request.
    pub(super) async fn act(&self, requested: Requested) -> Answer {
        match requested {
            Requested::Retry(repeated) => {
                let expedited = self.outbox.repeat(*repeated).await;
                answer(expedited.map(|expedited| RetriedDelivery { expedited }))
            }
            Requested::Test(destination, url) => answer(self.test(destination, url).await),
        }
    }

    /// Tests a receiver, in a task of its own: the result is recorded even if the operator disconnects.
    async fn test(&self, destination: Destination, url: String) -> Result<WebhookAttempt, ApiError> {
        let outbox = self.outbox.clone();
        let tested = tokio::spawn(async move { outbox.test(destination, &url).await });
        tested.await.unwrap_or_else(|_| Err(ApiError::new(Code::Internal, "the test failed")))
    }
}

fn answer<T: Serialize>(result: Result<T, ApiError>) -> Answer {
    let body = result.and_then(|value| json(&value).map_err(|error| error.api_error()));
    body.map_or_else(|error| Answer::error(&error), Answer::ok)
}
