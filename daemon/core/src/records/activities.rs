//! Reads of activities, by id, by body and by fingerprint.

use std::sync::Arc;

use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::{ActivityId, OrganizationId, UserId};

use crate::error::Corrupt;
use crate::limits::{BODY_AGE_MILLIS, BODY_AHEAD_MILLIS};
use crate::model::layout::Key;
use crate::model::record::Record;
use crate::model::{ActivityRecord, Millis, Organization, RecordDigest, layout};
use crate::world::{Records, World};

/// How often an activity is read that changes at the same time.
const READ_ATTEMPTS: usize = 4;

/// Reads an activity of an organization. The digest in the head of the organization covers whether the
/// activity waits for votes, and with which votes.
///
/// # Errors
/// [`Corrupt::Altered`] if the record does not match the snapshot. If the activity changed after the snapshot
/// was read, it is compared with a newer snapshot; [`Corrupt::Outdated`] if no newer snapshot exists yet.
pub fn activity(
    world: &dyn World,
    organization: &Organization,
    id: ActivityId,
) -> Result<Option<ActivityRecord>, Corrupt> {
    let key = layout::activity(organization.id(), id);
    let mut newer: Option<Arc<Organization>> = None;
    for _ in 0..READ_ATTEMPTS {
        let snapshot = newer.as_deref().unwrap_or(organization);
        let bytes = world.records().read(&key)?;
        let record = bytes.as_deref().map(ActivityRecord::decode).transpose()?;
        let waiting = record.as_ref().filter(|record| record.status.waits());
        let digest = waiting.and(bytes.as_deref()).map(RecordDigest::of);
        if digest == snapshot.contents.get(&key) {
            return Ok(record);
        }
        let (id, version) = (snapshot.id(), snapshot.head.version);
        newer = world.organization(id)?.filter(|newer| newer.head.version > version);
        if newer.is_none() {
            let is_current = world.version(id)? == version;
            return Err(if is_current { Corrupt::Altered(id) } else { Corrupt::Outdated(id, version) });
        }
    }
    Err(Corrupt::Outdated(organization.id(), organization.head.version))
}

/// The outcome of a body that was processed before.
#[derive(Debug)]
pub enum ProcessedBody {
    /// The body created this activity.
    Activity(Box<ActivityRecord>),
    /// The body was denied, and its activity was removed in favor of newer denials.
    Denied,
}

/// A body that was sent: its timestamp, its fingerprint, and the digest by which it is indexed. That is the
/// fingerprint, unless callers who send equal bytes request different things.
#[derive(Clone, Copy)]
pub struct SentBody {
    /// `timestampMs` of the body.
    pub stamped: Millis,
    /// Fingerprint of the body.
    pub fingerprint: Fingerprint,
    /// Digest by which the body is indexed.
    pub digest: Fingerprint,
}

impl SentBody {
    /// Returns a body that means the same for every caller.
    pub const fn new(stamped: Millis, fingerprint: Fingerprint) -> Self {
        Self { stamped, fingerprint, digest: fingerprint }
    }

    /// Returns the body as it is indexed for one caller.
    #[must_use]
    pub fn of_caller(self, organization: OrganizationId, user: UserId) -> Self {
        let bytes =
            [self.fingerprint.as_bytes().as_slice(), organization.as_bytes(), user.as_bytes()].concat();
        Self { digest: Fingerprint::of(&bytes), ..self }
    }

    /// Returns the key of the index entry.
    pub fn key(&self) -> Key {
        layout::body(self.stamped, &self.digest)
    }
}

/// Returns the outcome of a body that names this organization. Returns `None` for a body that was never
/// processed.
///
/// # Errors
/// If the store cannot be read, or its records contradict each other.
pub fn processed_body(
    world: &dyn World,
    organization: &Organization,
    body: &SentBody,
) -> Result<Option<ProcessedBody>, Corrupt> {
    let fingerprint = &body.fingerprint;
    let Some(locator) = world.records().read(&body.key())? else {
        // Earlier versions indexed each body by its fingerprint alone.
        let known = activity_that_waited(world, organization, fingerprint)?;
        return Ok(known.map(|known| ProcessedBody::Activity(Box::new(known))));
    };
    if parse_locator(&locator)?.0 != organization.id() {
        return Err(Corrupt::Record("fingerprint"));
    }
    let known = activity_at(world, organization, &locator, fingerprint)?;
    Ok(Some(known.map_or(ProcessedBody::Denied, |known| ProcessedBody::Activity(Box::new(known)))))
}

/// Returns the organization of a processed body that names no organization.
///
/// # Errors
/// If the store cannot be read, or the index entry is damaged.
pub fn organization_of_body(
    records: &dyn Records,
    stamped: Millis,
    fingerprint: &Fingerprint,
) -> Result<Option<OrganizationId>, Corrupt> {
    let locator = match records.read(&layout::body(stamped, fingerprint))? {
        Some(locator) => Some(locator),
        None => records.read(&layout::fingerprint(fingerprint))?,
    };
    locator.map(|locator| Ok(parse_locator(&locator)?.0)).transpose()
}

/// Looks up the activity of an organization by its fingerprint: any activity that has ever waited for votes,
/// and any activity whose body is young enough to be accepted now.
///
/// # Errors
/// If the store cannot be read, or its records contradict each other.
pub fn activity_by_fingerprint(
    world: &dyn World,
    organization: &Organization,
    fingerprint: &Fingerprint,
    now: Millis,
) -> Result<Option<ActivityRecord>, Corrupt> {
    if let Some(waited) = activity_that_waited(world, organization, fingerprint)? {
        return Ok(Some(waited));
    }
    let span = |at: Millis| at / layout::BODY_SPAN;
    let spans = span(now.saturating_sub(BODY_AGE_MILLIS))..=span(now.saturating_add(BODY_AHEAD_MILLIS));
    for span in spans.rev() {
        let body = layout::body(span.saturating_mul(layout::BODY_SPAN), fingerprint);
        if let Some(locator) = world.records().read(&body)? {
            return activity_at(world, organization, &locator, fingerprint);
        }
    }
    Ok(None)
}

fn activity_that_waited(
    world: &dyn World,
    organization: &Organization,
    fingerprint: &Fingerprint,
) -> Result<Option<ActivityRecord>, Corrupt> {
    match world.records().read(&layout::fingerprint(fingerprint))? {
        Some(locator) => activity_at(world, organization, &locator, fingerprint),
        None => Ok(None),
    }
}

/// Returns the organization of the activity with this fingerprint, if it waited for votes.
///
/// # Errors
/// If the store cannot be read, or the index entry is damaged.
pub fn organization_that_waited(
    world: &dyn World,
    fingerprint: &Fingerprint,
) -> Result<Option<OrganizationId>, Corrupt> {
    let locator = world.records().read(&layout::fingerprint(fingerprint))?;
    Ok(locator.map(|locator| parse_locator(&locator)).transpose()?.map(|(organization, _)| organization))
}

/// Reads the activity at a locator of [`activity_locator`], if it is in this organization.
fn activity_at(
    world: &dyn World,
    organization: &Organization,
    locator: &[u8],
    fingerprint: &Fingerprint,
) -> Result<Option<ActivityRecord>, Corrupt> {
    let (own, id) = parse_locator(locator)?;
    if own != organization.id() {
        return Ok(None);
    }
    // The record of a denied attempt may have been removed in favor of newer ones.
    match activity(world, organization, id)? {
        Some(record) if record.fingerprint != *fingerprint => Err(Corrupt::Record("fingerprint")),
        found => Ok(found),
    }
}

/// Parses a locator of [`activity_locator`].
fn parse_locator(locator: &[u8]) -> Result<(OrganizationId, ActivityId), Corrupt> {
    let parts = locator.split_first_chunk().and_then(|(first, id)| Some((*first, id.try_into().ok()?)));
    let (organization, id) = parts.ok_or(Corrupt::Record("fingerprint"))?;
    Ok((OrganizationId::from_bytes(organization), ActivityId::from_bytes(id)))
}

/// Returns the locator of an activity: the value of its index entries by body and by fingerprint.
pub fn activity_locator(organization: OrganizationId, id: ActivityId) -> [u8; 32] {
    let mut value = [0; 32];
    let (first, second) = value.split_at_mut(16);
    first.copy_from_slice(organization.as_bytes());
    second.copy_from_slice(id.as_bytes());
    value
}
