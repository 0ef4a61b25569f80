//! The keys of the records of sign-in flows: one-time codes, what counts and ends them, what happened to the
//! messages that were sent, and when credentials were last used. Each of these records but the last has a due time,
//! after which it is removed.

use quorate_common::ids::{MessageEventId, OrganizationId, OtpId, UserId, VerificationTokenId};

use super::{IndexKey, Key, Letter, below, key, last_id};
use crate::model::Millis;

/// The second byte of these keys.
#[repr(u8)]
enum Class {
    /// One-time codes.
    Code = b'c',
    /// The schedule of removals, ordered by due time.
    Due = b'd',
    /// Events in the delivery of messages, by receiver.
    Event = b'e',
    /// The same events, in order for all receivers.
    EventListed = b'l',
    /// Authorization codes of OAuth 2.0 providers that were exchanged.
    Exchange = b'o',
    /// Codes that were sent to a contact, or requested for a user identifier.
    Sent = b's',
    /// Messages that users of sub-organizations had sent, counted for their parent.
    SentByChildren = b'm',
    /// Attempts to use a code.
    Attempt = b't',
    /// Uses of verification tokens.
    Use = b'u',
    /// When the credentials of a user were last used.
    LastUses = b'w',
}

fn class(class: Class, parts: &[&[u8]]) -> Key {
    let start = [class as u8];
    let mut all: Vec<&[u8]> = vec![&start];
    all.extend(parts);
    key(Letter::SignIn, &all)
}

/// Returns the key of a one-time code.
pub fn code(organization: OrganizationId, id: OtpId) -> Key {
    class(Class::Code, &[organization.as_bytes(), id.as_bytes()])
}

/// Returns the prefix of the one-time codes of all organizations.
pub fn all_codes() -> Key {
    class(Class::Code, &[])
}

/// Returns the prefix of the attempts to use a code.
pub fn attempts(organization: OrganizationId, id: OtpId) -> Key {
    class(Class::Attempt, &[organization.as_bytes(), id.as_bytes()])
}

/// Returns the key of an attempt to use a code, by its number.
pub fn attempt(organization: OrganizationId, id: OtpId, number: u8) -> Key {
    below(attempts(organization, id), &[number])
}

/// Returns the prefix of the codes that were sent to a contact, or requested for a user identifier, oldest first.
/// `receiver` contains either, after a word that distinguishes them.
pub fn sent(index: &IndexKey, organization: OrganizationId, receiver: &[&str; 2]) -> Key {
    class(Class::Sent, &[organization.as_bytes(), &index.of_receiver(receiver)])
}

/// Returns the key of a sent code, by its number.
pub fn sent_code(index: &IndexKey, organization: OrganizationId, receiver: &[&str; 2], number: u32) -> Key {
    below(sent(index, organization, receiver), &number.to_be_bytes())
}

/// Returns the prefix of the messages that users of the sub-organizations of a parent had sent to a receiver. Requests
/// of the parent are counted under [`sent`], so that neither refuses the other.
pub fn sent_by_children(index: &IndexKey, parent: OrganizationId, receiver: &[&str; 2]) -> Key {
    class(Class::SentByChildren, &[parent.as_bytes(), &index.of_receiver(receiver)])
}

/// Returns the key of such a message, by its number.
pub fn message_by_children(
    index: &IndexKey,
    parent: OrganizationId,
    receiver: &[&str; 2],
    number: u32,
) -> Key {
    below(sent_by_children(index, parent, receiver), &number.to_be_bytes())
}

/// Parses the number at the end of a key of [`sent_code`] or [`message_by_children`].
pub fn sent_number(key: &[u8]) -> Option<u32> {
    key.last_chunk().map(|bytes| u32::from_be_bytes(*bytes))
}

/// Returns the key of a use of a verification token.
pub fn token_use(issuer: OrganizationId, token: VerificationTokenId, usage: u8) -> Key {
    class(Class::Use, &[issuer.as_bytes(), token.as_bytes(), &[usage]])
}

/// Returns the key of the record of when the credentials of a user were last used. It lasts as long as the user.
pub fn last_uses(organization: OrganizationId, user: UserId) -> Key {
    below(last_uses_of(organization), user.as_bytes())
}

/// Returns the prefix of the keys of [`last_uses`] of an organization.
pub fn last_uses_of(organization: OrganizationId) -> Key {
    class(Class::LastUses, &[organization.as_bytes()])
}

/// Returns the key of the exchange of an authorization code.
pub fn exchange(index: &IndexKey, organization: OrganizationId, code: &str) -> Key {
    class(Class::Exchange, &[organization.as_bytes(), &index.of_authorization_code(code)])
}

/// Returns the key in the schedule that removes a record at its due time.
pub fn due(at: Millis, record: &[u8]) -> Key {
    class(Class::Due, &[&at.to_be_bytes(), record])
}

/// Prefix of the schedule.
pub const SCHEDULE: &[u8] = &[Letter::SignIn as u8, Class::Due as u8];

/// Parses the due time and the key of the record in a key under [`SCHEDULE`].
pub fn of_due(scheduled: &[u8]) -> Option<(Millis, Key)> {
    let (due, record) = scheduled.strip_prefix(SCHEDULE)?.split_first_chunk::<8>()?;
    Some((Millis::from_be_bytes(*due), record.to_vec()))
}

/// Length of the prefix of the events of one receiver: letter, class, organization, digest of the receiver.
const EVENTS_LENGTH: usize = 2 + 16 + 16;

/// Returns the prefix of the events in the delivery of messages to a contact, oldest first.
pub fn events(index: &IndexKey, organization: OrganizationId, contact: &str) -> Key {
    let digest = index.of_receiver(&["message", &contact.to_lowercase()]);
    class(Class::Event, &[organization.as_bytes(), &digest])
}

/// Returns the key of an event under [`events`].
pub fn event(events: &[u8], id: MessageEventId) -> Key {
    below(events.to_vec(), id.as_bytes())
}

/// Parses the id at the end of a key of an event, or of its entry in the list.
pub fn event_id(key: &[u8]) -> Option<MessageEventId> {
    last_id(key).map(MessageEventId::from_bytes)
}

/// Returns the prefix of the list of the events of an organization, oldest first.
pub fn events_listed(organization: OrganizationId) -> Key {
    class(Class::EventListed, &[organization.as_bytes()])
}

/// Returns the key of an entry under [`events_listed`].
pub fn event_listed(organization: OrganizationId, id: MessageEventId) -> Key {
    below(events_listed(organization), id.as_bytes())
}

/// Returns the entry in the list for a key of [`event`], and its value, from which [`listed_event`] returns the
/// key of the event again. Other keys have none.
pub fn listing(event: &[u8]) -> Option<(Key, Vec<u8>)> {
    let (events, id) = event.split_at_checked(EVENTS_LENGTH)?;
    let rest = events.strip_prefix(&[Letter::SignIn as u8, Class::Event as u8])?;
    let (organization, digest) = rest.split_first_chunk::<16>()?;
    let id = MessageEventId::from_bytes(id.try_into().ok()?);
    Some((event_listed(OrganizationId::from_bytes(*organization), id), digest.to_vec()))
}

/// Returns the key of the event for an entry in the list and its value.
pub fn listed_event(listed: &[u8], digest: &[u8]) -> Option<Key> {
    let rest = listed.strip_prefix(&[Letter::SignIn as u8, Class::EventListed as u8])?;
    let (organization, id) = rest.split_first_chunk::<16>()?;
    let key = class(Class::Event, &[organization, digest, id]);
    (key.len() == EVENTS_LENGTH.saturating_add(id.len())).then_some(key)
}
