//! The stored form of queued webhook deliveries, and the counts of parked ones.

use quorate_common::ids::{ActivityId, OrganizationId};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::Millis;
use super::record::Record;
use crate::error::Corrupt;

/// A queued delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// URL to post to.
    pub url: String,
    /// Number of attempts so far.
    pub attempts: u32,
    /// Earliest time of the next attempt.
    pub due: Millis,
}

impl Record for Delivery {
    const NOUN: &'static str = "delivery";
}

/// The body of an event: the JSON of an activity in one of its states.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EventBody(Box<RawValue>);

impl Record for EventBody {
    const NOUN: &'static str = "event body";
}

impl From<Box<RawValue>> for EventBody {
    fn from(json: Box<RawValue>) -> Self {
        Self(json)
    }
}

impl EventBody {
    /// Creates a body from JSON text.
    ///
    /// # Errors
    /// If the text is not JSON.
    pub fn from_json(json: Vec<u8>) -> Result<Self, Corrupt> {
        let text = String::from_utf8(json).map_err(|_| Corrupt::Record(Self::NOUN))?;
        RawValue::from_string(text).map(Self).map_err(|_| Corrupt::Record(Self::NOUN))
    }

    /// Returns the organization of the activity, if the body names one.
    pub fn organization(&self) -> Option<OrganizationId> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Named {
            organization_id: OrganizationId,
        }
        serde_json::from_str::<Named>(self.0.get()).ok().map(|named| named.organization_id)
    }

    /// Returns the length in bytes.
    pub fn size(&self) -> u32 {
        u32::try_from(self.0.get().len()).unwrap_or(u32::MAX)
    }
}

/// The count of deliveries to a destination that were parked: removed from the queue without being delivered.
/// Their activities can still be queried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parked {
    /// Deliveries parked because the organization exceeded its limits.
    pub parked: u64,
    /// Deliveries parked because their records cannot be read.
    pub unreadable: u64,
    /// Time at which the first one was parked.
    pub first: Millis,
    /// Time at which the last one was parked.
    pub last: Millis,
    /// Oldest activity among them.
    pub oldest: ActivityId,
    /// Newest activity among them.
    pub newest: ActivityId,
}

impl Record for Parked {
    const NOUN: &'static str = "count of parked deliveries";
}
