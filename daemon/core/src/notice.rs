//! Notices: what a webhook is told of an activity. Written in the same batch as the activity, delivered later.

use quorate_common::ids::{ActivityId, OrganizationId};
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

/// The notices of an activity's present state: for the organization's own URL and for its parent's.
pub fn notices(
    world: &dyn World,
    organization: &Organization,
    activity: &ActivityRecord,
) -> Result<Vec<Write>, Corrupt> {
    let mut receivers = Vec::new();
    receivers.extend(receiver(organization));
    if let Some(parent) = organization.head.parent {
        receivers.extend(world.organization(parent)?.as_deref().and_then(receiver));
    }
    if receivers.is_empty() {
        return Ok(Vec::new());
    }
    let body = activity_json(activity, organization, CanFlags::default())?;
    let flaw = Corrupt::Record("activity");
    let body = String::from_utf8(body).map_err(|_| flaw.clone())?;
    let body = RawValue::from_string(body).map_err(|_| flaw)?;
    let rows = receivers.into_iter().map(|(receiver, url)| {
        let votes = u32::try_from(activity.votes.len()).unwrap_or(u32::MAX);
        let place = layout::notice(receiver, activity.id, votes);
        let notice = Notice {
            receiver,
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

fn receiver(organization: &Organization) -> Option<(OrganizationId, String)> {
    let url = organization.feature(FeatureName::Webhook)??;
    Some((organization.id(), url.to_owned()))
}
