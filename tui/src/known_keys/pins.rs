//! What is known about one organization: keys, pinned names and the pinned root quorum.

use std::collections::{BTreeMap, BTreeSet};

use quorate_common::console::OrganizationDetail;
use quorate_common::ids::UserId;
use serde::{Deserialize, Serialize};

/// A key or an organization counts as new for one day after it was first seen.
pub(super) const NEW_MILLIS: u64 = 24 * 60 * 60 * 1000;

#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct OrganizationPins {
    /// Time when this console first saw the organization. All keys of that time are pinned without
    /// confirmation.
    pub(super) first_contact_millis: u64,
    /// Time when each key was first seen, by user and public key.
    pub(super) keys: BTreeMap<UserId, BTreeMap<String, u64>>,
    /// Time when the user accepted a key that appeared after the first contact, by user and public key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) accepted: BTreeMap<UserId, BTreeMap<String, u64>>,
    pub(super) quorum: Option<Pin<KnownQuorum>>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) names: BTreeMap<UserId, Pin<String>>,
}

impl OrganizationPins {
    /// Returns what is known about a key, in canonical form.
    pub(super) fn key(&self, user: UserId, key: &str) -> Option<KeyHistory> {
        let first_seen = *self.keys.get(&user)?.get(key)?;
        let accepted_at = self.accepted.get(&user).and_then(|keys| keys.get(key)).copied();
        let is_confirmed = first_seen <= self.first_contact_millis || accepted_at.is_some();
        Some(KeyHistory { first_seen, accepted_at, is_confirmed })
    }

    /// Returns all keys.
    pub(super) fn all(&self) -> impl Iterator<Item = (UserId, &str, KeyHistory)> {
        let keys =
            self.keys.iter().flat_map(|(user, keys)| keys.keys().map(move |key| (*user, key.as_str())));
        keys.filter_map(|(user, key)| Some((user, key, self.key(user, key)?)))
    }

    /// Returns the confirmed keys, each with the time since when it is confirmed.
    pub(super) fn confirmed(&self) -> Vec<(UserId, String, u64)> {
        let confirmed = self.all().filter(|(_, _, history)| history.is_confirmed);
        confirmed
            .map(|(user, key, history)| {
                (user, key.to_owned(), history.accepted_at.unwrap_or(history.first_seen))
            })
            .collect()
    }
}

/// What is known about one key of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeyHistory {
    /// Time when the key was first seen, in milliseconds since the Unix epoch.
    pub(crate) first_seen: u64,
    /// Time when the user accepted the key, if it appeared after the first contact.
    pub(crate) accepted_at: Option<u64>,
    /// Whether the key was pinned at the first contact or accepted since. A key is never confirmed by age alone.
    pub(crate) is_confirmed: bool,
}

impl KeyHistory {
    /// Returns whether the key is unconfirmed and was first seen less than a day ago.
    pub(crate) const fn is_new(&self, now: u64) -> bool {
        !self.is_confirmed && now.saturating_sub(self.first_seen) < NEW_MILLIS
    }
}

/// A value that was pinned on first use or accepted by the user later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Pin<T> {
    pub(crate) value: T,
    /// Time when the value was first seen or accepted, in milliseconds since the Unix epoch.
    pub(crate) since_millis: u64,
    /// Whether the user accepted this value as a replacement of another one.
    #[serde(default)]
    pub(super) accepted: bool,
}

impl<T> Pin<T> {
    /// Returns the pin that takes precedence: the one accepted last, otherwise the one seen first.
    pub(super) fn preferred(self, other: Self) -> Self {
        let is_other = match (self.accepted, other.accepted) {
            (true, true) => other.since_millis > self.since_millis,
            (false, false) => other.since_millis < self.since_millis,
            (is_accepted, _) => !is_accepted,
        };
        if is_other { other } else { self }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct KnownQuorum {
    /// Number of members that must approve.
    pub(crate) threshold: u32,
    pub(crate) user_ids: BTreeSet<UserId>,
}

impl KnownQuorum {
    /// Returns the quorum that the daemon states.
    pub(crate) fn stated(organization: &OrganizationDetail) -> Self {
        let quorum = &organization.head.root_quorum;
        Self { threshold: quorum.threshold, user_ids: quorum.user_ids.iter().copied().collect() }
    }

    /// Returns a short form such as `2 of 3`.
    pub(crate) fn short(&self) -> String {
        format!("{} of {}", self.threshold, self.user_ids.len())
    }
}
