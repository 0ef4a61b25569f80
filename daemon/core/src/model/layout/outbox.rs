//! Keys of the outbox: queued webhook deliveries, in the order in which they are made.
//!
//! Queued SMS are in the same part of the store, with keys of their own.
//!
//! A destination is one receiver of an organization. A key consists of the letter `p`, a class, a shard, and
//! the parts below. The shard depends on the organization alone: the queue of an organization is contiguous,
//! and several daemons can divide the shards among them. Within a destination, the schedule is ordered by due
//! time, so that the next delivery is the first key, whatever the length of the queue. The destination
//! precedes the due time, so that the queue of a silent receiver does not delay the deliveries to others.
//!
//! Sub-organizations cause deliveries to their parent. The records of deliveries are therefore grouped by the
//! organization that caused them, those of its oldest activity first.
//!
//! A lane is a sequence that must be delivered in order: the states of one activity, to one destination.

use quorate_common::ids::{ActivityId, EndpointId, OrganizationId};
use serde::{Deserialize, Serialize};

use super::{Key, Letter, Millis, key};

/// First byte of all keys of the outbox.
pub const LETTER: u8 = Letter::Outbox as u8;
/// Prefix of the keys of the schedule.
pub const SCHEDULE: &[u8] = &[LETTER, Class::Schedule as u8];
/// Prefix of the keys of the counts of parked deliveries.
pub const PARKED: &[u8] = &[LETTER, Class::Parked as u8];

/// Prefix of the keys of queued SMS.
pub const SMS: &[u8] = &[LETTER, Class::Sms as u8];

/// The second byte of a key of the outbox.
#[derive(Clone, Copy)]
#[repr(u8)]
enum Class {
    Body = b'b',
    Delivery = b'd',
    Sms = b'm',
    Parked = b'p',
    Schedule = b's',
}

/// Length of a key of the schedule in bytes: letter, class, shard, organization, endpoint, due, cause,
/// activity, votes, size.
const SCHEDULED_LENGTH: usize = 3 + 16 + 16 + 8 + 16 + 16 + 4 + 4;
/// Represents the URL of the webhook feature; no endpoint has this id.
const FEATURE: [u8; 16] = [0; 16];

/// A receiver of an organization.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Destination {
    /// Organization that receives the webhooks.
    pub organization: OrganizationId,
    /// Endpoint of the organization; `None` for the URL of its webhook feature.
    pub endpoint: Option<EndpointId>,
}

/// The id of a delivery: a state of an activity, and a destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeliveryId {
    /// Receiver of the delivery.
    pub destination: Destination,
    /// Organization of the activity.
    pub cause: OrganizationId,
    /// Activity that the delivery reports.
    pub activity: ActivityId,
    /// Number of votes of the activity: each new state has more votes than the previous one.
    pub votes: u32,
    /// Length of the body in bytes, so that it is known before the body is read.
    pub size: u32,
}

/// A sequence of deliveries that are made one after the other.
pub type Lane = (Destination, ActivityId);

/// Returns the shard of an organization: the XOR of the bytes of its id.
fn shard(organization: OrganizationId) -> u8 {
    organization.as_bytes().iter().fold(0, |shard, byte| shard ^ byte)
}

/// Returns the key of a queued SMS, by the activity that sends it. SMS are not divided into shards.
pub fn sms(activity: ActivityId, number: u32) -> Key {
    key(Letter::Outbox, &[&[Class::Sms as u8], activity.as_bytes(), &number.to_be_bytes()])
}

fn class(class: Class, organization: OrganizationId, rest: &[&[u8]]) -> Key {
    let start = [class as u8, shard(organization)];
    let mut parts: Vec<&[u8]> = vec![&start, organization.as_bytes()];
    parts.extend(rest);
    key(Letter::Outbox, &parts)
}

impl Destination {
    fn endpoint_bytes(&self) -> [u8; 16] {
        self.endpoint.map_or(FEATURE, |endpoint| *endpoint.as_bytes())
    }

    fn from_parts(organization: [u8; 16], endpoint: [u8; 16]) -> Self {
        let endpoint = (endpoint != FEATURE).then(|| EndpointId::from_bytes(endpoint));
        Self { organization: OrganizationId::from_bytes(organization), endpoint }
    }

    /// Returns the prefix of the schedule of this destination.
    pub fn schedule(&self) -> Key {
        class(Class::Schedule, self.organization, &[&self.endpoint_bytes()])
    }

    /// Returns a key after the schedule of this destination and before that of the next one.
    pub fn behind_schedule(&self) -> Key {
        let mut key = self.schedule();
        key.resize(SCHEDULED_LENGTH.saturating_add(1), u8::MAX);
        key
    }

    /// Parses the destination of a key under [`SCHEDULE`].
    pub fn of_scheduled(key: &[u8]) -> Option<Self> {
        DeliveryId::of_scheduled(key).map(|(_, id)| id.destination)
    }

    /// Returns the key of the count of parked deliveries.
    pub fn parked(&self) -> Key {
        class(Class::Parked, self.organization, &[&self.endpoint_bytes()])
    }

    /// Parses the destination of a key under [`PARKED`].
    pub fn of_parked(key: &[u8]) -> Option<Self> {
        let (organization, endpoint) = key.get(3..)?.split_first_chunk::<16>()?;
        Some(Self::from_parts(*organization, endpoint.try_into().ok()?))
    }
}

impl DeliveryId {
    /// Returns the lane of the delivery.
    pub const fn lane(&self) -> Lane {
        (self.destination, self.activity)
    }

    /// Returns the key of the record.
    pub fn key(&self) -> Key {
        let Self { destination, cause, activity, votes, size } = self;
        let parts: [&[u8]; 5] = [
            cause.as_bytes(),
            activity.as_bytes(),
            &destination.endpoint_bytes(),
            &votes.to_be_bytes(),
            &size.to_be_bytes(),
        ];
        class(Class::Delivery, destination.organization, &parts)
    }

    /// Parses the key of a record.
    pub fn of_key(key: &[u8]) -> Option<Self> {
        let rest = key.strip_prefix(&[LETTER, Class::Delivery as u8])?.get(1..)?;
        let (organization, rest) = rest.split_first_chunk::<16>()?;
        let (caused, rest) = rest.split_first_chunk::<32>()?;
        let (endpoint, rest) = rest.split_first_chunk::<16>()?;
        Self::from_parts(*organization, *endpoint, caused, rest)
    }

    /// Returns the key in the schedule for this due time.
    pub fn scheduled(&self, due: Millis) -> Key {
        let mut key = self.destination.schedule();
        key.extend_from_slice(&due.to_be_bytes());
        key.extend_from_slice(self.cause.as_bytes());
        key.extend_from_slice(self.activity.as_bytes());
        key.extend_from_slice(&self.votes.to_be_bytes());
        key.extend_from_slice(&self.size.to_be_bytes());
        key
    }

    /// Parses a key under [`SCHEDULE`], and returns the due time and the delivery.
    pub fn of_scheduled(key: &[u8]) -> Option<(Millis, Self)> {
        let rest = key.strip_prefix(SCHEDULE)?.get(1..)?;
        let (organization, rest) = rest.split_first_chunk::<16>()?;
        let (endpoint, rest) = rest.split_first_chunk::<16>()?;
        let (due, rest) = rest.split_first_chunk::<8>()?;
        let (caused, rest) = rest.split_first_chunk::<32>()?;
        let id = Self::from_parts(*organization, *endpoint, caused, rest)?;
        Some((Millis::from_be_bytes(*due), id))
    }

    fn from_parts(
        organization: [u8; 16],
        endpoint: [u8; 16],
        caused: &[u8; 32],
        rest: &[u8],
    ) -> Option<Self> {
        let (cause, activity) = caused.split_first_chunk::<16>()?;
        let (votes, size) = rest.split_first_chunk::<4>()?;
        Some(Self {
            destination: Destination::from_parts(organization, endpoint),
            cause: OrganizationId::from_bytes(*cause),
            activity: ActivityId::from_bytes(activity.try_into().ok()?),
            votes: u32::from_be_bytes(*votes),
            size: u32::from_be_bytes(size.try_into().ok()?),
        })
    }

    /// Returns the key of the body.
    pub fn body(&self) -> Key {
        body(self.destination.organization, self.activity, self.votes)
    }
}

/// Returns the key of the body of a state of an activity, which all endpoints of an organization share.
pub fn body(organization: OrganizationId, activity: ActivityId, votes: u32) -> Key {
    class(Class::Body, organization, &[activity.as_bytes(), &votes.to_be_bytes()])
}

/// Returns whether a key is the key of a body.
pub fn is_body(key: &[u8]) -> bool {
    key.starts_with(&[LETTER, Class::Body as u8])
}

/// Returns the prefix of the records of all deliveries to an organization.
pub fn deliveries(organization: OrganizationId) -> Key {
    class(Class::Delivery, organization, &[])
}

/// Returns the prefix of the records of all deliveries to an organization that `cause` caused, those of the
/// oldest activity first. An organization also causes deliveries to itself.
pub fn deliveries_caused(organization: OrganizationId, cause: OrganizationId) -> Key {
    class(Class::Delivery, organization, &[cause.as_bytes()])
}

/// Returns the prefix of the records of all deliveries to the same organization of the same activity.
pub fn deliveries_of(id: &DeliveryId) -> Key {
    class(Class::Delivery, id.destination.organization, &[id.cause.as_bytes(), id.activity.as_bytes()])
}

/// Returns the prefix of the records of the lane of a delivery, the earliest state first.
pub fn lane(id: &DeliveryId) -> Key {
    let parts: [&[u8]; 3] = [id.cause.as_bytes(), id.activity.as_bytes(), &id.destination.endpoint_bytes()];
    class(Class::Delivery, id.destination.organization, &parts)
}
