//! The conversion of deliveries that earlier versions stored, each with its own copy of the body.

use std::collections::BTreeSet;

use quorate_common::ids::{ActivityId, EndpointId, OrganizationId};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{queue_body, queue_one, readable};
use crate::error::Corrupt;
use crate::model::Millis;
use crate::model::delivery::{Delivery, EventBody};
use crate::model::layout::outbox::{DeliveryId, Destination};
use crate::model::layout::{self as keys, Key};
use crate::model::record::Record;
use crate::model::write::Write;
use crate::world::{Page, Records};

/// Maximum number of deliveries of an earlier version that one step converts.
const CONVERTED_ROWS: usize = 64;
/// A step of the conversion ends after this many bytes of bodies.
const CONVERTED_BYTES: usize = 4 * 1024 * 1024;

/// A queued delivery as earlier versions stored it: with its own copy of the body.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StoredDelivery {
    /// Organization that configured the URL.
    pub receiver: OrganizationId,
    /// Endpoint of the organization; `None` for the URL of its webhook feature.
    pub endpoint: Option<EndpointId>,
    /// URL to post to.
    pub url: String,
    /// Activity that the delivery reports.
    pub activity: ActivityId,
    /// Body to post: the activity as it was when the delivery was queued.
    pub body: Box<RawValue>,
    /// Number of attempts so far.
    pub attempts: u32,
    /// Earliest time of the next attempt.
    pub due: Millis,
}

impl Record for StoredDelivery {
    const NOUN: &'static str = "delivery of an earlier version";
}

/// One step of the conversion of deliveries that an earlier version stored.
#[derive(Default)]
pub struct Conversion {
    /// Writes to commit.
    pub writes: Vec<Write>,
    /// Key after which the next step starts; `None` after the last step.
    pub next: Option<Key>,
    /// Number of converted deliveries.
    pub converted: u64,
    /// Number of deliveries that cannot be read, and are not changed.
    pub unreadable: u64,
}

/// Converts a bounded number of deliveries that an earlier version stored, each with its own copy of the
/// body.
///
/// # Errors
/// If the store cannot be read.
pub fn convert(records: &dyn Records, after: Option<&[u8]>) -> Result<Conversion, Corrupt> {
    let rows = records.keys(Page { after, ..Page::first(keys::LEGACY_DELIVERIES, CONVERTED_ROWS) })?;
    let mut conversion = Conversion::default();
    let (mut bodies, mut bytes) = (BTreeSet::new(), 0_usize);
    let full = rows.len() == CONVERTED_ROWS;
    let last = rows.last().cloned();
    for row in rows {
        let delivery = readable::<StoredDelivery>(records.read(&row))?;
        let Some((delivery, votes)) = delivery.zip(keys::event_votes(&row)) else {
            conversion.unreadable = conversion.unreadable.saturating_add(1);
            continue;
        };
        let StoredDelivery { receiver, endpoint, url, activity, body, attempts, due } = delivery;
        let body = EventBody::from(body);
        let destination = Destination { organization: receiver, endpoint };
        let cause = body.organization().unwrap_or(receiver);
        let id = DeliveryId { destination, cause, activity, votes, size: body.size() };
        conversion.writes.extend(queue_one(&id, &Delivery { url, attempts, due })?);
        if bodies.insert(id.body()) && records.keys(Page::first(&id.body(), 1))?.is_empty() {
            conversion.writes.push(queue_body(&id, &body)?);
        }
        bytes = bytes.saturating_add(usize::try_from(body.size()).unwrap_or(usize::MAX));
        conversion.writes.push(Write::remove(row.clone()));
        conversion.converted = conversion.converted.saturating_add(1);
        if bytes >= CONVERTED_BYTES {
            conversion.next = Some(row);
            return Ok(conversion);
        }
    }
    conversion.next = last.filter(|_| full);
    Ok(conversion)
}
