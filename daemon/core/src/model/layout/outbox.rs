//! Keys of the outbox: webhook deliveries that wait, in the order in which they are made.
//!
//! A destination is where one organization wants to be called. Behind the letter `p` and a class stands a shard, which
//! depends on the organization alone: all that one organization has waiting is together, and several daemons can divide the
//! shards among them. Within a destination the schedule is in the order of due times, so that the next delivery is the
//! first key, however many wait. The destination stands before the due time: otherwise what waits for a silent receiver
//! would stand before what is due for all others.
//!
//! What an organization is sent, other organizations can cause: its sub-organizations. The records of deliveries are therefore
//! grouped by the organization that caused them, those of its oldest activity first.
//!
//! A lane is what must be delivered in order: the states of one activity, to one destination.

use quorate_common::ids::{ActivityId, EndpointId, OrganizationId};

use super::{Key, Millis, key};

/// The letter of all keys of the outbox.
pub const LETTER: u8 = b'p';
/// Keys of the schedule begin with this.
pub const SCHEDULE: &[u8] = b"ps";
/// Keys of counts of parked deliveries begin with this.
pub const PARKED: &[u8] = b"pp";

const BODY: &[u8] = b"b";
const DELIVERY: &[u8] = b"d";
/// Length of a key of the schedule in bytes: letter, class, shard, organization, endpoint, due, cause, activity, votes,
/// size.
const SCHEDULED_LENGTH: usize = 3 + 16 + 16 + 8 + 16 + 16 + 4 + 4;
/// Stands for the URL of the feature; no endpoint has this id.
const FEATURE: [u8; 16] = [0; 16];

/// Where an organization wants to be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Destination {
    /// The organization that is called.
    pub organization: OrganizationId,
    /// Its endpoint; absent for the URL of its feature.
    pub endpoint: Option<EndpointId>,
}

/// One delivery: a state of an activity, to a destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeliveryId {
    /// Where to.
    pub destination: Destination,
    /// The organization whose activity it is.
    pub cause: OrganizationId,
    /// The activity.
    pub activity: ActivityId,
    /// How many votes the activity had: each new state has more than the one before.
    pub votes: u32,
    /// Length of the body in bytes, so that it is known before the body is read.
    pub size: u32,
}

/// Deliveries of the same lane are made one after the other.
pub type Lane = (Destination, ActivityId);

/// The shard of an organization: the exclusive or of the bytes of its id.
fn shard(organization: OrganizationId) -> u8 {
    organization.as_bytes().iter().fold(0, |shard, byte| shard ^ byte)
}

fn class(class: &[u8], organization: OrganizationId, rest: &[&[u8]]) -> Key {
    let mut parts: Vec<&[u8]> = vec![class];
    let shard = [shard(organization)];
    parts.extend([shard.as_slice(), organization.as_bytes()]);
    parts.extend(rest);
    key(LETTER, &parts)
}

impl Destination {
    fn endpoint_bytes(&self) -> [u8; 16] {
        self.endpoint.map_or(FEATURE, |endpoint| *endpoint.as_bytes())
    }

    fn from_parts(organization: [u8; 16], endpoint: [u8; 16]) -> Self {
        let endpoint = (endpoint != FEATURE).then(|| EndpointId::from_bytes(endpoint));
        Self { organization: OrganizationId::from_bytes(organization), endpoint }
    }

    /// All of its schedule begins with this.
    pub fn schedule(&self) -> Key {
        class(b"s", self.organization, &[&self.endpoint_bytes()])
    }

    /// A key behind all of its schedule and before that of every later destination.
    pub fn behind_schedule(&self) -> Key {
        let mut key = self.schedule();
        key.resize(SCHEDULED_LENGTH.saturating_add(1), u8::MAX);
        key
    }

    /// The destination at a key under [`SCHEDULE`].
    pub fn of_scheduled(key: &[u8]) -> Option<Self> {
        DeliveryId::of_scheduled(key).map(|(_, id)| id.destination)
    }

    /// How many of its deliveries were parked.
    pub fn parked(&self) -> Key {
        class(b"p", self.organization, &[&self.endpoint_bytes()])
    }

    /// The destination at a key under [`PARKED`].
    pub fn of_parked(key: &[u8]) -> Option<Self> {
        let (organization, endpoint) = key.get(3..)?.split_first_chunk::<16>()?;
        Some(Self::from_parts(*organization, endpoint.try_into().ok()?))
    }
}

impl DeliveryId {
    /// Its lane.
    pub const fn lane(&self) -> Lane {
        (self.destination, self.activity)
    }

    /// Where its record is stored.
    pub fn key(&self) -> Key {
        let Self { destination, cause, activity, votes, size } = self;
        let parts: [&[u8]; 5] = [
            cause.as_bytes(),
            activity.as_bytes(),
            &destination.endpoint_bytes(),
            &votes.to_be_bytes(),
            &size.to_be_bytes(),
        ];
        class(DELIVERY, destination.organization, &parts)
    }

    /// The delivery whose record is stored at this key.
    pub fn of_key(key: &[u8]) -> Option<Self> {
        let rest = key.strip_prefix(&[LETTER])?.strip_prefix(DELIVERY)?.get(1..)?;
        let (organization, rest) = rest.split_first_chunk::<16>()?;
        let (caused, rest) = rest.split_first_chunk::<32>()?;
        let (endpoint, rest) = rest.split_first_chunk::<16>()?;
        Self::from_parts(*organization, *endpoint, caused, rest)
    }

    /// Where it is in the schedule when it is due at this time.
    pub fn scheduled(&self, due: Millis) -> Key {
        let mut key = self.destination.schedule();
        key.extend_from_slice(&due.to_be_bytes());
        key.extend_from_slice(self.cause.as_bytes());
        key.extend_from_slice(self.activity.as_bytes());
        key.extend_from_slice(&self.votes.to_be_bytes());
        key.extend_from_slice(&self.size.to_be_bytes());
        key
    }

    /// The delivery at a key under [`SCHEDULE`], and when it is due.
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

    /// Where its body is stored.
    pub fn body(&self) -> Key {
        body(self.destination.organization, self.activity, self.votes)
    }
}

/// What an organization is sent of a state of an activity: one body, whichever endpoints it goes to.
pub fn body(organization: OrganizationId, activity: ActivityId, votes: u32) -> Key {
    class(BODY, organization, &[activity.as_bytes(), &votes.to_be_bytes()])
}

/// Whether a key is that of a body.
pub fn is_body(key: &[u8]) -> bool {
    key.strip_prefix(&[LETTER]).is_some_and(|rest| rest.starts_with(BODY))
}

/// The records of all deliveries to an organization begin with this.
pub fn deliveries(organization: OrganizationId) -> Key {
    class(DELIVERY, organization, &[])
}

/// The records of all deliveries to an organization that another one, or itself, caused begin with this, those of the
/// oldest activity first.
pub fn deliveries_caused(organization: OrganizationId, cause: OrganizationId) -> Key {
    class(DELIVERY, organization, &[cause.as_bytes()])
}

/// The records of all deliveries of the activity of this delivery to its organization begin with this.
pub fn deliveries_of(id: &DeliveryId) -> Key {
    class(DELIVERY, id.destination.organization, &[id.cause.as_bytes(), id.activity.as_bytes()])
}

/// The records of the lane of this delivery begin with this, the earliest state first.
pub fn lane(id: &DeliveryId) -> Key {
    let parts: [&[u8]; 3] = [id.cause.as_bytes(), id.activity.as_bytes(), &id.destination.endpoint_bytes()];
    class(DELIVERY, id.destination.organization, &parts)
}
