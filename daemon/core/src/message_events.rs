//! Records what happened to messages, for a limited time and in limited numbers. An event has three rows: its
//! record under its receiver, its entry in the list of the organization that keeps it, and its removal in the
//! schedule. This module reads records and returns writes.

use quorate_common::bounded::Email;
use quorate_common::ids::{ActivityId, MessageEventId, OrganizationId};

use crate::error::Corrupt;
use crate::model::Millis;
use crate::model::layout::{IndexKey, Key, sign_in};
use crate::model::message_event::{DeliveryStep, EVENT_LIFE_MILLIS, MessageEvent, MessageOrigin};
use crate::model::one_time_code::Contact;
use crate::model::record::Record;
use crate::model::write::Write;
use crate::world::{Order, Page, Records};

/// Maximum number of events of one receiver. Beyond it, the oldest are removed.
const CONTACT_EVENTS: usize = 1000;
/// Maximum number of events that an organization keeps. Beyond it, the oldest are removed.
const ORGANIZATION_EVENTS: usize = 50_000;
/// Maximum number of events that are removed at once because there are too many.
const REMOVED: usize = 512;
/// Number of keys that are read at once when they are counted.
const COUNTED: usize = 1024;

/// A message, as its events describe it.
#[derive(Debug, Clone)]
pub struct Message {
    /// Where it comes from.
    pub origin: MessageOrigin,
    /// Activity that sends it.
    pub activity: ActivityId,
    /// Number of the message among those of the activity.
    pub number: u32,
    /// Receiver.
    pub to: Contact,
    /// Sender of a mail.
    pub from: Option<Email>,
}

/// An event and its id.
pub type Identified = (MessageEventId, MessageEvent);

/// Returns whether the delay after this many attempts is recorded: the first one, and those after twice as many
/// attempts as the one before. A message that is attempted often has few events.
pub const fn records_delay(attempts: u32) -> bool {
    attempts.is_power_of_two()
}

impl Message {
    /// Returns the writes that record an event. `attempts` is the number of attempts so far, which orders the
    /// events of one message.
    ///
    /// # Errors
    /// If the record cannot be encoded.
    pub fn record(
        &self,
        step: DeliveryStep,
        attempts: u32,
        at: Millis,
        index: &IndexKey,
    ) -> Result<Vec<Write>, Corrupt> {
        let event = MessageEvent {
            organization: self.origin.organization,
            activity: self.activity,
            number: self.number,
            to: self.to.clone(),
            from: self.from.clone(),
            at,
            step,
        };
        let events = sign_in::events(index, self.origin.keeper, self.to.as_str());
        let key = sign_in::event(&events, self.event_id(attempts, at, index));
        let mut writes = vec![Write::put(key.clone(), &event)?];
        writes.extend(sign_in::listing(&key).map(|(listed, digest)| Write::mark(listed, &digest)));
        writes.push(Write::mark(due(&key), &[]));
        Ok(writes)
    }

    /// Returns the id of an event: its time, the number of attempts, and a digest that distinguishes messages.
    fn event_id(&self, attempts: u32, at: Millis, index: &IndexKey) -> MessageEventId {
        let sequence = u16::try_from(attempts).unwrap_or(u16::MAX);
        let digest = index.of_event(self.activity, self.number, sequence);
        let mut bytes = [0; 10];
        for (to, from) in bytes.iter_mut().zip(sequence.to_be_bytes().into_iter().chain(digest)) {
            *to = from;
        }
        MessageEventId::timed(at, bytes)
    }

    /// Returns the removal of the events of the receiver that are too many once one is added.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn excess(&self, records: &dyn Records, index: &IndexKey) -> Result<Vec<Write>, Corrupt> {
        let events = sign_in::events(index, self.origin.keeper, self.to.as_str());
        let newest = records.keys(Page::last(&events, CONTACT_EVENTS))?;
        let Some(last) = newest.get(CONTACT_EVENTS.saturating_sub(1)) else { return Ok(Vec::new()) };
        let oldest = records.keys(Page::first(&events, REMOVED))?;
        Ok(oldest.iter().take_while(|key| *key <= last).flat_map(|key| removal(key)).collect())
    }
}

/// Returns the removal of the oldest events of an organization that are too many. It counts them, and is called
/// rarely.
///
/// # Errors
/// If the store cannot be read.
pub fn excess(records: &dyn Records, keeper: OrganizationId) -> Result<Vec<Write>, Corrupt> {
    let prefix = sign_in::events_listed(keeper);
    let (mut counted, mut after): (usize, Option<Key>) = (0, None);
    let last = loop {
        let limit = COUNTED.min(ORGANIZATION_EVENTS.saturating_sub(counted));
        let page = Page { after: after.as_deref(), ..Page::last(&prefix, limit) };
        let keys = records.keys(page)?;
        counted = counted.saturating_add(keys.len());
        let is_end = keys.len() < limit;
        after = keys.into_iter().next_back().or(after);
        if is_end {
            return Ok(Vec::new());
        }
        if counted >= ORGANIZATION_EVENTS {
            break after;
        }
    };
    let Some(last) = last else { return Ok(Vec::new()) };
    let oldest = records.page(Page::first(&prefix, REMOVED))?;
    let excess = oldest.iter().take_while(|(listed, _)| *listed < last);
    let keys = excess.filter_map(|(listed, digest)| sign_in::listed_event(listed, digest));
    Ok(keys.flat_map(|key| removal(&key)).collect())
}

/// Returns the key in the schedule that removes an event.
fn due(event: &[u8]) -> Key {
    let id = sign_in::event_id(event).unwrap_or(MessageEventId::from_bytes([0; 16]));
    let at = id.as_bytes().iter().take(6).fold(0, |at: Millis, byte| at << 8 | Millis::from(*byte));
    sign_in::due(at.saturating_add(EVENT_LIFE_MILLIS), event)
}

/// Returns the removal of all rows of an event.
fn removal(event: &[u8]) -> Vec<Write> {
    let listed = sign_in::listing(event).map(|(listed, _)| listed);
    [Some(event.to_vec()), listed, Some(due(event))].into_iter().flatten().map(Write::remove).collect()
}

/// Returns a page of the events of messages to a contact.
///
/// # Errors
/// If the store cannot be read.
pub fn of_contact(
    records: &dyn Records,
    index: &IndexKey,
    keeper: OrganizationId,
    contact: &str,
    (after, order): (Option<MessageEventId>, Order),
    limit: usize,
) -> Result<Vec<Identified>, Corrupt> {
    let prefix = sign_in::events(index, keeper, contact);
    let after = after.map(|id| sign_in::event(&prefix, id));
    let rows = records.page(Page { prefix: &prefix, after: after.as_deref(), order, limit })?;
    rows.iter().map(|(key, bytes)| decoded(key, bytes)).collect()
}

/// Returns a page of the events that an organization keeps, newest first, and the id after which the next page
/// continues.
///
/// # Errors
/// If the store cannot be read.
pub fn of_organization(
    records: &dyn Records,
    keeper: OrganizationId,
    after: Option<MessageEventId>,
    limit: usize,
) -> Result<(Vec<Identified>, Option<MessageEventId>), Corrupt> {
    let prefix = sign_in::events_listed(keeper);
    let after = after.map(|id| sign_in::event_listed(keeper, id));
    let rows = records.page(Page { after: after.as_deref(), ..Page::last(&prefix, limit) })?;
    let next = rows.last().filter(|_| rows.len() == limit).and_then(|(key, _)| sign_in::event_id(key));
    let mut events = Vec::with_capacity(rows.len());
    for (listed, digest) in &rows {
        let key = sign_in::listed_event(listed, digest).ok_or(Corrupt::Record(MessageEvent::NOUN))?;
        // An event may be removed between the two reads.
        if let Some(bytes) = records.read(&key)? {
            events.push(decoded(&key, &bytes)?);
        }
    }
    Ok((events, next))
}

fn decoded(key: &[u8], bytes: &[u8]) -> Result<Identified, Corrupt> {
    let id = sign_in::event_id(key).ok_or(Corrupt::Record(MessageEvent::NOUN))?;
    Ok((id, MessageEvent::decode(bytes)?))
}
