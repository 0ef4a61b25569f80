//! The keys of the records of sign-in flows: one-time codes, and what counts and ends them. Each of these records
//! has a due time, after which it is removed.

use quorate_common::ids::{OrganizationId, OtpId, VerificationTokenId};

use super::{IndexKey, Key, Letter, key};
use crate::model::Millis;

/// The second byte of these keys.
#[repr(u8)]
enum Class {
    /// One-time codes.
    Code = b'c',
    /// The schedule of removals, ordered by due time.
    Due = b'd',
    /// Codes that were sent to a contact, or requested for a user identifier.
    Sent = b's',
    /// Attempts to use a code.
    Attempt = b't',
    /// Uses of verification tokens.
    Use = b'u',
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

/// Returns the prefix of the attempts to use a code.
pub fn attempts(organization: OrganizationId, id: OtpId) -> Key {
    class(Class::Attempt, &[organization.as_bytes(), id.as_bytes()])
}

/// Returns the key of an attempt to use a code, by its number.
pub fn attempt(organization: OrganizationId, id: OtpId, number: u8) -> Key {
    let mut key = attempts(organization, id);
    key.push(number);
    key
}

/// Returns the prefix of the codes that were sent to a contact, or requested for a user identifier, oldest first.
/// `receiver` contains either, after a word that distinguishes them.
pub fn sent(index: &IndexKey, organization: OrganizationId, receiver: &[&str; 2]) -> Key {
    class(Class::Sent, &[organization.as_bytes(), &index.of_receiver(receiver)])
}

/// Returns the key of a sent code, by its number.
pub fn sent_code(index: &IndexKey, organization: OrganizationId, receiver: &[&str; 2], number: u32) -> Key {
    let mut key = sent(index, organization, receiver);
    key.extend_from_slice(&number.to_be_bytes());
    key
}

/// Parses the number at the end of a key of [`sent_code`].
pub fn sent_number(key: &[u8]) -> Option<u32> {
    key.last_chunk().map(|bytes| u32::from_be_bytes(*bytes))
}

/// Returns the key of a use of a verification token.
pub fn token_use(issuer: OrganizationId, token: VerificationTokenId, usage: u8) -> Key {
    class(Class::Use, &[issuer.as_bytes(), token.as_bytes(), &[usage]])
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
