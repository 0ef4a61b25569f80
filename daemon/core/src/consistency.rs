//! Compares activities with their index entries, and names what does not belong there. For checks of a whole store; what
//! is served is checked where it is read.

use quorate_common::activity::Status;
use quorate_common::ids::{ActivityId, OrganizationId};

use crate::model::layout;
use crate::model::record::Record;
use crate::model::{ActivityRecord, RecordDigest};
use crate::records;
use crate::refusal::Corrupt;
use crate::world::{Page, Records};

/// Returns what is wrong with the activity or the index entry of an activity that was read at this key.
///
/// # Errors
/// When one of the two cannot be read.
pub fn problem(records: &dyn Records, key: &[u8], value: &[u8]) -> Result<Option<String>, Corrupt> {
    match key.first() {
        Some(b'a') => activity(records, value),
        Some(b't') => entry(records, key),
        _ => Ok(None),
    }
}

/// Returns the activity that waits for votes and was not there when the head of its organization was sealed, if that is
/// all that was changed of the organization.
///
/// # Errors
/// When a record of the organization cannot be read.
pub fn surplus(records: &dyn Records, id: OrganizationId) -> Result<Option<ActivityId>, Corrupt> {
    let Some(organization) = records::unverified(records, id)? else { return Ok(None) };
    let prefix = layout::activities_of_status(id, Status::ConsensusNeeded);
    let waiting = records.keys(Page::first(&prefix, usize::MAX))?;
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
    let what = match entry {
        None => format!("its record has status {}, but no index entry for it", name(status)),
        Some(entry) if status == Status::ConsensusNeeded => match RecordDigest::of_entry(&entry) {
            Some(digest) if digest != RecordDigest::of(value) => {
                "its record is not the one that its index entry was written with".to_owned()
            }
            _ => return Ok(None),
        },
        Some(_) => return Ok(None),
    };
    Ok(Some(sentence(organization, id, &what)))
}

fn entry(records: &dyn Records, key: &[u8]) -> Result<Option<String>, Corrupt> {
    let (organization, listed, number, id) =
        layout::listed_activity(key).ok_or(Corrupt::Record("index entry"))?;
    let status = Status::ALL.into_iter().find(|status| status.number() == listed);
    let listed = status.map_or_else(|| listed.to_string(), |status| name(status).to_owned());
    let what = match records.read(&layout::activity(organization, id))? {
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
    Ok(Some(sentence(organization, id, &what)))
}

fn sentence(organization: OrganizationId, id: ActivityId, what: &str) -> String {
    format!("activity {id} of organization {organization}: {what}")
}

/// A status as it is written in filters, without what all have in common.
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
