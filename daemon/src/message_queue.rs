//! The queued messages of a channel, as they are known in memory: committed ones, and those found in the store after
//! a start. Requests count them, and the sender of the channel takes them in turns. Their texts stay in the store.

mod turns;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use quorate_core::model::queued_message::{MessageId, MessageSource, QueueUsage, QueuedMessage};
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

pub use turns::{CONCURRENT, Turns};

/// The queued messages of a channel.
#[derive(Default)]
pub struct MessageQueue {
    turns: Mutex<Turns>,
    unknown: AtomicBool,
    /// Messages that were added and not counted yet.
    added: AtomicU64,
    notify: Notify,
}

impl MessageQueue {
    /// Adds the messages of a commit and wakes their sender.
    pub fn add(&self, messages: &[QueuedMessage]) {
        if messages.is_empty() {
            return;
        }
        self.added.fetch_add(u64::try_from(messages.len()).unwrap_or(u64::MAX), Ordering::Relaxed);
        {
            let mut turns = self.turns();
            for message in messages {
                turns.add(*message);
            }
        }
        self.notify.notify_one();
    }

    /// Wakes the sender when the queued messages are unknown; it then reads all of them again.
    pub fn notify_one(&self) {
        self.unknown.store(true, Ordering::Relaxed);
        self.notify.notify_one();
    }

    /// Returns whether the queued messages are unknown, and resets the flag.
    pub fn take_unknown(&self) -> bool {
        self.unknown.swap(false, Ordering::Relaxed)
    }

    /// Returns how many messages were added since the last call.
    pub fn take_added(&self) -> u64 {
        self.added.swap(0, Ordering::Relaxed)
    }

    /// Completes when messages were added.
    pub fn added(&self) -> Notified<'_> {
        self.notify.notified()
    }

    /// Returns the order in which messages are sent. It must not be held while anything else waits.
    pub fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether a message is queued.
    pub fn is_queued(&self, id: MessageId) -> bool {
        self.turns().is_queued(id)
    }

    /// Returns how many messages wait: of a tenant, of its organization, and of its group of senders.
    pub fn usage(&self, source: &MessageSource) -> [QueueUsage; 3] {
        self.turns().usage(source)
    }
}
