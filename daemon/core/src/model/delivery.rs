//! What is stored of webhook deliveries that wait, and of those that were parked.

use quorate_common::ids::{ActivityId, OrganizationId};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::Millis;
use super::record::Record;
use crate::refusal::Corrupt;

/// A delivery that waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// Where to post.
    pub url: String,
    /// Attempts so far.
    pub attempts: u32,
    /// Not before this time.
    pub due: Millis,
}

impl Record for Delivery {
    const NOUN: &'static str = "delivery";
}

/// What is posted: the JSON of an activity as it was in that state.
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
    /// The body of an event from its JSON text.
    ///
    /// # Errors
    /// If the text is not JSON.
    pub fn from_json(json: Vec<u8>) -> Result<Self, Corrupt> {
        let text = String::from_utf8(json).map_err(|_| Corrupt::Record(Self::NOUN))?;
        RawValue::from_string(text).map(Self).map_err(|_| Corrupt::Record(Self::NOUN))
    }

    /// The organization of the activity, if the body names one.
    pub fn organization(&self) -> Option<OrganizationId> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Named {
            organization_id: OrganizationId,
        }
        serde_json::from_str::<Named>(self.0.get()).ok().map(|named| named.organization_id)
    }

    /// Its length in bytes.
    pub fn size(&self) -> u32 {
        u32::try_from(self.0.get().len()).unwrap_or(u32::MAX)
    }
}

/// How many deliveries to a destination were parked: removed from the queue without having been made. Their activities
/// can still be queried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parked {
    /// Parked because more waited than the limits of the organization allow.
    pub parked: u64,
    /// Parked because what is stored of them cannot be read.
    pub unreadable: u64,
    /// When the first one was parked.
    pub first: Millis,
    /// When the last one was parked.
    pub last: Millis,
    /// The oldest activity among them.
    pub oldest: ActivityId,
    /// The newest activity among them.
    pub newest: ActivityId,
}

impl Record for Parked {
    const NOUN: &'static str = "count of parked deliveries";
}
