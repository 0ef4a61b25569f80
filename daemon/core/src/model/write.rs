//! Writes to the store, and what they change outside of it.

use quorate_common::activity_log::LogHash;
use zeroize::Zeroizing;

use super::layout::Key;
use super::layout::outbox::DeliveryId;
use super::queued_message::QueuedMessage;
use super::record::Record;
use crate::error::Corrupt;

/// One write to the store. Values may contain secrets, so they are wiped.
pub struct Write {
    /// Key of the record.
    pub key: Key,
    /// Value of the record; `None` removes it.
    pub value: Option<Zeroizing<Vec<u8>>>,
    /// Whether a record may already exist at the key.
    pub replaces: bool,
    /// Effect of the write once it is durable.
    pub effect: Option<Effect>,
}

/// What the daemon must do once a write is durable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Count a queued delivery, and wake the outbox.
    Delivery(DeliveryId),
    /// Count the body of queued deliveries, given by one of them.
    Body(DeliveryId),
    /// Count a queued message, and wake its sender.
    Message(QueuedMessage),
    /// Wake the cleanup.
    Tombstone,
    /// Remove the decrypted key of the written record from the cache.
    ForgetKey,
    /// Remove the decrypted keys of all accounts with this prefix from the cache.
    ForgetAccounts(Key),
    /// Add the state of an activity that was written to the activity log.
    Log(LogHash),
}

impl Write {
    /// Creates a write without an effect; a record may already exist at the key.
    pub const fn of(key: Key, value: Option<Zeroizing<Vec<u8>>>) -> Self {
        Self { key, value, replaces: true, effect: None }
    }

    /// Creates a write that adds or replaces a record.
    ///
    /// # Errors
    /// If the record cannot be encoded.
    pub fn put<R: Record>(key: Key, record: &R) -> Result<Self, Corrupt> {
        Ok(Self::of(key, Some(Zeroizing::new(record.encode()?))))
    }

    /// Creates a write of a record that cannot exist yet, since its id is new.
    ///
    /// # Errors
    /// If the record cannot be encoded.
    pub fn put_new<R: Record>(key: Key, record: &R) -> Result<Self, Corrupt> {
        Ok(Self { replaces: false, ..Self::put(key, record)? })
    }

    /// Creates a write of an index entry; the key carries most or all of the information.
    pub fn mark(key: Key, value: &[u8]) -> Self {
        Self::of(key, Some(Zeroizing::new(value.to_vec())))
    }

    /// Like [`Self::mark`], for a key that cannot exist yet.
    pub fn mark_new(key: Key, value: &[u8]) -> Self {
        Self { replaces: false, ..Self::mark(key, value) }
    }

    /// Creates a write that removes a record.
    pub const fn remove(key: Key) -> Self {
        Self::of(key, None)
    }

    /// Adds an effect to the write.
    #[must_use]
    pub fn with(self, effect: Effect) -> Self {
        Self { effect: Some(effect), ..self }
    }
}
