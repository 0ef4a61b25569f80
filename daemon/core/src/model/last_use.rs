//! When the credentials of a user were last used, as it is stored: one record for each user, outside of the
//! snapshot, so that a use changes no version.

use quorate_common::ids::{ApiKeyId, AuthenticatorId, OrganizationId, ProviderId, UserId};
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
}

/// When the credentials of a user were last used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastUses {
    /// Credentials, each with the time of a use.
    pub uses: Vec<(Credential, Millis)>,
}

impl Record for LastUses {
    const NOUN: &'static str = "last uses";
}

impl LastUses {
    /// Records uses, and removes credentials that the user no longer has. Returns whether a use was recorded: it is
    /// not if the recorded time is precise enough.
    pub fn update(&mut self, user: &User, times: impl IntoIterator<Item = (Credential, Millis)>) -> bool {
        let mut is_changed = false;
        for (credential, at) in times.into_iter().filter(|(credential, _)| user.has(*credential)) {
            match self.uses.iter_mut().find(|(known, _)| *known == credential) {
                Some((_, known)) if at < known.saturating_add(LAST_USE_PRECISION_MILLIS) => {}
                Some((_, known)) => (*known, is_changed) = (at, true),
                None => {
                    self.uses.push((credential, at));
                    is_changed = true;
                }
            }
        }
        self.uses.retain(|(credential, _)| user.has(*credential));
        is_changed
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
