//! What a durable commit changes in memory: snapshots, cached keys, the change feed, and the tasks that wait
//! for new work.

use quorate_common::console;
use quorate_core::model::Organization;
use quorate_core::model::last_use::CredentialUse;
use quorate_core::model::layout::Key;
use quorate_core::model::queued_message::{Channel, QueuedMessage};
use quorate_core::model::write::{Effect, Write};

use super::Shared;
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
    /// Whether the commit leaves tombstones for the cleanup.
    has_tombstones: bool,
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
        for Write { key, effect, .. } in writes {
            match effect.take() {
                None => {}
                Some(Effect::Delivery(id)) => arrivals::add_delivery(&mut effects.deliveries, &id),
                Some(Effect::Body(id)) => arrivals::add_body(&mut effects.deliveries, &id),
                Some(Effect::Message(message)) => match message.channel {
                    Channel::Mail => effects.mails.push(message),
                    Channel::Sms => effects.sms.push(message),
                },
                Some(Effect::Tombstone) => effects.has_tombstones = true,
                Some(Effect::ForgetKey) => effects.stale_keys.push(key.clone()),
                Some(Effect::ForgetAccounts(prefix)) => effects.stale_accounts.push(prefix),
            }
        }
        effects
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
        if self.has_tombstones {
            shared.tombstones.notify_one();
        }
    }
}
