//! What a durable commit changes in memory: snapshots, cached keys, the change feed, and the tasks that wait
//! for new work.

use quorate_common::activity_log::LogHash;
use quorate_common::console;
use quorate_core::model::Organization;
use quorate_core::model::last_use::CredentialUse;
use quorate_core::model::layout::Key;
use quorate_core::model::queued_message::{Channel, MessageId, QueuedMessage};
use quorate_core::model::write::{Effect, Write};

use super::Shared;
use super::notice::Notice;
use crate::arrivals::{self, ByOrganization};

/// Changes of the state in memory, applied once a commit is durable.
#[derive(Default)]
pub(super) struct Effects {
    /// Snapshots to publish.
    after: Vec<Organization>,
    /// Events for the change feed.
    change_events: Vec<console::Change>,
    /// Credentials that the commit used, besides that of the caller.
    used: Vec<CredentialUse>,
    /// Records whose decrypted keys are removed from the cache.
    stale_keys: Vec<Key>,
    /// Prefixes of accounts whose decrypted keys are removed from the cache.
    stale_accounts: Vec<Key>,
    /// Webhook deliveries that the commit queues.
    deliveries: ByOrganization,
    /// Mails that the commit queues.
    mails: Vec<QueuedMessage>,
    /// SMS that the commit queues.
    sms: Vec<QueuedMessage>,
    /// Messages that the commit removes from their queues.
    removed: Vec<(Channel, MessageId)>,
    /// Entries that the commit adds to the activity log.
    logged: Vec<LogHash>,
    /// Whether the commit leaves tombstones for the cleanup.
    has_tombstones: bool,
    /// Whether the commit changes the terms of the sealing keys.
    has_terms: bool,
}

impl Effects {
    /// Takes the effects of these writes.
    pub(super) fn of(
        writes: &mut [Write],
        after: Vec<Organization>,
        change_events: Vec<console::Change>,
        used: Vec<CredentialUse>,
    ) -> Self {
        let mut effects = Self { after, change_events, used, ..Self::default() };
        for Write { key, value, effect, .. } in writes {
            if value.is_none() {
                effects.removed.extend(removed_message(key));
            }
            match effect.take() {
                None => {}
                Some(Effect::Delivery(id)) => arrivals::add_delivery(&mut effects.deliveries, &id),
                Some(Effect::Body(id)) => arrivals::add_body(&mut effects.deliveries, &id),
                Some(Effect::Message(message)) => match message.channel {
                    Channel::Mail => effects.mails.push(message),
                    Channel::Sms => effects.sms.push(message),
                },
                Some(Effect::Log(entry)) => effects.logged.push(entry),
                Some(Effect::Tombstone) => effects.has_tombstones = true,
                Some(Effect::ForgetKey) => effects.stale_keys.push(key.clone()),
                Some(Effect::ForgetAccounts(prefix)) => effects.stale_accounts.push(prefix),
            }
        }
        effects
    }

    /// Returns the entries that the commit adds to the activity log.
    pub(super) fn logged(&self) -> &[LogHash] {
        &self.logged
    }

    /// Returns the effects of a commit that changes the terms of the sealing keys.
    pub(super) fn of_terms() -> Self {
        Self { has_terms: true, ..Self::default() }
    }

    /// Adds what other daemons must know.
    pub(super) fn add_to(&self, notice: &mut Notice) {
        notice.organizations.extend(self.after.iter().map(|after| (after.id(), after.head.version)));
        notice.changes.extend(self.change_events.iter().cloned());
        notice.keys.extend(self.stale_keys.iter().cloned());
        notice.accounts.extend(self.stale_accounts.iter().cloned());
        arrivals::add_all(&mut notice.deliveries, self.deliveries.clone());
        notice.queued.extend(self.mails.iter().chain(&self.sms).copied());
        notice.removed.extend(self.removed.iter().copied());
        notice.terms |= self.has_terms;
    }

    /// Applies a durable commit to the state in memory.
    pub(super) fn publish(self, shared: &Shared) {
        for organization in self.after {
            shared.snapshots.publish(organization);
        }
        self.stale_keys.iter().for_each(|record| shared.keys.forget(record));
        self.stale_accounts.iter().for_each(|prefix| shared.keys.forget_all(prefix));
        shared.feed.publish(self.change_events);
        shared.last_uses.note(&self.used);
        shared.deliveries.add(self.deliveries);
        shared.messages(Channel::Mail).add(&self.mails);
        shared.messages(Channel::Sms).add(&self.sms);
        if !self.logged.is_empty() {
            shared.logged.notify_one();
        }
        if self.has_tombstones {
            shared.tombstones.notify_one();
        }
    }
}

/// Returns the message whose record has this key.
fn removed_message(key: &[u8]) -> Option<(Channel, MessageId)> {
    let channel =
        [Channel::Mail, Channel::Sms].into_iter().find(|channel| key.starts_with(channel.prefix()))?;
    Some((channel, MessageId::of_key(key)?))
}
