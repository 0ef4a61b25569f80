//! What is written when an operator requests a delivery again: those that wait become due, and a state that is not
//! queued anymore is queued again.

use super::{Delivery, body, queue_body, queue_one, readable};
use crate::error::Corrupt;
use crate::model::Millis;
use crate::model::delivery::EventBody;
use crate::model::layout::outbox::{self as layout, DeliveryId};
use crate::model::write::Write;
use crate::world::{Page, Records};

/// Maximum number of states of an activity that become due at once.
const STATES: usize = 64;

/// Returns the writes that make the waiting deliveries of an activity to a destination due now, and their number. They
/// are still made in order.
///
/// # Errors
/// If the store cannot be read, or a record cannot be encoded.
pub fn expedite(records: &dyn Records, id: &DeliveryId, now: Millis) -> Result<(Vec<Write>, u64), Corrupt> {
    let (mut writes, mut count) = (Vec::new(), 0_u64);
    let keys = records.keys(Page::first(&layout::lane(id), STATES))?;
    for waiting in keys.iter().filter_map(|key| DeliveryId::of_key(key)) {
        let Some(delivery) = readable::<Delivery>(records.read(&waiting.key()))? else { continue };
        count = count.saturating_add(1);
        if delivery.due > now {
            writes.push(Write::remove(waiting.scheduled(delivery.due)));
            writes.push(Write::mark(waiting.scheduled(now), &[]));
            writes.push(Write::put(waiting.key(), &Delivery { due: now, ..delivery })?);
        }
    }
    Ok((writes, count))
}

/// Returns the writes that queue a state of an activity again, which is not queued for this destination. If another
/// destination still waits for the same state, its body is used.
///
/// # Errors
/// If the store cannot be read, or a record cannot be encoded.
pub fn queue_again(
    records: &dyn Records,
    id: &DeliveryId,
    url: String,
    fresh: &EventBody,
    now: Millis,
) -> Result<Vec<Write>, Corrupt> {
    let known = body(records, id)?;
    let size =
        known.as_ref().map_or_else(|| fresh.size(), |body| u32::try_from(body.len()).unwrap_or(u32::MAX));
    let id = DeliveryId { size, ..*id };
    let mut writes = Vec::from(queue_one(&id, &Delivery { url, attempts: 0, due: now })?);
    if known.is_none() {
        writes.push(queue_body(&id, fresh)?);
    }
    Ok(writes)
}
