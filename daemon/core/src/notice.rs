//! Notices: what a webhook is told of an activity. Written in the same batch as the activity, delivered later.

use quorate_common::ids::{ActivityId, EndpointId, OrganizationId};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::answer::{CanFlags, activity_json};
use crate::model::change::Write;
use crate::model::record::Record;
use crate::model::{ActivityRecord, FeatureName, Millis, Organization, layout};
use crate::refusal::Corrupt;
use crate::world::World;

/// A notice that waits for delivery.
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

/// Who is told: an organization, by one of its endpoints or by the URL of its feature.
struct Receiver {
    organization: OrganizationId,
    endpoint: Option<EndpointId>,
    url: String,
}

/// The notices of an activity's present state: for the organization's own receivers and for its parent's.
pub fn notices(
    world: &dyn World,
    organization: &Organization,
    activity: &ActivityRecord,
) -> Result<Vec<Write>, Corrupt> {
    let mut receivers = receivers(organization);
    if let Some(parent) = organization.head.parent
        && let Some(parent) = world.organization(parent)?
    {
        receivers.extend(self::receivers(&parent));
    }
    if receivers.is_empty() {
        return Ok(Vec::new());
    }
    let body = activity_json(activity, organization, CanFlags::default())?;
    let flaw = Corrupt::Record("activity");
    let body = String::from_utf8(body).map_err(|_| flaw.clone())?;
    let body = RawValue::from_string(body).map_err(|_| flaw)?;
    let votes = u32::try_from(activity.votes.len()).unwrap_or(u32::MAX);
    let rows = receivers.into_iter().map(|Receiver { organization, endpoint, url }| {
        let place = layout::notice(organization, endpoint, activity.id, votes);
        let notice = Notice {
            receiver: organization,
            endpoint,
            url,
            activity: activity.id,
            body: body.clone(),
            attempts: 0,
            due: activity.updated,
        };
        Write::put_new(place, &notice)
    });
    rows.collect()
}

fn receivers(organization: &Organization) -> Vec<Receiver> {
    let feature = organization.feature(FeatureName::Webhook).flatten();
    let feature =
        feature.map(|url| Receiver { organization: organization.id(), endpoint: None, url: url.to_owned() });
    let endpoints = organization.webhook_endpoints.iter().filter(|endpoint| endpoint.hears_of_activities());
    let endpoints = endpoints.map(|endpoint| Receiver {
        organization: organization.id(),
        endpoint: Some(endpoint.id),
        url: endpoint.url.clone(),
    });
    feature.into_iter().chain(endpoints).collect()
}
