//! Where an activity is: in an organization or in one of its sub-organizations.

use quorate_common::console::ActivityLocation;
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::{ActivityId, OrganizationId};

use super::load_organization;
use crate::error::{Corrupt, Intent, Missing, RequestError};
use crate::model::layout;
use crate::records;
use crate::world::{Page, World};

/// Maximum number of waiting activities that are searched.
const WAITING: usize = 5000;
/// Maximum number of sub-organizations that are searched for an activity that does not wait.
const CHILDREN: usize = 1000;

/// Returns the organization of an activity, given by its id or its fingerprint: this one or one of its sub-organizations.
///
/// A fingerprint leads to the activity at once, if it waited for votes. An id is searched among a limited number of waiting
/// activities, and then in a limited number of sub-organizations.
///
/// # Errors
/// If there is no such organization or activity, or the store cannot be read.
pub fn location(
    world: &dyn World,
    id: OrganizationId,
    reference: &str,
) -> Result<ActivityLocation, RequestError> {
    load_organization(world, id)?;
    let found = match (reference.parse::<ActivityId>(), reference.parse::<Fingerprint>()) {
        (Ok(activity), _) => of_activity(world, id, activity)?,
        (_, Ok(fingerprint)) => of_fingerprint(world, id, &fingerprint)?,
        _ => return Err(Intent::Text("expected an activity id or a fingerprint").into()),
    };
    let organization_id = found.ok_or(RequestError::Missing(Missing::Activity))?;
    Ok(ActivityLocation { organization_id })
}

fn of_activity(
    world: &dyn World,
    id: OrganizationId,
    activity: ActivityId,
) -> Result<Option<OrganizationId>, Corrupt> {
    let records = world.records();
    let is_in = |organization| -> Result<bool, Corrupt> {
        let key = layout::activity(organization, activity);
        Ok(!records.keys(Page::first(&key, 1))?.is_empty())
    };
    if is_in(id)? {
        return Ok(Some(id));
    }
    let rows = world.limits().rows_per_answer;
    let prefix = layout::waiting_of(world.index(), id, None);
    let waiting = records.keys(Page::first(&prefix, WAITING.min(rows / 2)))?;
    let mut waiting = waiting.iter().filter_map(|key| layout::waiting_activity(key));
    if let Some((organization, _)) = waiting.find(|(_, one)| *one == activity) {
        return Ok(Some(organization));
    }
    // Each sub-organization is listed and then read.
    let children = records.keys(Page::first(&layout::children(id), CHILDREN.min(rows / 8)))?;
    for child in children.iter().filter_map(|key| layout::organization_id(key)) {
        if is_in(child)? {
            return Ok(Some(child));
        }
    }
    Ok(None)
}

fn of_fingerprint(
    world: &dyn World,
    id: OrganizationId,
    fingerprint: &Fingerprint,
) -> Result<Option<OrganizationId>, Corrupt> {
    let Some(found) = records::organization_that_waited(world, fingerprint)? else { return Ok(None) };
    if found == id {
        return Ok(Some(id));
    }
    let parent = records::head(world.records(), found)?.and_then(|head| head.parent);
    Ok((parent == Some(id)).then_some(found))
}
