//! The keys that this console has seen, and when first: trust on first use, kept in the user's own state
//! folder. The daemon cannot change what stands here; it can only add keys, and new ones are loud.

use std::collections::BTreeMap;
use std::path::Path;

use quorate_common::console::OrganizationDetail;
use quorate_common::ids::{OrganizationId, UserId};
use serde::{Deserialize, Serialize};

use crate::keys::canonical;
use crate::place::{self, PlaceFlaw};

/// A key counts as new for a day after it was first seen.
const NEW_MILLIS: u64 = 24 * 60 * 60 * 1000;
/// Largest roster that is read.
pub(crate) const SIZE_LIMIT: u64 = 64 * 1024 * 1024;

/// Keys by organization.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Roster {
    organizations: BTreeMap<OrganizationId, Known>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Known {
    /// When this console first saw the organization; all keys of that moment were pinned unseen.
    first_contact_millis: u64,
    /// First seen, by user and public key.
    keys: BTreeMap<UserId, BTreeMap<String, u64>>,
}

/// A key as it was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen<'a> {
    /// In which organization.
    pub(crate) organization: OrganizationId,
    /// Whose.
    pub(crate) user: UserId,
    /// As it is compared, see [`canonical`].
    pub(crate) public_key: &'a str,
    /// When first, milliseconds since 1970.
    pub(crate) since: u64,
}

impl Roster {
    /// Reads the file; one that does not exist is an empty roster. One that cannot be read is an error,
    /// since starting anew would silently trust everything.
    pub(crate) fn load(path: &Path) -> Result<Self, PlaceFlaw> {
        match place::read(path, SIZE_LIMIT)? {
            Some(bytes) => Self::parse(&bytes).ok_or_else(|| PlaceFlaw::Content(path.to_owned())),
            None => Ok(Self::default()),
        }
    }

    /// Writes the file, readable by the user only.
    pub(crate) fn save(&self, path: &Path) -> Result<(), PlaceFlaw> {
        place::write_private(path, self.text().as_bytes())
    }

    /// Reads any bytes; nothing if they are no roster, or name a key in another way than it is compared.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let roster: Self = serde_json::from_slice(bytes).ok()?;
        roster.seen().iter().all(|seen| canonical(seen.public_key) == seen.public_key).then_some(roster)
    }

    /// The file's content.
    pub(crate) fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// Every key, by organization and user.
    pub(crate) fn seen(&self) -> Vec<Seen<'_>> {
        let users = self.organizations.iter().flat_map(|(organization, known)| {
            known.keys.iter().map(move |(user, keys)| (*organization, *user, keys))
        });
        let keys = users.flat_map(|(organization, user, keys)| {
            keys.iter().map(move |(public_key, first_seen)| Seen {
                organization,
                user,
                public_key,
                since: *first_seen,
            })
        });
        keys.collect()
    }

    /// The keys that the other roster does not have for the same user.
    pub(crate) fn missing_in(&self, other: &Self) -> Vec<Seen<'_>> {
        let is_held =
            |seen: &Seen<'_>| other.first_seen(seen.organization, seen.user, seen.public_key).is_some();
        self.seen().into_iter().filter(|seen| !is_held(seen)).collect()
    }

    /// Takes in what another console of this user saw. Of each moment the earlier one holds.
    pub(crate) fn merge(&mut self, other: Self) {
        for (id, theirs) in other.organizations {
            let ours = self.organizations.entry(id).or_insert_with(|| theirs.clone());
            ours.first_contact_millis = ours.first_contact_millis.min(theirs.first_contact_millis);
            for (user, keys) in theirs.keys {
                let held = ours.keys.entry(user).or_default();
                for (key, seen) in keys {
                    let at = held.entry(key).or_insert(seen);
                    *at = seen.min(*at);
                }
            }
        }
    }

    /// Takes in the keys of an organization. Returns whether there was a new one.
    pub(crate) fn see(&mut self, organization: &OrganizationDetail, now: u64) -> bool {
        let mut changed = false;
        let known = self.organizations.entry(organization.head.organization_id).or_insert_with(|| {
            changed = true;
            Known { first_contact_millis: now, keys: BTreeMap::new() }
        });
        for user in &organization.users {
            let keys = known.keys.entry(user.user_id).or_default();
            for key in user.public_keys() {
                keys.entry(canonical(key)).or_insert_with(|| {
                    changed = true;
                    now
                });
            }
        }
        changed
    }

    /// When the key was first seen for that user.
    pub(crate) fn first_seen(
        &self,
        organization: OrganizationId,
        user: UserId,
        public_key: &str,
    ) -> Option<u64> {
        let keys = self.organizations.get(&organization)?.keys.get(&user)?;
        keys.get(&canonical(public_key)).copied()
    }

    /// Whether the key came after the first contact and less than a day ago.
    pub(crate) fn is_new(
        &self,
        organization: OrganizationId,
        user: UserId,
        public_key: &str,
        now: u64,
    ) -> bool {
        let Some(seen) = self.first_seen(organization, user, public_key) else { return false };
        let contact = self.organizations.get(&organization).map_or(0, |known| known.first_contact_millis);
        seen > contact && now.saturating_sub(seen) < NEW_MILLIS
    }

    /// Whether the organization itself was first seen less than a day ago.
    pub(crate) fn is_first_contact(&self, organization: OrganizationId, now: u64) -> bool {
        self.organizations
            .get(&organization)
            .is_none_or(|known| now.saturating_sub(known.first_contact_millis) < NEW_MILLIS)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use super::*;
    use crate::testing::Stage;

    #[test]
    fn tells_new_keys_from_those_of_the_first_contact() {
        let stage = Stage::new(3, 2);
        let organization = stage.organization();
        let id = organization.head.organization_id;
        let user = &organization.users[0];
        let key = &user.api_keys[0].credential.public_key;
        let mut roster = Roster::default();
        let mut before = organization.clone();
        before.users[0].api_keys.clear();
        assert!(roster.see(&before, 1000));
        assert!(!roster.see(&before, 2000));
        assert!(roster.see(&organization, 3000));
        assert_eq!(roster.first_seen(id, user.user_id, &key.to_uppercase()), Some(3000));
        assert!(roster.is_new(id, user.user_id, key, 4000));
        assert!(!roster.is_new(id, user.user_id, key, 3000 + NEW_MILLIS));
        let other = &organization.users[1];
        assert!(!roster.is_new(id, other.user_id, &other.api_keys[0].credential.public_key, 4000));
    }

    #[test]
    fn keeps_and_refuses_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/roster.json");
        assert_eq!(Roster::load(&path).unwrap(), Roster::default());
        let mut roster = Roster::default();
        roster.see(&Stage::new(2, 1).organization(), 5);
        roster.save(&path).unwrap();
        assert_eq!(Roster::load(&path).unwrap(), roster);
        let mut later = Roster::default();
        later.see(&Stage::new(3, 1).organization(), 9);
        later.merge(Roster::load(&path).unwrap());
        let seen =
            |user: usize| later.first_seen(Stage::id(), Stage::user(user), Stage::stamper(user).public_key());
        assert_eq!((seen(0), seen(2)), (Some(5), Some(9)));
        std::fs::write(&path, b"{}x").unwrap();
        assert!(matches!(Roster::load(&path), Err(PlaceFlaw::Content(_))));
    }
}
