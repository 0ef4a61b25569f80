//! What a group announces to the other daemons that share the store: what they may have cached, and what they should do.

use quorate_common::console;
use quorate_common::ids::OrganizationId;
use quorate_core::error::Corrupt;
use quorate_core::model::layout::Key;
use quorate_core::model::queued_message::{Channel, MessageId, QueuedMessage};
use serde::{Deserialize, Serialize};

use super::Shared;
use crate::arrivals::ByOrganization;
use crate::barrier::Barrier;

/// Purpose of the sealing of notices, as associated data.
const PURPOSE: &[u8] = b"quorate/notice";

/// The changes of a group.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Notice {
    /// Organizations that changed, with their new versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) organizations: Vec<(OrganizationId, u64)>,
    /// Events for the change feed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) changes: Vec<console::Change>,
    /// Records whose decrypted keys must be forgotten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) keys: Vec<Key>,
    /// Prefixes of accounts whose decrypted keys must be forgotten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) accounts: Vec<Key>,
    /// Webhook deliveries that were queued.
    #[serde(default, skip_serializing_if = "ByOrganization::is_empty")]
    pub(super) deliveries: ByOrganization,
    /// Messages that were queued.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) queued: Vec<QueuedMessage>,
    /// Messages that were removed from their queues.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) removed: Vec<(Channel, MessageId)>,
    /// Whether the terms of the sealing keys changed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) terms: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}

impl Notice {
    /// Returns whether nothing changed.
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Encodes and encrypts the notice.
    pub(super) fn seal(&self, barrier: &Barrier) -> Result<Vec<u8>, Corrupt> {
        let plain = serde_json::to_vec(self).map_err(|_| Corrupt::Invariant("a notice cannot be encoded"))?;
        let mut nonce = [0; quorate_core::seal::NONCE];
        getrandom::fill(&mut nonce).map_err(|_| Corrupt::Invariant("the random source failed"))?;
        barrier.vault().aside().seal(nonce, PURPOSE, &plain)
    }

    fn open(barrier: &Barrier, sealed: &[u8]) -> Option<Self> {
        serde_json::from_slice(&barrier.vault().aside().open(PURPOSE, sealed).ok()?).ok()
    }
}

impl Shared {
    /// Applies the notice of another daemon to the state in memory.
    pub(super) fn hear(&self, sealed: &[u8]) {
        self.heard.notify_one();
        let Some(notice) = Notice::open(&self.barrier, sealed) else {
            // A newer version may write other notices; nothing that is cached can be trusted then.
            tracing::warn!("a notice of another daemon cannot be read");
            self.forget_cached();
            self.feed.publish(vec![console::Change::Reset]);
            self.wake_all();
            return;
        };
        if notice.terms {
            match self.barrier.load_terms() {
                Ok(terms) => self.barrier.end_terms_before(terms.newest()),
                // Values of a later term are read anyway, and the store refuses those of an ended one.
                Err(cause) => tracing::warn!(%cause, "the sealing keys cannot be read"),
            }
        }
        for (id, version) in notice.organizations {
            self.snapshots.evict_outdated(id, version.saturating_sub(1));
        }
        notice.keys.iter().for_each(|record| self.keys.forget(record));
        notice.accounts.iter().for_each(|prefix| self.keys.forget_all(prefix));
        self.feed.publish(notice.changes);
        self.deliveries.add(notice.deliveries);
        for message in notice.queued {
            self.messages(message.channel).add(&[message]);
        }
        for (channel, id) in notice.removed {
            self.messages(channel).turns().forget(id);
        }
    }
}
