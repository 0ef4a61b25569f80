//! The file of known keys of all organizations.

use std::collections::BTreeMap;
use std::path::Path;

use quorate_common::console::OrganizationDetail;
use quorate_common::ids::{OrganizationId, UserId};
use serde::{Deserialize, Serialize};

use super::pins::{KeyHistory, KnownQuorum, NEW_MILLIS, OrganizationPins, Pin};
use crate::files::{self, FileError};
use crate::keys::canonical;

/// Maximum size of the file, in bytes.
pub(crate) const SIZE_LIMIT: u64 = 64 * 1024 * 1024;

/// Known keys of all organizations.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KnownKeys {
    organizations: BTreeMap<OrganizationId, OrganizationPins>,
}

/// A user whose stated name differs from the known name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Renamed {
    pub(crate) user: UserId,
    /// Known name and the time since when it is known.
    pub(crate) known: Pin<String>,
    /// Name that the daemon states.
    pub(crate) stated: String,
}

/// A known key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KnownKey<'a> {
    pub(crate) organization: OrganizationId,
    /// User who holds the key.
    pub(crate) user: UserId,
    /// Public key in the form that [`canonical`] returns.
    pub(crate) public_key: &'a str,
    /// Time when the key was first seen, in milliseconds since the Unix epoch.
    pub(crate) since: u64,
    /// Whether the key was pinned at the first contact or accepted since.
    pub(crate) is_confirmed: bool,
}

impl KnownKeys {
    /// Loads the file. Returns no known keys if the file does not exist. An unreadable file is an error,
    /// because starting over would silently trust all keys, and so is a file that other users can change.
    pub(crate) fn load(path: &Path) -> Result<Self, FileError> {
        match files::read_private(path, SIZE_LIMIT)? {
            Some(bytes) => Self::parse(&bytes).ok_or_else(|| FileError::Content(path.to_owned())),
            None => Ok(Self::default()),
        }
    }

    /// Saves the file, readable by its owner only.
    pub(crate) fn save(&self, path: &Path) -> Result<(), FileError> {
        files::write_private(path, self.text().as_bytes())
    }

    /// Parses the content of the file. Returns nothing if it is invalid or if a public key is not in
    /// canonical form.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let known_keys: Self = serde_json::from_slice(bytes).ok()?;
        known_keys
            .seen()
            .iter()
            .all(|seen| canonical(seen.public_key) == seen.public_key)
            .then_some(known_keys)
    }

    /// Returns the content of the file.
    pub(crate) fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// Returns all keys, ordered by organization and user.
    pub(crate) fn seen(&self) -> Vec<KnownKey<'_>> {
        let keys = self.organizations.iter().flat_map(|(organization, known)| {
            known.all().map(move |(user, public_key, history)| KnownKey {
                organization: *organization,
                user,
                public_key,
                since: history.first_seen,
                is_confirmed: history.is_confirmed,
            })
        });
        keys.collect()
    }

    /// Returns the keys that `other` does not have for the same user.
    pub(crate) fn missing_in(&self, other: &Self) -> Vec<KnownKey<'_>> {
        let is_known =
            |seen: &KnownKey<'_>| other.key(seen.organization, seen.user, seen.public_key).is_some();
        self.seen().into_iter().filter(|seen| !is_known(seen)).collect()
    }

    /// Merges what another process of the same user recorded. The earlier time of each key is kept.
    pub(crate) fn merge(&mut self, other: Self) {
        for (id, theirs) in &other.organizations {
            let Some(ours) = self.organizations.get_mut(id) else { continue };
            let quorums = ours.quorum.take().into_iter().chain(theirs.quorum.clone());
            ours.quorum = quorums.reduce(Pin::preferred);
            for (user, name) in &theirs.names {
                let names = ours.names.remove(user).into_iter().chain(Some(name.clone()));
                ours.names.extend(names.reduce(Pin::preferred).map(|name| (*user, name)));
            }
        }
        self.import(other);
    }

    /// Imports the known keys of another user. The earlier time of each key is kept. Own pins of names and
    /// quorums take precedence. Keys that either side confirmed are confirmed.
    pub(crate) fn import(&mut self, other: Self) {
        for (id, theirs) in other.organizations {
            let ours = self.organizations.entry(id).or_insert_with(|| theirs.clone());
            let confirmed = [ours.confirmed(), theirs.confirmed()].concat();
            ours.first_contact_millis = ours.first_contact_millis.min(theirs.first_contact_millis);
            ours.quorum = ours.quorum.take().or(theirs.quorum);
            for (user, name) in theirs.names {
                ours.names.entry(user).or_insert(name);
            }
            for (user, keys) in theirs.keys {
                let known_keys_of_user = ours.keys.entry(user).or_default();
                for (key, seen) in keys {
                    let at = known_keys_of_user.entry(key).or_insert(seen);
                    *at = seen.min(*at);
                }
            }
            // The earlier first contact of one side would otherwise turn keys pinned by the other side's
            // first contact into late keys.
            for (user, key, at) in confirmed {
                if !ours.key(user, &key).is_some_and(|known| known.is_confirmed) {
                    ours.accepted.entry(user).or_default().insert(key, at);
                }
            }
        }
    }

    /// Pins the keys, names and root quorum of an organization that are not known yet. Returns whether
    /// anything was new.
    pub(crate) fn pin_new(&mut self, organization: &OrganizationDetail, now: u64) -> bool {
        let mut changed = false;
        let known = self.organizations.entry(organization.head.organization_id).or_insert_with(|| {
            changed = true;
            OrganizationPins { first_contact_millis: now, ..OrganizationPins::default() }
        });
        if known.quorum.is_none() {
            changed = true;
            let value = KnownQuorum::stated(organization);
            known.quorum = Some(Pin { value, since_millis: now, accepted: false });
        }
        for user in &organization.users {
            known.names.entry(user.user_id).or_insert_with(|| {
                changed = true;
                Pin { value: user.user_name.clone(), since_millis: now, accepted: false }
            });
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

    /// Returns the known root quorum.
    pub(crate) fn quorum(&self, organization: OrganizationId) -> Option<&Pin<KnownQuorum>> {
        self.organizations.get(&organization)?.quorum.as_ref()
    }

    /// Returns the known name of a user.
    pub(crate) fn name(&self, organization: OrganizationId, user: UserId) -> Option<&str> {
        self.organizations.get(&organization)?.names.get(&user).map(|name| name.value.as_str())
    }

    /// Returns the users whose stated names differ from the known names.
    pub(crate) fn renamed(&self, organization: &OrganizationDetail) -> Vec<Renamed> {
        let Some(known) = self.organizations.get(&organization.head.organization_id) else {
            return Vec::new();
        };
        let renamed = organization.users.iter().filter_map(|user| {
            let name = known.names.get(&user.user_id).filter(|name| name.value != user.user_name)?;
            Some(Renamed { user: user.user_id, known: name.clone(), stated: user.user_name.clone() })
        });
        renamed.collect()
    }

    /// Replaces the known root quorum with the one that the daemon states.
    pub(crate) fn accept_quorum(&mut self, organization: &OrganizationDetail, now: u64) {
        if let Some(known) = self.organizations.get_mut(&organization.head.organization_id) {
            let value = KnownQuorum::stated(organization);
            known.quorum = Some(Pin { value, since_millis: now, accepted: true });
        }
    }

    /// Replaces the known names that differ with the names that the daemon states.
    pub(crate) fn accept_names(&mut self, organization: &OrganizationDetail, now: u64) {
        let renamed = self.renamed(organization);
        if let Some(known) = self.organizations.get_mut(&organization.head.organization_id) {
            let names = renamed
                .into_iter()
                .map(|one| (one.user, Pin { value: one.stated, since_millis: now, accepted: true }));
            known.names.extend(names);
        }
    }

    /// Returns the stated keys that appeared after the first contact and were not accepted.
    pub(crate) fn unconfirmed(&self, organization: &OrganizationDetail) -> Vec<KnownKey<'_>> {
        let stated = |user: UserId| organization.users.iter().filter(move |known| known.user_id == user);
        let is_stated = |seen: &KnownKey<'_>| {
            stated(seen.user).any(|user| user.public_keys().any(|key| canonical(key) == seen.public_key))
        };
        let id = organization.head.organization_id;
        let unconfirmed_keys =
            self.seen().into_iter().filter(|seen| seen.organization == id && !seen.is_confirmed);
        unconfirmed_keys.filter(is_stated).collect()
    }

    /// Confirms a key of a user.
    pub(crate) fn accept_key(
        &mut self,
        organization: OrganizationId,
        user: UserId,
        public_key: &str,
        now: u64,
    ) {
        if let Some(known) = self.organizations.get_mut(&organization) {
            known.accepted.entry(user).or_default().insert(canonical(public_key), now);
        }
    }

    /// Returns the known organizations with their root quorums.
    pub(crate) fn quorums(&self) -> impl Iterator<Item = (OrganizationId, &Pin<KnownQuorum>)> {
        self.organizations.iter().filter_map(|(id, known)| Some((*id, known.quorum.as_ref()?)))
    }

    /// Returns what is known about a key of that user.
    pub(crate) fn key(
        &self,
        organization: OrganizationId,
        user: UserId,
        public_key: &str,
    ) -> Option<KeyHistory> {
        self.organizations.get(&organization)?.key(user, &canonical(public_key))
    }

    /// Returns whether the organization itself was first seen less than a day ago.
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
    use crate::testing::Fixture;

    #[test]
    fn distinguishes_new_keys_from_first_contact() {
        let fixture = Fixture::new(3, 2);
        let organization = fixture.organization();
        let id = organization.head.organization_id;
        let user = &organization.users[0];
        let key = &user.api_keys[0].credential.public_key;
        let mut known_keys = KnownKeys::default();
        let mut before = organization.clone();
        before.users[0].api_keys.clear();
        assert!(known_keys.pin_new(&before, 1000));
        assert!(!known_keys.pin_new(&before, 2000));
        assert!(known_keys.pin_new(&organization, 3000));
        let known = known_keys.key(id, user.user_id, &key.to_uppercase()).unwrap();
        assert_eq!(known.first_seen, 3000);
        assert!(known.is_new(4000) && !known.is_new(3000 + NEW_MILLIS));
        let other = &organization.users[1];
        let other = known_keys.key(id, other.user_id, &other.api_keys[0].credential.public_key).unwrap();
        assert!(!other.is_new(4000));
    }

    #[test]
    fn a_file_that_others_can_change_is_rejected() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("known.json");
        KnownKeys::default().save(&path).unwrap();
        assert!(KnownKeys::load(&path).is_ok());
        for mode in [0o606, 0o620, 0o644, 0o666] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            let error = KnownKeys::load(&path).unwrap_err();
            assert!(matches!(error, FileError::Permissions { mode: found, .. } if found == mode), "{error}");
        }
    }

    #[test]
    fn importing_older_keys_keeps_own_keys_confirmed() {
        let (organization, user) = (Fixture::new(3, 2).organization(), Fixture::user(0));
        let mut before = organization.clone();
        before.users[0].api_keys.clear();
        let (mut ours, mut theirs) = (KnownKeys::default(), KnownKeys::default());
        theirs.pin_new(&before, 1000);
        ours.pin_new(&organization, 2000);
        let is_new = |known_keys: &KnownKeys| {
            known_keys.key(Fixture::id(), user, Fixture::stamper(0).public_key()).unwrap().is_new(3000)
        };
        let mut merged = ours.clone();
        merged.merge(theirs.clone());
        ours.import(theirs.clone());
        assert!(!is_new(&ours) && !is_new(&merged), "the key was pinned at our first contact");
        assert_eq!(KnownKeys::parse(ours.text().as_bytes()), Some(ours));
        // A key that appeared later in all files is still new.
        theirs.pin_new(&organization, 2500);
        let mut third = KnownKeys::default();
        third.pin_new(&before, 1500);
        third.import(theirs);
        assert!(is_new(&third));
    }

    #[test]
    fn saves_loads_and_rejects_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep").join("roster.json");
        assert_eq!(KnownKeys::load(&path).unwrap(), KnownKeys::default());
        let mut known_keys = KnownKeys::default();
        known_keys.pin_new(&Fixture::new(2, 1).organization(), 5);
        known_keys.save(&path).unwrap();
        assert_eq!(KnownKeys::load(&path).unwrap(), known_keys);
        let mut later = KnownKeys::default();
        later.pin_new(&Fixture::new(3, 1).organization(), 9);
        later.merge(KnownKeys::load(&path).unwrap());
        let seen = |user: usize| {
            let key = later.key(Fixture::id(), Fixture::user(user), Fixture::stamper(user).public_key());
            key.unwrap().first_seen
        };
        assert_eq!((seen(0), seen(2)), (5, 9));
        std::fs::write(&path, b"{}x").unwrap();
        assert!(matches!(KnownKeys::load(&path), Err(FileError::Content(_))));
    }

    #[test]
    fn pins_change_only_when_accepted() {
        let (before, id) = (Fixture::new(3, 2).organization(), Fixture::id());
        let mut after = Fixture::new(3, 1).organization();
        after.users[0].user_name = "jo".to_owned();
        let mut known_keys = KnownKeys::default();
        assert!(known_keys.pin_new(&before, 10));
        assert!(!known_keys.pin_new(&after, 20), "a stated change is not pinned");
        let known = |known_keys: &KnownKeys| {
            (known_keys.quorum(id).unwrap().value.threshold, known_keys.renamed(&after).len())
        };
        assert_eq!(known(&known_keys), (2, 1));
        let mut accepted = known_keys.clone();
        accepted.accept_quorum(&after, 30);
        accepted.accept_names(&after, 30);
        assert_eq!(known(&accepted), (1, 0));
        // Another process of the same user saves its older pins; the accepted pins are kept.
        let (mut one, mut other) = (known_keys.clone(), accepted.clone());
        one.merge(accepted.clone());
        other.merge(known_keys.clone());
        assert_eq!((known(&one), known(&other)), ((1, 0), (1, 0)));
        // Pins of another user do not replace own pins.
        known_keys.import(accepted.clone());
        assert_eq!(known(&known_keys), (2, 1));
        assert_eq!(KnownKeys::parse(accepted.text().as_bytes()).unwrap(), accepted);
        // A file of an earlier version contains only keys.
        let mut old: serde_json::Value = serde_json::from_str(&known_keys.text()).unwrap();
        let organization = old["organizations"][id.to_string()].as_object_mut().unwrap();
        organization.remove("quorum");
        organization.remove("names");
        let mut old = KnownKeys::parse(old.to_string().as_bytes()).unwrap();
        assert!(old.quorum(id).is_none() && old.pin_new(&before, 40) && old.quorum(id).is_some());
    }
}
