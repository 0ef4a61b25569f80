//! The webhook deliveries of an activity. They are queued in the same batch as the activity, and delivered
//! later.

use quorate_common::ids::{EndpointId, OrganizationId};

use crate::answer::{CanFlags, activity_json};
use crate::error::Corrupt;
use crate::model::write::Write;
use crate::model::{ActivityRecord, FeatureName, Organization};
use crate::outbox::{self, EventBody};
use crate::world::World;

/// The endpoint, or `None` for the webhook feature, and its URL.
type Receiver = (Option<EndpointId>, String);

/// Returns the writes that queue the deliveries of the current state of an activity, to the receivers of the
/// organization and of its parent.
///
/// # Errors
/// If the store cannot be read, or a record cannot be encoded.
pub fn deliveries(
    world: &dyn World,
    organization: &Organization,
    activity: &ActivityRecord,
) -> Result<Vec<Write>, Corrupt> {
    let parent = organization.head.parent.map(|parent| world.organization(parent)).transpose()?.flatten();
    let organizations = [Some(organization), parent.as_deref()].into_iter().flatten();
    let notified: Vec<(OrganizationId, Vec<Receiver>)> = organizations
        .map(|one| (one.id(), receivers(one)))
        .filter(|(_, receivers)| !receivers.is_empty())
        .collect();
    if notified.is_empty() {
        return Ok(Vec::new());
    }
    let body = EventBody::from_json(activity_json(activity, organization, CanFlags::default())?)?;
    let state = (organization.id(), activity.id, u32::try_from(activity.votes.len()).unwrap_or(u32::MAX));
    let mut writes = Vec::new();
    for (organization, receivers) in notified {
        writes.extend(outbox::queue(organization, receivers, state, &body, activity.updated)?);
    }
    Ok(writes)
}

fn receivers(organization: &Organization) -> Vec<Receiver> {
    let feature = organization.feature(FeatureName::Webhook).flatten();
    let feature = feature.map(|url| (None, url.to_owned()));
    let endpoints =
        organization.records.webhook_endpoints.iter().filter(|endpoint| endpoint.receives_activity_updates());
    let endpoints = endpoints.map(|endpoint| (Some(endpoint.id), endpoint.url.clone()));
    feature.into_iter().chain(endpoints).collect()
}
