//! Webhook receivers of an organization with their part of the queue, and the state that is delivered again, for
//! operators.

use quorate_common::console::{PAGE_LIMIT, WaitingDelivery, WebhookDeliveries, WebhookReceiver};
use quorate_common::ids::{ActivityId, EndpointId, OrganizationId};

use super::load_organization;
use crate::answer::{CanFlags, activity_json};
use crate::error::{Intent, Missing, RequestError};
use crate::model::layout::outbox::{DeliveryId, Destination};
use crate::model::{FeatureName, Organization};
use crate::outbox::{self, EventBody};
use crate::records;
use crate::world::World;

/// Maximum number of waiting deliveries of a receiver that are counted.
const COUNTED: usize = 1000;

/// A delivery that an operator requested again: the current state of an activity.
pub struct Repeated {
    /// Receiver, activity and state.
    pub id: DeliveryId,
    /// URL of the receiver.
    pub url: String,
    /// Body of the event.
    pub body: EventBody,
}

/// Returns the webhook receivers of an organization, without the attempts, which are not stored.
///
/// # Errors
/// If there is no such organization, or the store cannot be read.
pub fn webhook_receivers(
    world: &dyn World,
    organization: OrganizationId,
) -> Result<Vec<WebhookReceiver>, RequestError> {
    let snapshot = load_organization(world, organization)?;
    let feature = feature(&snapshot).map(|url| WebhookReceiver {
        url: url.to_owned(),
        is_active: true,
        ..WebhookReceiver::default()
    });
    let endpoints = snapshot.records.webhook_endpoints.iter().map(|endpoint| {
        let wire = endpoint.wire(organization);
        WebhookReceiver {
            endpoint_id: Some(wire.endpoint_id),
            name: wire.name,
            url: wire.url,
            is_active: wire.is_active,
            subscriptions: wire.subscriptions,
            ..WebhookReceiver::default()
        }
    });
    feature.into_iter().chain(endpoints).map(|one| with_queue(world, organization, one)).collect()
}

/// Adds what waits for a receiver.
fn with_queue(
    world: &dyn World,
    organization: OrganizationId,
    receiver: WebhookReceiver,
) -> Result<WebhookReceiver, RequestError> {
    let destination = Destination { organization, endpoint: receiver.endpoint_id };
    let backlog = outbox::backlog_of(world.records(), &destination, COUNTED)?;
    let parked = outbox::parked_of(world.records(), &destination)?;
    Ok(WebhookReceiver {
        waiting: u64::try_from(backlog.deliveries).unwrap_or(u64::MAX),
        is_more_waiting: backlog.is_more,
        oldest_at_millis: backlog.oldest,
        next_due_millis: backlog.next_due,
        parked: parked.map_or(0, |parked| parked.parked.saturating_add(parked.unreadable)),
        ..receiver
    })
}

/// Returns the deliveries to a receiver that are due first, without the attempts, which are not stored.
///
/// # Errors
/// If there is no such organization or receiver, or the store cannot be read.
pub fn webhook_deliveries(
    world: &dyn World,
    organization: OrganizationId,
    endpoint: Option<EndpointId>,
) -> Result<WebhookDeliveries, RequestError> {
    url(&*load_organization(world, organization)?, endpoint)?;
    let destination = Destination { organization, endpoint };
    let first = outbox::first_due(world.records(), &destination, PAGE_LIMIT)?;
    let waiting = first.into_iter().map(|(id, delivery)| WaitingDelivery {
        organization_id: id.cause,
        activity_id: id.activity,
        votes: id.votes,
        attempts: delivery.attempts,
        due_millis: delivery.due,
    });
    Ok(WebhookDeliveries { waiting: waiting.collect(), attempts: Vec::new() })
}

/// Returns the URL of a receiver to which the organization sends events now.
///
/// # Errors
/// If there is no such organization or receiver, or the organization sends it no events.
pub fn active_webhook(
    world: &dyn World,
    organization: OrganizationId,
    endpoint: Option<EndpointId>,
) -> Result<String, RequestError> {
    let snapshot = load_organization(world, organization)?;
    let found = url(&snapshot, endpoint)?;
    let mut endpoints = snapshot.records.webhook_endpoints.iter();
    if endpoints.any(|one| Some(one.id) == endpoint && !one.receives_activity_updates()) {
        return Err(Intent::Text("the endpoint is not active, or not subscribed to ACTIVITY_UPDATES").into());
    }
    Ok(found)
}

/// Returns what is delivered if an operator requests the delivery of an activity again: its current state.
///
/// # Errors
/// If there is no such receiver or activity, if the receiver is not one of the activity, or the store cannot be read.
pub fn repeated_webhook(
    world: &dyn World,
    (organization, endpoint): (OrganizationId, Option<EndpointId>),
    (cause, activity): (OrganizationId, ActivityId),
) -> Result<Repeated, RequestError> {
    let url = active_webhook(world, organization, endpoint)?;
    let snapshot = load_organization(world, cause)?;
    // A parent receives the events of its sub-organizations, and nobody else does.
    if cause != organization && snapshot.head.parent != Some(organization) {
        return Err(Missing::Activity.into());
    }
    let record = records::activity(world, &snapshot, activity)?.ok_or(Missing::Activity)?;
    let body = EventBody::from_json(activity_json(&record, &snapshot, CanFlags::default())?)?;
    let destination = Destination { organization, endpoint };
    let votes = u32::try_from(record.votes.len()).unwrap_or(u32::MAX);
    let id = DeliveryId { destination, cause, activity, votes, size: body.size() };
    Ok(Repeated { id, url, body })
}

fn feature(organization: &Organization) -> Option<&str> {
    organization.feature(FeatureName::Webhook).flatten()
}

fn url(organization: &Organization, endpoint: Option<EndpointId>) -> Result<String, RequestError> {
    let found = match endpoint {
        None => feature(organization),
        Some(id) => {
            let mut endpoints = organization.records.webhook_endpoints.iter();
            endpoints.find(|one| one.id == id).map(|one| one.url.as_str())
        }
    };
    found.map(str::to_owned).ok_or(RequestError::Missing(Missing::Other("webhook receiver")))
}
