//! Keys of activities, of their index entries, and of denied attempts.

use quorate_common::activity::Status;
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::{ActivityId, OrganizationId};

use super::{Key, Letter, below, key, last_id};
use crate::model::Millis;

/// Returns the key of an activity.
pub fn activity(organization: OrganizationId, id: ActivityId) -> Key {
    key(Letter::Activity, &[organization.as_bytes(), id.as_bytes()])
}

/// Returns the prefix of the activities of an organization, oldest first.
pub fn activities(organization: OrganizationId) -> Key {
    key(Letter::Activity, &[organization.as_bytes()])
}

/// Returns the key of the index entry of an activity by its status and type.
pub fn activity_listed(organization: OrganizationId, status: Status, number: u16, id: ActivityId) -> Key {
    below(activities_listed(organization, status, number), id.as_bytes())
}

/// Returns the prefix of the index entries of the activities with a status and type, oldest first.
pub fn activities_listed(organization: OrganizationId, status: Status, number: u16) -> Key {
    key(Letter::ActivityListed, &[organization.as_bytes(), &[status.number()], &number.to_be_bytes()])
}

/// Returns the prefix of the index entries of the activities with a status, by type.
pub fn activities_of_status(organization: OrganizationId, status: Status) -> Key {
    key(Letter::ActivityListed, &[organization.as_bytes(), &[status.number()]])
}

/// Parses a key of [`activity_listed`]: the organization, the numbers of the status and of the type, and the
/// activity.
pub fn listed_activity(key: &[u8]) -> Option<(OrganizationId, u8, u16, ActivityId)> {
    let (organization, rest) =
        key.strip_prefix(&[Letter::ActivityListed as u8])?.split_first_chunk::<16>()?;
    let (&[status, high, low], id) = rest.split_first_chunk::<3>()?;
    let id = ActivityId::from_bytes(id.try_into().ok()?);
    Some((OrganizationId::from_bytes(*organization), status, u16::from_be_bytes([high, low]), id))
}

/// Returns the time at which an activity was submitted, which its id contains.
pub fn activity_submitted(id: ActivityId) -> Millis {
    // The first 48 bits of a version 7 UUID (RFC 9562 §5.7) are its time.
    let [time @ .., _, _, _, _, _, _, _, _] = *id.as_bytes();
    Millis::from_be_bytes(time) >> 16
}

/// Parses the activity id at the end of a key.
pub fn activity_id(key: &[u8]) -> Option<ActivityId> {
    last_id(key).map(ActivityId::from_bytes)
}

/// Length of the time spans by which bodies are indexed, in milliseconds.
pub const BODY_SPAN: Millis = 4096;

/// Returns the key of the index entry of an activity by its body: the time span of the timestamp, and the
/// fingerprint. Bodies arrive roughly in the order of their timestamps, so that reads and writes stay close
/// together.
pub fn body(stamped: Millis, fingerprint: &Fingerprint) -> Key {
    key(Letter::Body, &[&(stamped / BODY_SPAN).to_be_bytes(), fingerprint.as_bytes()])
}

/// Returns the key of the index entry of an activity that waited for votes, by its fingerprint. A vote names
/// its target by the fingerprint only.
pub fn fingerprint(fingerprint: &Fingerprint) -> Key {
    key(Letter::Fingerprint, &[fingerprint.as_bytes()])
}

/// Returns whether a key is an index entry of the body with this fingerprint.
pub fn is_of_body(key: &[u8], fingerprint: &Fingerprint) -> bool {
    let letters = [Letter::Body as u8, Letter::Fingerprint as u8];
    key.first().is_some_and(|letter| letters.contains(letter)) && key.ends_with(fingerprint.as_bytes())
}

/// Returns the key of a denied attempt by a credential, whose activity is kept. The value is the key of its
/// body; earlier versions stored no value.
pub fn denied(organization: OrganizationId, credential: &[u8; 16], id: ActivityId) -> Key {
    below(denials(organization, credential), id.as_bytes())
}

/// Returns the prefix of the denied attempts by a credential whose activities are kept, oldest first.
pub fn denials(organization: OrganizationId, credential: &[u8; 16]) -> Key {
    key(Letter::Denied, &[organization.as_bytes(), credential])
}

/// Returns the key of a denied attempt by a credential, whose activity was removed. The value is the key of
/// its body.
pub fn displaced_denial(organization: OrganizationId, credential: &[u8; 16], id: ActivityId) -> Key {
    below(displaced_denials(organization, credential), id.as_bytes())
}

/// Returns the prefix of the denied attempts by a credential whose activities were removed, oldest first.
pub fn displaced_denials(organization: OrganizationId, credential: &[u8; 16]) -> Key {
    key(Letter::DisplacedDenial, &[organization.as_bytes(), credential])
}
