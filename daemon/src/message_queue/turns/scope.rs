//! Counts of the messages of one organization or group of senders, and the order in which its delayed ones are displaced.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use quorate_core::model::queued_message::{MessageId, MessageUsage, QueueUsage, QueuedMessage, Receiver};

/// Position of a receiver: the number of its delayed messages, the oldest of them, and its digest.
type Rank = (usize, Reverse<MessageId>, Receiver);

/// The messages of an organization or of a group of senders.
#[derive(Default)]
pub(super) struct Scope {
    usage: QueueUsage,
    /// Delayed messages that wait for their next attempt. Ids are in the order in which messages were queued.
    delayed: HashMap<Receiver, BTreeSet<MessageId>>,
    /// Receivers with delayed messages.
    ranks: BTreeSet<Rank>,
}

impl Scope {
    /// Adds a message that waits.
    pub(super) fn add(&mut self, message: &QueuedMessage) {
        self.usage.all.add(message.size);
        if message.is_delayed {
            self.usage.delayed.add(message.size);
            self.wait(message);
        }
    }

    /// Lets a delayed message wait for its next attempt. `is_new` states whether it is delayed for the first time.
    pub(super) fn delay(&mut self, message: &QueuedMessage, is_new: bool) {
        if is_new {
            self.usage.delayed.add(message.size);
        }
        self.wait(message);
    }

    /// Records that a message does not wait anymore: it is being sent, or has ended.
    pub(super) fn resume(&mut self, message: &QueuedMessage) {
        self.change(message.receiver, |ids| ids.remove(&message.id));
    }

    /// Counts a delayed message as displaced.
    pub(super) const fn displace(&mut self, message: &QueuedMessage) {
        self.usage.delayed.subtract(message.size);
        self.usage.displaced.add(message.size);
    }

    /// Removes a message. `is_displaced` states whether it was displaced.
    pub(super) fn remove(&mut self, message: &QueuedMessage, is_displaced: bool) {
        self.resume(message);
        self.usage.all.subtract(message.size);
        if is_displaced {
            self.usage.displaced.subtract(message.size);
        } else if message.is_delayed {
            self.usage.delayed.subtract(message.size);
        }
    }

    /// Returns the counts.
    pub(super) const fn usage(&self) -> &QueueUsage {
        &self.usage
    }

    /// Returns the message that is displaced next: the oldest one of the receiver with the most delayed messages.
    pub(super) fn next_displaced(&self) -> Option<MessageId> {
        self.ranks.last().map(|(_, Reverse(oldest), _)| *oldest)
    }

    /// Returns the message that is displaced next, if the messages exceed their share.
    pub(super) fn excess(&self, share: MessageUsage) -> Option<MessageId> {
        is_over(&self.usage, share).then(|| self.next_displaced()).flatten()
    }

    fn wait(&mut self, message: &QueuedMessage) {
        self.change(message.receiver, |ids| ids.insert(message.id));
    }

    /// Changes the delayed messages of a receiver.
    fn change(&mut self, receiver: Receiver, change: impl FnOnce(&mut BTreeSet<MessageId>) -> bool) {
        let rank = |ids: &BTreeSet<MessageId>| Some((ids.len(), Reverse(*ids.first()?), receiver));
        let ids = self.delayed.entry(receiver).or_default();
        if let Some(before) = rank(ids) {
            self.ranks.remove(&before);
        }
        change(ids);
        if let Some(after) = rank(ids) {
            self.ranks.insert(after);
        } else {
            self.delayed.remove(&receiver);
        }
    }
}

/// Returns whether the messages that were not displaced exceed a share.
pub(super) const fn is_over(usage: &QueueUsage, share: MessageUsage) -> bool {
    let kept = usage.kept();
    kept.messages > share.messages || kept.bytes > share.bytes
}
