//! The comparison of activities with their index entries, for checks of a whole store. Requests check the
//! records that they read themselves.

use quorate_common::activity::Status;
use quorate_common::ids::{ActivityId, OrganizationId};

use crate::error::Corrupt;
use crate::model::layout::{self, Letter};
use crate::model::record::Record;
use crate::model::{ActivityRecord, RecordDigest};
use crate::records;
use crate::world::{Page, Records};

/// Describes the inconsistency of the activity, or of the index entry of an activity, that is stored at this
/// key.
///
/// # Errors
/// If one of the two cannot be read.
pub fn problem(records: &dyn Records, key: &[u8], value: &[u8]) -> Result<Option<String>, Corrupt> {
    if Letter::Activity.starts(key) {
        activity(records, value)
    } else if Letter::ActivityListed.starts(key) {
        entry(records, key)
    } else {
        Ok(None)
    }
}

/// Returns the waiting activity that is not part of the digest in the head of its organization. Returns
/// `None` if the organization was changed in any other way.
///
/// # Errors
/// If a record of the organization cannot be read.
pub fn surplus(records: &dyn Records, id: OrganizationId) -> Result<Option<ActivityId>, Corrupt> {
    let Some(organization) = records::unverified(records, id)? else { return Ok(None) };
    let mut waiting = Vec::new();
    for status in Status::WAITING {
        let prefix = layout::activities_of_status(id, status);
        waiting.extend(records.keys(Page::first(&prefix, usize::MAX))?);
    }
    let is_surplus = |activity: &ActivityId| {
        let mut others = organization.contents.clone();
        others.remove(&layout::activity(id, *activity));
        organization.head.contents == Some(others.digest())
    };
    Ok(waiting.iter().filter_map(|key| layout::activity_id(key)).find(is_surplus))
}

fn activity(records: &dyn Records, value: &[u8]) -> Result<Option<String>, Corrupt> {
    let ActivityRecord { organization, number, id, status, .. } = ActivityRecord::decode(value)?;
    let entry = records.read(&layout::activity_listed(organization, status, number, id))?;
    let problem = match entry {
        None => {
            format!("its record has status {}, but no index entry lists it with this status", name(status))
        }
        Some(entry) if status.waits() => match RecordDigest::of_entry(&entry) {
            Some(digest) if digest != RecordDigest::of(value) => {
                "its record does not match the digest in its index entry".to_owned()
            }
            _ => return Ok(None),
        },
        Some(_) => return Ok(None),
    };
    Ok(Some(sentence(organization, id, &problem)))
}

fn entry(records: &dyn Records, key: &[u8]) -> Result<Option<String>, Corrupt> {
    let (organization, listed, number, id) =
        layout::listed_activity(key).ok_or(Corrupt::Record("index entry"))?;
    let status = Status::ALL.into_iter().find(|status| status.number() == listed);
    let listed = status.map_or_else(|| listed.to_string(), |status| name(status).to_owned());
    let problem = match records.read(&layout::activity(organization, id))? {
        None => format!("an index entry lists it with status {listed}, but it has no record"),
        Some(record) => {
            let record = ActivityRecord::decode(&record)?;
            if (Some(record.status), record.number) == (status, number) {
                return Ok(None);
            }
            format!(
                "an index entry lists it with status {listed}, but its record has {}",
                name(record.status)
            )
        }
    };
    Ok(Some(sentence(organization, id, &problem)))
}

fn sentence(organization: OrganizationId, id: ActivityId, problem: &str) -> String {
    format!("activity {id} of organization {organization}: {problem}")
}

/// Returns the name of a status as it is written in filters, without the common prefix.
const fn name(status: Status) -> &'static str {
    match status {
        Status::Created => "CREATED",
        Status::Pending => "PENDING",
        Status::Completed => "COMPLETED",
        Status::Failed => "FAILED",
        Status::ConsensusNeeded => "CONSENSUS_NEEDED",
        Status::Rejected => "REJECTED",
        Status::AuthenticatorsNeeded => "AUTHENTICATORS_NEEDED",
    }
}
