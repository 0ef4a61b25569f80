//! What webhooks report of an activity. Queued in the same batch as the activity, delivered later.

use quorate_common::ids::{ActivityId, EndpointId, OrganizationId};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::answer::{CanFlags, activity_json};
use crate::model::record::Record;
use crate::model::write::Write;
use crate::model::{ActivityRecord, FeatureName, Millis, Organization};
use crate::outbox::{self, EventBody};
use crate::refusal::Corrupt;
use crate::world::World;

/// A delivery that waits, as earlier versions stored it: each with a body of its own.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Notice {
    /// Organization that set the URL.
    pub receiver: OrganizationId,
    /// Its endpoint; absent for the URL of its feature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<EndpointId>,
    /// Where to post.
    pub url: String,
    /// Activity it is about.
    pub activity: ActivityId,
    /// What to post: the activity as it was then.
    pub body: Box<RawValue>,
    /// Deliveries tried so far.
    pub attempts: u32,
    /// Not before this instant.
    pub due: Millis,
}

impl Record for Notice {
    const NOUN: &'static str = "notice";
}

/// An endpoint, or the URL of the feature, and where it is called.
type Receiver = (Option<EndpointId>, String);

/// The deliveries of an activity's present state: to the organization's own receivers and to those of its parent.
///
/// # Errors
/// If the store cannot be read, or a record cannot be encoded.
pub fn notices(
    world: &dyn World,
    organization: &Organization,
    activity: &ActivityRecord,
) -> Result<Vec<Write>, Corrupt> {
    let parent = organization.head.parent.map(|parent| world.organization(parent)).transpose()?.flatten();
    let told = [Some(organization), parent.as_deref()].into_iter().flatten();
    let told: Vec<(OrganizationId, Vec<Receiver>)> =
        told.map(|one| (one.id(), receivers(one))).filter(|(_, receivers)| !receivers.is_empty()).collect();
    if told.is_empty() {
        return Ok(Vec::new());
    }
    let body = EventBody::from_json(activity_json(activity, organization, CanFlags::default())?)?;
    let state = (organization.id(), activity.id, u32::try_from(activity.votes.len()).unwrap_or(u32::MAX));
    let mut writes = Vec::new();
    for (organization, receivers) in told {
        writes.extend(outbox::queue(organization, receivers, state, &body, activity.updated)?);
    }
    Ok(writes)
}

fn receivers(organization: &Organization) -> Vec<Receiver> {
    let feature = organization.feature(FeatureName::Webhook).flatten();
    let feature = feature.map(|url| (None, url.to_owned()));
    let endpoints = organization.webhook_endpoints.iter().filter(|endpoint| endpoint.hears_of_activities());
    let endpoints = endpoints.map(|endpoint| (Some(endpoint.id), endpoint.url.clone()));
    feature.into_iter().chain(endpoints).collect()
}
