//! Known keys, names and root quorums: trust on first use, kept in the user's own state folder. The daemon cannot
//! change them; it can only add keys, and those stay unconfirmed until the user accepts them. What it states differently is
//! shown as different.

use std::collections::{BTreeMap, BTreeSet};
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
    /// When the user accepted a key that came after the first contact, by user and public key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    accepted: BTreeMap<UserId, BTreeMap<String, u64>>,
    /// Root quorum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    quorum: Option<Pin<KnownQuorum>>,
    /// Names of users.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    names: BTreeMap<UserId, Pin<String>>,
}

impl Known {
    fn first_seen(&self, user: UserId, key: &str) -> Option<u64> {
        self.keys.get(&user)?.get(key).copied()
    }

    fn accepted_at(&self, user: UserId, key: &str) -> Option<u64> {
        self.accepted.get(&user)?.get(key).copied()
    }

    /// Whether the key was pinned at the first contact, or accepted since.
    fn is_confirmed(&self, user: UserId, key: &str) -> bool {
        let is_pinned = self.first_seen(user, key).is_some_and(|seen| seen <= self.first_contact_millis);
        is_pinned || self.accepted_at(user, key).is_some()
    }

    /// The confirmed keys, and since when they are.
    fn confirmed(&self) -> Vec<(UserId, String, u64)> {
        let keys =
            self.keys.iter().flat_map(|(user, keys)| keys.iter().map(move |(key, seen)| (*user, key, *seen)));
        let confirmed = keys.filter(|(user, key, _)| self.is_confirmed(*user, key));
        confirmed
            .map(|(user, key, seen)| (user, key.clone(), self.accepted_at(user, key).unwrap_or(seen)))
            .collect()
    }
}

/// A value that was pinned on first use, or accepted by the user since.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Pin<T> {
    /// The value.
    pub(crate) value: T,
    /// When it was seen first or accepted, milliseconds since 1970.
    pub(crate) since_millis: u64,
    /// Whether the user accepted it in place of another one.
    #[serde(default)]
    accepted: bool,
}

impl<T> Pin<T> {
    /// Returns which of two pins holds: the one that was accepted last, else the one that was seen first.
    fn stronger(self, other: Self) -> Self {
        let is_other = match (self.accepted, other.accepted) {
            (true, true) => other.since_millis > self.since_millis,
            (false, false) => other.since_millis < self.since_millis,
            (is_accepted, _) => !is_accepted,
        };
        if is_other { other } else { self }
    }
}

/// A root quorum.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct KnownQuorum {
    /// How many members must agree.
    pub(crate) threshold: u32,
    /// Members.
    pub(crate) user_ids: BTreeSet<UserId>,
}

impl KnownQuorum {
    /// Returns the quorum that the daemon states.
    pub(crate) fn stated(organization: &OrganizationDetail) -> Self {
        let quorum = &organization.head.root_quorum;
        Self { threshold: quorum.threshold, user_ids: quorum.user_ids.iter().copied().collect() }
    }

    /// `2 of 3`.
    pub(crate) fn short(&self) -> String {
        format!("{} of {}", self.threshold, self.user_ids.len())
    }
}

/// A user whose stated name is not the known one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Renamed {
    /// User.
    pub(crate) user: UserId,
    /// Known name, and since when.
    pub(crate) known: Pin<String>,
    /// Name that the daemon states.
    pub(crate) stated: String,
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
    /// Whether it was pinned at the first contact, or accepted since.
    pub(crate) is_confirmed: bool,
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
            known.keys.iter().map(move |(user, keys)| (*organization, known, *user, keys))
        });
        let keys = users.flat_map(|(organization, known, user, keys)| {
            keys.iter().map(move |(public_key, first_seen)| Seen {
                organization,
                user,
                public_key,
                since: *first_seen,
                is_confirmed: known.is_confirmed(user, public_key),
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

    /// Adds what another console of the same user saw. The earlier time of each key holds.
    pub(crate) fn merge(&mut self, other: Self) {
        for (id, theirs) in &other.organizations {
            let Some(ours) = self.organizations.get_mut(id) else { continue };
            let quorums = ours.quorum.take().into_iter().chain(theirs.quorum.clone());
            ours.quorum = quorums.reduce(Pin::stronger);
            for (user, name) in &theirs.names {
                let names = ours.names.remove(user).into_iter().chain(Some(name.clone()));
                ours.names.extend(names.reduce(Pin::stronger).map(|name| (*user, name)));
            }
        }
        self.import(other);
    }

    /// Adds what another user's console saw. The earlier time of each key holds; an own pin of a name or a quorum stays.
    /// What either side had confirmed is confirmed.
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
                let held = ours.keys.entry(user).or_default();
                for (key, seen) in keys {
                    let at = held.entry(key).or_insert(seen);
                    *at = seen.min(*at);
                }
            }
            // The earlier first contact of one side would make keys of the other's first contact late ones.
            for (user, key, at) in confirmed {
                if !ours.is_confirmed(user, &key) {
                    ours.accepted.entry(user).or_default().insert(key, at);
                }
            }
        }
    }

    /// Pins what is not known yet of an organization: keys, names and the root quorum. Returns whether anything was new.
    pub(crate) fn see(&mut self, organization: &OrganizationDetail, now: u64) -> bool {
        let mut changed = false;
        let known = self.organizations.entry(organization.head.organization_id).or_insert_with(|| {
            changed = true;
            Known { first_contact_millis: now, ..Known::default() }
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

    /// The root quorum as it is known.
    pub(crate) fn quorum(&self, organization: OrganizationId) -> Option<&Pin<KnownQuorum>> {
        self.organizations.get(&organization)?.quorum.as_ref()
    }

    /// The name of a user as it is known.
    pub(crate) fn name(&self, organization: OrganizationId, user: UserId) -> Option<&str> {
        self.organizations.get(&organization)?.names.get(&user).map(|name| name.value.as_str())
    }

    /// Returns the users whose stated names are not the known ones.
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

    /// Pins the root quorum that the daemon states in place of the known one.
    pub(crate) fn accept_quorum(&mut self, organization: &OrganizationDetail, now: u64) {
        if let Some(known) = self.organizations.get_mut(&organization.head.organization_id) {
            let value = KnownQuorum::stated(organization);
            known.quorum = Some(Pin { value, since_millis: now, accepted: true });
        }
    }

    /// Pins the names that the daemon states in place of those that differ.
    pub(crate) fn accept_names(&mut self, organization: &OrganizationDetail, now: u64) {
        let renamed = self.renamed(organization);
        if let Some(known) = self.organizations.get_mut(&organization.head.organization_id) {
            let names = renamed
                .into_iter()
                .map(|one| (one.user, Pin { value: one.stated, since_millis: now, accepted: true }));
            known.names.extend(names);
        }
    }

    /// Returns the stated keys that came after the first contact and were not accepted.
    pub(crate) fn unconfirmed(&self, organization: &OrganizationDetail) -> Vec<Seen<'_>> {
        let stated = |user: UserId| organization.users.iter().filter(move |known| known.user_id == user);
        let is_stated = |seen: &Seen<'_>| {
            stated(seen.user).any(|user| user.public_keys().any(|key| canonical(key) == seen.public_key))
        };
        let id = organization.head.organization_id;
        let late = self.seen().into_iter().filter(|seen| seen.organization == id && !seen.is_confirmed);
        late.filter(is_stated).collect()
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

    /// The organizations that are known, with their root quorums.
    pub(crate) fn quorums(&self) -> impl Iterator<Item = (OrganizationId, &Pin<KnownQuorum>)> {
        self.organizations.iter().filter_map(|(id, known)| Some((*id, known.quorum.as_ref()?)))
    }

    /// When the key was first seen for that user.
    pub(crate) fn first_seen(
        &self,
        organization: OrganizationId,
        user: UserId,
        public_key: &str,
    ) -> Option<u64> {
        self.organizations.get(&organization)?.first_seen(user, &canonical(public_key))
    }

    /// When the user accepted the key, if it came after the first contact.
    pub(crate) fn accepted_at(
        &self,
        organization: OrganizationId,
        user: UserId,
        public_key: &str,
    ) -> Option<u64> {
        self.organizations.get(&organization)?.accepted_at(user, &canonical(public_key))
    }

    /// Whether the key of that user was pinned at the first contact, or accepted since. Time alone confirms none.
    pub(crate) fn is_confirmed(&self, organization: OrganizationId, user: UserId, public_key: &str) -> bool {
        let known = self.organizations.get(&organization);
        known.is_some_and(|known| known.is_confirmed(user, &canonical(public_key)))
    }

    /// Whether the key is unconfirmed and was first seen less than a day ago.
    pub(crate) fn is_new(
        &self,
        organization: OrganizationId,
        user: UserId,
        public_key: &str,
        now: u64,
    ) -> bool {
        let Some(seen) = self.first_seen(organization, user, public_key) else { return false };
        !self.is_confirmed(organization, user, public_key) && now.saturating_sub(seen) < NEW_MILLIS
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
    fn an_older_roster_makes_no_own_key_a_new_one() {
        let (organization, user) = (Stage::new(3, 2).organization(), Stage::user(0));
        let mut before = organization.clone();
        before.users[0].api_keys.clear();
        let (mut ours, mut theirs) = (Roster::default(), Roster::default());
        theirs.see(&before, 1000);
        ours.see(&organization, 2000);
        let is_new = |roster: &Roster| roster.is_new(Stage::id(), user, Stage::stamper(0).public_key(), 3000);
        let mut merged = ours.clone();
        merged.merge(theirs.clone());
        ours.import(theirs.clone());
        assert!(!is_new(&ours) && !is_new(&merged), "it was pinned at our first contact");
        assert_eq!(Roster::parse(ours.text().as_bytes()), Some(ours));
        // A key that came later in all rosters stays new.
        theirs.see(&organization, 2500);
        let mut third = Roster::default();
        third.see(&before, 1500);
        third.import(theirs);
        assert!(is_new(&third));
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

    #[test]
    fn pins_hold_until_they_are_accepted() {
        let (before, id) = (Stage::new(3, 2).organization(), Stage::id());
        let mut after = Stage::new(3, 1).organization();
        after.users[0].user_name = "jo".to_owned();
        let mut roster = Roster::default();
        assert!(roster.see(&before, 10));
        assert!(!roster.see(&after, 20), "a stated change pins nothing");
        let known =
            |roster: &Roster| (roster.quorum(id).unwrap().value.threshold, roster.renamed(&after).len());
        assert_eq!(known(&roster), (2, 1));
        let mut accepted = roster.clone();
        accepted.accept_quorum(&after, 30);
        accepted.accept_names(&after, 30);
        assert_eq!(known(&accepted), (1, 0));
        // Another console of this user that still runs writes its older pins; the accepted ones hold.
        let (mut one, mut other) = (roster.clone(), accepted.clone());
        one.merge(accepted.clone());
        other.merge(roster.clone());
        assert_eq!((known(&one), known(&other)), ((1, 0), (1, 0)));
        // Somebody else's pins do not replace own ones.
        roster.import(accepted.clone());
        assert_eq!(known(&roster), (2, 1));
        assert_eq!(Roster::parse(accepted.text().as_bytes()).unwrap(), accepted);
        // A file of an earlier version has keys only.
        let mut old: serde_json::Value = serde_json::from_str(&roster.text()).unwrap();
        let organization = old["organizations"][id.to_string()].as_object_mut().unwrap();
        organization.remove("quorum");
        organization.remove("names");
        let mut old = Roster::parse(old.to_string().as_bytes()).unwrap();
        assert!(old.quorum(id).is_none() && old.see(&before, 40) && old.quorum(id).is_some());
    }
}
