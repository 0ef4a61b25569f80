//! When the credentials of a user were last used, and the signature counters of passkeys, as it is stored: one record
//! for each user, outside of the snapshot, so that a use changes no version.

use quorate_common::ids::{ApiKeyId, AuthenticatorId, OrganizationId, ProviderId, UserId};
use quorate_common::wire;
use serde::{Deserialize, Serialize};

use super::record::Record;
use super::{Millis, User};

/// Precision of recorded times, in milliseconds: one hour. Further uses within it are not recorded, so a recorded
/// time can be this much older than the last use. It is never newer.
pub const LAST_USE_PRECISION_MILLIS: Millis = 60 * 60 * 1000;

/// A credential of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Credential {
    /// API key, also the key of a session.
    ApiKey(ApiKeyId),
    /// Passkey.
    Passkey(AuthenticatorId),
    /// OAuth identity.
    Identity(ProviderId),
    /// Read-only session, by [`super::user::ReadOnlySession::id`].
    ReadOnlySession(u64),
}

/// The use of a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CredentialUse {
    /// Organization of the user.
    pub organization: OrganizationId,
    /// User whose credential was used.
    pub user: UserId,
    /// Credential that was used.
    pub credential: Credential,
    /// Time of the use.
    pub at: Millis,
    /// Signature counter, if the credential is a passkey that counts.
    pub counter: Option<UsedCounter>,
}

/// The signature counter of a passkey, as the assertion of a use states it (Web Authentication §6.1.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsedCounter {
    /// Counter, not zero.
    pub value: u32,
    /// Whether the assertion was not used before. An assertion that may have been sent again shows nothing if its
    /// counter is lower.
    pub is_new: bool,
    /// Counter of the use before, if it is known and not recorded; otherwise zero.
    pub after: u32,
}

/// When the credentials of a user were last used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastUses {
    /// Credentials, each with the time of a use.
    pub uses: Vec<(Credential, Millis)>,
    /// Counters of passkeys that count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counters: Vec<PasskeyCounter>,
}

/// The signature counter of a passkey.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PasskeyCounter {
    /// Passkey.
    pub passkey: AuthenticatorId,
    /// Counter with which the next one is compared: that of the last recorded use.
    pub newest: u32,
    /// Last use whose counter was not higher than the one before.
    pub went_back: Option<WentBack>,
}

/// A use of a passkey whose counter was not higher than the one before: the passkey may have been copied, or two
/// requests overtook each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WentBack {
    /// Time of the use.
    pub at: Millis,
    /// Counter of the use.
    pub counter: u32,
    /// Counter before.
    pub after: u32,
}

/// What uses changed in a record.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Update {
    /// Whether the record must be written.
    pub is_changed: bool,
    /// Passkeys whose counters went back.
    pub went_back: Vec<(AuthenticatorId, WentBack)>,
}

/// Returns whether a counter is not higher than the one before (Web Authentication §7.2, step 22). Zero is no counter:
/// passkeys that are synced between devices always state it.
pub const fn is_back(counter: u32, before: u32) -> bool {
    counter != 0 && before != 0 && counter <= before
}

impl WentBack {
    /// Converts to the form in which the console shows it.
    pub const fn wire(self) -> wire::CounterWentBack {
        wire::CounterWentBack { at_millis: self.at, counter: self.counter, after: self.after }
    }
}

impl UsedCounter {
    /// Returns the counter with which the next one is compared. A counter that started again is flagged once.
    pub const fn newest(self, before: u32) -> u32 {
        if self.is_new || self.value > before { self.value } else { before }
    }
}

impl CredentialUse {
    /// Returns the use by the body of an activity. If the body is recorded, it is not used a second time, nor is its
    /// assertion. Otherwise the client can send both again, and the counter is ignored.
    #[must_use]
    pub fn of_activity(self, is_recorded: bool) -> Self {
        let counter = self.counter.filter(|_| is_recorded).map(|one| UsedCounter { is_new: true, ..one });
        Self { counter, ..self }
    }
}

impl Record for LastUses {
    const NOUN: &'static str = "last uses";
}

impl LastUses {
    /// Records new uses in their order, and removes credentials that the user no longer has. A use is not recorded if the
    /// recorded time is precise enough and no counter went back.
    pub fn update(&mut self, user: &User, new: &[CredentialUse]) -> Update {
        let mut changes = Update::default();
        for one in new.iter().filter(|one| user.has(one.credential)) {
            changes.is_changed |= self.update_time(one.credential, one.at);
            let (Credential::Passkey(passkey), Some(counter)) = (one.credential, one.counter) else {
                continue;
            };
            let back = self.update_counter(user, passkey, counter, one.at);
            changes.went_back.extend(back.map(|back| (passkey, back)));
        }
        changes.is_changed |= !changes.went_back.is_empty();
        self.uses.retain(|(credential, _)| user.has(*credential));
        self.counters.retain(|one| user.has(Credential::Passkey(one.passkey)));
        changes
    }

    /// Returns whether the time was not precise enough and changed.
    fn update_time(&mut self, credential: Credential, at: Millis) -> bool {
        match self.uses.iter_mut().find(|(known, _)| *known == credential) {
            Some((_, known)) if at < known.saturating_add(LAST_USE_PRECISION_MILLIS) => return false,
            Some((_, known)) => *known = at,
            None => self.uses.push((credential, at)),
        }
        true
    }

    /// Sets the counter of a passkey. Returns the use if the counter went back.
    fn update_counter(
        &mut self,
        user: &User,
        passkey: AuthenticatorId,
        counter: UsedCounter,
        at: Millis,
    ) -> Option<WentBack> {
        let known = self.counters.iter_mut().find(|one| one.passkey == passkey);
        let stored = known.as_ref().map_or_else(|| user.registered_counter(passkey), |one| one.newest);
        let after = counter.after.max(stored);
        let is_back = counter.is_new && is_back(counter.value, after);
        let went_back = is_back.then_some(WentBack { at, counter: counter.value, after });
        let newest = counter.newest(after);
        match known {
            Some(known) => (known.newest, known.went_back) = (newest, went_back.or(known.went_back)),
            None => self.counters.push(PasskeyCounter { passkey, newest, went_back }),
        }
        went_back
    }

    /// Returns the last use of a credential whose counter went back.
    pub fn went_back(&self, credential: Credential) -> Option<WentBack> {
        let is_same = |one: &&PasskeyCounter| Credential::Passkey(one.passkey) == credential;
        self.counters.iter().find(is_same)?.went_back
    }
}

impl Credential {
    /// Returns the id of the credential as text.
    pub fn id(self) -> String {
        match self {
            Self::ApiKey(id) => id.to_string(),
            Self::Passkey(id) => id.to_string(),
            Self::Identity(id) => id.to_string(),
            Self::ReadOnlySession(id) => format!("{id:016x}"),
        }
    }
}

impl User {
    /// Returns the counter with which a passkey was registered; zero if it does not count.
    fn registered_counter(&self, id: AuthenticatorId) -> u32 {
        let authenticator = self.authenticators.iter().find(|one| one.id == id);
        authenticator.and_then(|one| one.passkey.as_ref()).map_or(0, |passkey| passkey.signature_count)
    }

    /// Returns whether the user has a credential.
    fn has(&self, credential: Credential) -> bool {
        match credential {
            Credential::ApiKey(id) => self.api_keys.iter().any(|one| one.id == id),
            Credential::Passkey(id) => self.authenticators.iter().any(|one| one.id == id),
            Credential::Identity(id) => self.oauth_providers.iter().any(|one| one.id == id),
            Credential::ReadOnlySession(id) => self.read_only_sessions.iter().any(|one| one.id() == id),
        }
    }
}
